//===- Charges.cpp - The rate of a run under its memory -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Search/Charges.h"

#include "Search/ColumnProgram.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <memory>
#include <ranges>
#include <utility>

namespace pipec::search {

namespace {

using Charge = Charges::Charge;

/// The charges of one rank in a run of `microbatches`, which may be fewer than
/// those of the problem.
class RankCharges {
public:
  /// `windows` are those of `makespan`.
  RankCharges(const Problem &problem, const StepWindows &windows,
              Ticks makespan, unsigned rank, const StateSpace &space);

  /// With the last charge for W, if it is not in the states.
  unsigned numCharges() const { return charges.size() + weighsW; }
  /// Finds good weights, in parts of 1.
  std::vector<double> findWeights(uint32_t microbatches, Budget &budget);
  /// The proven bound, and the charges with these weights.
  ChargeBound bound(const std::vector<double> &weights, uint32_t microbatches,
                    Budget &budget);
  /// The work of one visit of all states.
  uint64_t workFor(uint32_t microbatches) const {
    return uint64_t(space.numTuples()) * microbatches * 8;
  }

private:
  /// What integer weights make of a run.
  struct Value {
    /// The least time of the steps that no charge covers, in parts of a unit.
    Ticks open = 0;
    /// The largest sum of the weights of open times, and a state with it.
    Ticks most = 0;
    uint32_t base = 0, tuple = 0;
  };

  void addCharges(const StepWindows &windows, Ticks makespan);
  Ticks gain(unsigned charge, uint32_t microbatches) const;
  /// How often the time of a charge is open in a state.
  Ticks openTimes(const Charge &charge, uint32_t base, uint32_t tuple,
                  uint32_t microbatches) const;
  std::vector<Ticks> rounded(const std::vector<double> &weights) const;
  Value evaluate(const std::vector<Ticks> &weights, uint32_t microbatches,
                 bool trace);
  Ticks weightOf(const std::vector<Ticks> &weights, uint32_t base,
                 uint32_t tuple, uint32_t microbatches) const;
  ColumnProgram::Column pathColumn(uint32_t microbatches) const;
  ColumnProgram::Column stateColumn(const Value &value,
                                    uint32_t microbatches) const;

  const Problem &problem;
  unsigned rank;
  const StateSpace &space;
  bool weighsW;
  std::vector<Charge> charges;
  /// The least count of each charge: per micro-batch, or once.
  std::vector<Ticks> gains;
  /// Per micro-batch: the time of the letters of the states, and of W.
  Ticks time = 0, timeOfW = 0;
  /// The least and the largest offset of a letter.
  int lowest = 0, highest = 0;
  /// By transition: its letter.
  std::vector<uint8_t> letters;
  /// By tuple: the weights of the charges between steps.
  std::vector<Ticks> weightOfTuple;
  std::vector<Ticks> costs, nextCosts;
  /// By state: the tuple of the state before it on a best path, and the letter.
  std::vector<uint32_t> lastTuples;
  std::vector<uint8_t> lastLetters;
};

} // namespace

static constexpr Ticks unreached = std::numeric_limits<Ticks>::max();

/// By kind and stage: the longest path of one micro-batch from the start of a
/// letter to this start; negative without any.
static std::vector<Ticks> startsAfter(const Problem &problem, unsigned rank,
                                      unsigned from) {
  unsigned stages = problem.numStages();
  std::vector<Ticks> starts(3 * stages, -1);
  auto number = [&](LetterKind kind, unsigned stage) {
    return kind * stages + stage;
  };
  auto pass = [&](LetterKind kind, unsigned stage, LetterKind toKind,
                  unsigned to, Ticks hop) {
    Ticks start = starts[number(kind, stage)];
    if (start < 0)
      return;
    Ticks &next = starts[number(toKind, to)];
    next = std::max(next, start + problem.stages[stage].time[kind] + hop);
  };
  const Letter &letter = problem.info(rank, from);
  starts[number(letter.kind, letter.stage)] = 0;
  for (const Edge &edge : problem.edges)
    pass(LetterF, edge.from, LetterF, edge.to, edge.hopF);
  for (unsigned stage = 0; stage != stages; ++stage)
    pass(LetterF, stage, LetterI, stage, 0);
  for (const Edge &edge : std::views::reverse(problem.edges))
    pass(LetterI, edge.to, LetterI, edge.from, edge.hopI);
  for (unsigned stage = 0; problem.split && stage != stages; ++stage)
    pass(LetterI, stage, LetterW, stage, 0);
  return starts;
}

RankCharges::RankCharges(const Problem &problem, const StepWindows &windows,
                         Ticks makespan, unsigned rank, const StateSpace &space)
    : problem(problem), rank(rank), space(space),
      weighsW(problem.split && !space.hasW()) {
  unsigned numLetters =
      space.hasW() ? problem.numLetters() : 2 * problem.chunks;
  for (unsigned letter = 0; letter != problem.numLetters(); ++letter)
    (letter < numLetters ? time : timeOfW) += problem.info(rank, letter).time;
  for (uint32_t tuple = 0; tuple != space.numTuples(); ++tuple) {
    for (int offset : space.offsets(tuple)) {
      lowest = std::min(lowest, offset);
      highest = std::max(highest, offset);
    }
    for (StateSpace::Transition to : space.transitions(tuple))
      letters.push_back(uint32_t(to.place + int32_t(problem.microbatches)) /
                        space.stride());
  }
  addCharges(windows, makespan);
}

/// Charges that may be worth something.
void RankCharges::addCharges(const StepWindows &windows, Ticks makespan) {
  unsigned numLetters =
      space.hasW() ? problem.numLetters() : 2 * problem.chunks;
  for (unsigned from = 0; from != numLetters; ++from) {
    std::vector<Ticks> starts = startsAfter(problem, rank, from);
    for (unsigned to = 0; to != numLetters; ++to) {
      const Letter &letter = problem.info(rank, to);
      Ticks start = starts[letter.kind * problem.numStages() + letter.stage];
      if (start < 0 || from == to)
        continue;
      // In a chain, the times between other letters are sums of these.
      bool next = false;
      for (uint8_t before : problem.before(problem.info(rank, to)))
        next |= before == from;
      if (!next && problem.isChain())
        continue;
      charges.push_back({Charge::Between, uint8_t(from), uint8_t(to), 0});
      gains.push_back(start);
    }
  }
  for (unsigned letter = 0; letter != numLetters; ++letter) {
    uint32_t first = problem.base(rank, letter);
    uint32_t last = first + problem.microbatches - 1;
    charges.push_back({Charge::Before, uint8_t(letter), 0, 0});
    gains.push_back(windows.starts[first]);
    charges.push_back(
        {Charge::After, uint8_t(letter), 0, problem.microbatches - 1});
    gains.push_back(makespan - windows.ends[last] +
                    problem.info(rank, letter).time);
  }
}

Ticks RankCharges::gain(unsigned charge, uint32_t microbatches) const {
  if (charge == charges.size())
    return timeOfW * microbatches;
  return charges[charge].kind == Charge::Between ? gains[charge] * microbatches
                                                 : gains[charge];
}

Ticks RankCharges::openTimes(const Charge &charge, uint32_t base,
                             uint32_t tuple, uint32_t microbatches) const {
  auto offsets = space.offsets(tuple);
  if (charge.kind == Charge::Between)
    return offsets[charge.letter] - offsets[charge.to];
  int64_t count = int64_t(base) + offsets[charge.letter];
  if (charge.kind == Charge::Before)
    return count <= int64_t(charge.microbatch);
  // The place from the end is the same in a shorter run.
  return count + problem.microbatches >
         int64_t(charge.microbatch) + microbatches;
}

Ticks RankCharges::weightOf(const std::vector<Ticks> &weights, uint32_t base,
                            uint32_t tuple, uint32_t microbatches) const {
  Ticks weight = weightOfTuple[tuple];
  // Charges of single steps are at the ends of a run.
  if (int64_t(base) + lowest > 0 && base + highest < microbatches)
    return weight;
  for (unsigned i = 0; i != charges.size(); ++i)
    if (weights[i] && charges[i].kind != Charge::Between)
      weight += weights[i] * openTimes(charges[i], base, tuple, microbatches);
  return weight;
}

/// The shortest path through the states, where the time of a step costs what
/// the weights leave of it.
RankCharges::Value RankCharges::evaluate(const std::vector<Ticks> &weights,
                                         uint32_t microbatches, bool trace) {
  uint32_t tuples = space.numTuples(), m = microbatches;
  weightOfTuple.assign(tuples, 0);
  for (unsigned i = 0; i != charges.size(); ++i)
    if (weights[i] && charges[i].kind == Charge::Between)
      for (uint32_t tuple = 0; tuple != tuples; ++tuple)
        weightOfTuple[tuple] += weights[i] * openTimes(charges[i], 0, tuple, m);
  costs.assign(tuples, unreached);
  if (trace) {
    lastTuples.assign(size_t(m + 1) * tuples, 0);
    lastLetters.assign(size_t(m + 1) * tuples, 0);
  }
  Value value;
  auto reach = [&](uint32_t base, uint32_t tuple) {
    Ticks weight = weightOf(weights, base, tuple, m);
    if (weight > value.most || (base == 0 && tuple == space.start())) {
      value.most = weight;
      value.base = base;
      value.tuple = tuple;
    }
    return weight;
  };
  reach(0, space.start());
  costs[space.start()] = 0;
  for (uint32_t base = 0;; ++base) {
    nextCosts.assign(tuples, unreached);
    size_t transition = 0;
    for (uint32_t tuple = 0; tuple != tuples; ++tuple) {
      auto transitions = space.transitions(tuple);
      if (costs[tuple] == unreached) {
        transition += transitions.size();
        continue;
      }
      auto offsets = space.offsets(tuple);
      for (StateSpace::Transition to : transitions) {
        unsigned letter = letters[transition++];
        if (int64_t(base) + offsets[letter] >= int64_t(m))
          continue;
        bool isNext = to.next >= tuples;
        uint32_t next = isNext ? to.next - tuples : to.next;
        Ticks &cost = (isNext ? nextCosts : costs)[next];
        Ticks weight = cost == unreached
                           ? reach(base + isNext, next)
                           : weightOf(weights, base + isNext, next, m);
        Ticks own = costs[tuple] +
                    problem.info(rank, letter).time * (Charges::unit - weight);
        if (own >= cost)
          continue;
        cost = own;
        if (trace) {
          size_t state = size_t(base + isNext) * tuples + next;
          lastTuples[state] = tuple;
          lastLetters[state] = letter;
        }
      }
    }
    if (base == m)
      break;
    std::swap(costs, nextCosts);
  }
  value.open = costs[space.start()];
  return value;
}

/// The times of the last path that was traced, by weight.
ColumnProgram::Column RankCharges::pathColumn(uint32_t m) const {
  std::vector<Ticks> covered(numCharges());
  uint32_t base = m, tuple = space.start();
  unsigned baseLetter = problem.letter(LetterI, problem.chunks - 1);
  while (base != 0 || tuple != space.start()) {
    size_t state = size_t(base) * space.numTuples() + tuple;
    unsigned letter = lastLetters[state];
    for (unsigned i = 0; i != charges.size(); ++i)
      covered[i] += problem.info(rank, letter).time *
                    openTimes(charges[i], base, tuple, m);
    tuple = lastTuples[state];
    base -= letter == baseLetter;
  }
  ColumnProgram::Column column = {1, {1}};
  double all = double(std::max<Ticks>(time * m, 1));
  for (unsigned i = 0; i != numCharges(); ++i)
    column.entries.push_back(double(covered[i] - gain(i, m)) / all);
  return column;
}

ColumnProgram::Column RankCharges::stateColumn(const Value &value,
                                               uint32_t m) const {
  ColumnProgram::Column column = {1, {0}};
  for (const Charge &charge : charges)
    column.entries.push_back(
        double(openTimes(charge, value.base, value.tuple, m)));
  if (weighsW)
    column.entries.push_back(1);
  return column;
}

std::vector<Ticks>
RankCharges::rounded(const std::vector<double> &weights) const {
  std::vector<Ticks> all;
  for (double weight : weights)
    all.push_back(Ticks(std::clamp(weight, 0.0, 1.0) * double(Charges::unit)));
  return all;
}

std::vector<double> RankCharges::findWeights(uint32_t m, Budget &budget) {
  unsigned count = numCharges();
  std::vector<double> best(count), point(count);
  double all = double(std::max<Ticks>(time * m, 1));
  // The first path is any path.
  evaluate(rounded(point), m, /*trace=*/true);
  std::vector<ColumnProgram::Column> basis = {pathColumn(m)}, others;
  std::vector<double> sums = {1};
  for (unsigned i = 0; i != count; ++i) {
    // Small sums of rows keep steps of the program from being in vain.
    sums.push_back(1e-6 * (1 + double(i) / count));
    ColumnProgram::Column above = {1, std::vector<double>(count + 1)};
    ColumnProgram::Column below = {0, std::vector<double>(count + 1)};
    above.entries[i + 1] = 1;
    below.entries[i + 1] = -1;
    bool isPositive = sums.back() - basis[0].entries[i + 1] >= 0;
    basis.push_back(isPositive ? above : below);
    others.push_back(isPositive ? std::move(below) : std::move(above));
  }
  ColumnProgram program(std::move(sums), std::move(basis));
  for (ColumnProgram::Column &column : others)
    program.add(std::move(column));
  double bestValue = 1;
  bool isMixed = true;
  for (unsigned n = 0; n != 400 && !budget.done(); ++n) {
    program.solve(2000);
    std::vector<double> prices(program.prices().begin() + 1,
                               program.prices().end());
    if (program.cost() < bestValue * (1 + 2e-5))
      break;
    // Half-way to the best weights so far the paths are more typical.
    for (unsigned i = 0; i != count; ++i)
      point[i] = isMixed ? (prices[i] + best[i]) / 2 : prices[i];
    std::vector<Ticks> weights = rounded(point);
    Value value = evaluate(weights, m, /*trace=*/true);
    budget.spend(workFor(m));
    Ticks most = value.most + (weighsW ? weights[count - 1] : 0);
    __int128 total = value.open;
    for (unsigned i = 0; i != count; ++i)
      total += __int128(weights[i]) * gain(i, m);
    // The weights times a factor that makes them fit.
    double factor =
        most > Charges::unit ? double(Charges::unit) / double(most) : 1;
    double own = 1 + factor * (double(total) / double(Charges::unit) / all - 1);
    if (own > bestValue) {
      bestValue = own;
      for (unsigned i = 0; i != count; ++i)
        best[i] = point[i] * factor;
    }
    ColumnProgram::Column path = pathColumn(m);
    ColumnProgram::Column state = stateColumn(value, m);
    bool helps = program.priceOf(path) > path.cost + 1e-7 ||
                 program.priceOf(state) > state.cost + 1e-7;
    if (!helps && !isMixed)
      break;
    isMixed = helps;
    program.add(std::move(path));
    program.add(std::move(state));
  }
  return best;
}

ChargeBound RankCharges::bound(const std::vector<double> &found, uint32_t m,
                               Budget &budget) {
  std::vector<Ticks> weights = rounded(found);
  Value value = evaluate(weights, m, /*trace=*/false);
  budget.spend(workFor(m));
  // Rounding down leaves room, except where it was too little.
  Ticks most = value.most + (weighsW ? weights.back() : 0);
  if (most > Charges::unit) {
    for (Ticks &weight : weights)
      weight = Ticks(__int128(weight) * Charges::unit / most);
    value = evaluate(weights, m, /*trace=*/false);
    budget.spend(workFor(m));
  }
  __int128 total = value.open;
  for (unsigned i = 0; i != numCharges(); ++i)
    total += __int128(weights[i]) * gain(i, m);
  ChargeBound made;
  made.bound = Ticks((total + Charges::unit - 1) / Charges::unit);
  made.charges.rank = rank;
  made.charges.withW = space.hasW();
  for (unsigned i = 0; i != charges.size(); ++i)
    if (weights[i]) {
      made.charges.charges.push_back(charges[i]);
      made.charges.charges.back().weight = weights[i];
    }
  made.charges.weightOfW = weighsW ? weights.back() : 0;
  return made;
}

//===----------------------------------------------------------------------===//
// The best rank
//===----------------------------------------------------------------------===//

/// The numbers below `count`, those far from each other first.
static std::vector<unsigned> spreadOut(unsigned count) {
  std::vector<unsigned> order;
  std::vector<char> seen(count);
  for (unsigned step = std::bit_ceil(count); step != 0; step /= 2)
    for (unsigned i = step / 2; i < count; i += step)
      if (!std::exchange(seen[i], true))
        order.push_back(i);
  for (unsigned i = 0; i != count; ++i)
    if (!seen[i])
      order.push_back(i);
  return order;
}

std::optional<ChargeBound> boundByCharges(const Problem &problem, Ticks bound,
                                          Ticks best, Budget &budget) {
  constexpr Ticks far = Problem::maxTicks * 1024;
  // Of the first weights of each rank, and of the last ones of the best.
  constexpr uint64_t manyTuples = 30'000, fewStates = 60'000,
                     manyStates = 600'000;
  Paths paths(problem, /*memory=*/false);
  StepWindows windows = paths.open(far);
  paths.narrow(windows);
  std::map<std::vector<Ticks>, std::shared_ptr<const StateSpace>> spaces;
  auto listed = [&](unsigned rank, bool withW) {
    auto &space = spaces[StateSpace::key(problem, rank, withW)];
    if (!space) {
      space = std::make_shared<StateSpace>(problem, rank, withW, manyTuples);
      budget.spend(uint64_t(space->numTuples()) * 64 + 100'000);
    }
    return space->isListed() ? space : nullptr;
  };
  std::optional<ChargeBound> found;
  std::shared_ptr<const StateSpace> bestSpace;
  auto batchesFor = [&](const StateSpace &space, uint64_t states) {
    uint64_t batches = states / std::max(1u, space.numTuples());
    return uint32_t(std::clamp<uint64_t>(batches, 4, problem.microbatches));
  };
  auto look = [&](unsigned rank, const std::shared_ptr<const StateSpace> &space,
                  uint64_t states, uint64_t work) {
    RankCharges charges(problem, windows, far, rank, *space);
    Budget share = budget.part(work);
    uint32_t batches =
        std::min(batchesFor(*space, states), problem.microbatches);
    std::vector<double> weights = charges.findWeights(batches, share);
    budget.spend(share.spent());
    ChargeBound own = charges.bound(weights, problem.microbatches, budget);
    own.bound = std::min(own.bound, best);
    if (found && own.bound <= found->bound)
      return;
    found = std::move(own);
    bestSpace = space;
  };
  for (unsigned rank : spreadOut(problem.ranks)) {
    if (budget.done())
      break;
    bool frees = false;
    for (unsigned chunk = 0; chunk != problem.chunks; ++chunk)
      frees |= problem.stages[problem.stageOf(rank, chunk)].givenByW != 0;
    auto space = problem.split && frees ? listed(rank, true) : nullptr;
    if (!space)
      space = listed(rank, false);
    if (space)
      look(rank, space, fewStates, budget.left() / 6);
  }
  if (found && !budget.done() && found->bound < best &&
      batchesFor(*bestSpace, fewStates) < problem.microbatches)
    look(found->charges.rank, bestSpace, manyStates, budget.left());
  if (!found || found->bound <= bound)
    return std::nullopt;
  return found;
}

} // namespace pipec::search
