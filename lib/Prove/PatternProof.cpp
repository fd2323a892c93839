//===- PatternProof.cpp - Proofs of all schedules of a family -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Prove/PatternProof.h"

#include "IR/DataFlow.h"
#include "Simulation/Resources.h"
#include "Simulation/SharedRun.h"
#include "Waiting/WaitState.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace llvm;

namespace pipec {

std::string unprovableCosts(const Schedule &schedule, const TickCosts &costs) {
  if (needsResources(schedule, costs) || needsSharedRun(schedule, costs))
    return "its transfers or steps wait for edges, ports or streams";
  if (schedule.costs.has(FigureScope::Microbatch) ||
      schedule.costs.has(FigureScope::StageMicrobatch))
    return "the costs of its micro-batches differ";
  if (schedule.memory.has(FigureScope::Microbatch))
    return "the sizes of its micro-batches differ";
  return "";
}

//===----------------------------------------------------------------------===//
// Units
//===----------------------------------------------------------------------===//

namespace {

/// The units of some kinds of steps of a stage in one direction, from 0.
class Cover {
public:
  /// There are `size` units, which grow with x.
  explicit Cover(Affine size)
      : size(size), blocks(std::max<int64_t>(size.b, 0)) {}

  /// A step whose units are `unit`; false if they do not grow as the others.
  bool add(Affine unit, bool repeats) {
    if (!repeats) {
      if (unit.b != 0 && unit.b != size.b)
        return false;
      singles.push_back({unit.a, unit.b != 0});
      return true;
    }
    bool up = unit.c == size.b && unit.b == 0;
    bool down = unit.c == -size.b && unit.b == size.b;
    if ((!up && !down) || size.b == 0)
      return false;
    int64_t first = up ? unit.a : unit.a + size.b;
    if (first < 0 || blocks[first % size.b])
      return false;
    blocks[first % size.b] = first;
    return true;
  }

  /// True if each unit occurs exactly once for every x. In each residue class
  /// the block has x units in a row from its first one on; single steps have
  /// those before it, for which x is irrelevant, and those after it, which move
  /// with x. For x = 0 the single steps have all units.
  bool isComplete() {
    llvm::sort(singles);
    if (int64_t(singles.size()) != size.a)
      return false;
    for (auto [i, single] : enumerate(singles)) {
      auto [unit, moves] = single;
      if (unit != int64_t(i))
        return false;
      if (size.b == 0 ? moves
                      : !blocks[unit % size.b] ||
                            moves != (unit >= *blocks[unit % size.b]))
        return false;
    }
    return llvm::all_of(blocks, [&](const auto &block) {
      return block && *block <= size.a + size.b - 1;
    });
  }

private:
  Affine size;
  std::vector<std::pair<int64_t, bool>> singles;
  /// By residue of the unit, the first unit of the block.
  std::vector<std::optional<int64_t>> blocks;
};

} // namespace

std::string proveCover(const Pattern &pattern) {
  const Schedule &header = *pattern.header;
  const Placement &placement = header.placement;
  unsigned directions = placement.numDirections();
  Affine perDirection(pattern.units.a / directions,
                      pattern.units.b / directions);
  // F; B and I; B and W.
  enum { Forwards, Backwards, Weights, NumCovers };
  std::vector<std::array<Cover, NumCovers>> covers(
      header.numStages * directions,
      {Cover(perDirection), Cover(perDirection), Cover(perDirection)});
  std::map<std::tuple<unsigned, unsigned, unsigned>, Cover> moved;
  for (auto [rank, list] : enumerate(pattern.ranks))
    for (auto [repeats, begin, end] : list.parts)
      for (const PatternStep &step :
           ArrayRef(list.steps).slice(begin, end - begin)) {
        StepKind kind = step.step.kind();
        if (kind == StepKind::Update || kind == StepKind::R)
          continue;
        bool transfers = isP2P(kind) && pattern.model;
        if (!isCompute(kind) && !transfers)
          return "lists with steps that do not compute";
        unsigned stage = step.step.stage();
        unsigned direction = placement.rankOf(stage, 0) != rank;
        if (direction >= directions)
          return "steps of stages of other ranks";
        Affine unit = step.unit;
        if (direction == 1) {
          unit.a -= perDirection.a;
          unit.b -= perDirection.b;
        }
        if (transfers) {
          auto [it, isNew] =
              moved.try_emplace({unsigned(kind), stage * directions + direction,
                                 step.step.port()},
                                perDirection);
          if (!it->second.add(unit, repeats))
            return "transfers that do not advance by the same number in each "
                   "block";
          continue;
        }
        auto &own = covers[stage * directions + direction];
        bool good = true;
        if (kind == StepKind::F)
          good = own[Forwards].add(unit, repeats);
        if (kind == StepKind::B || kind == StepKind::I)
          good = own[Backwards].add(unit, repeats);
        if (kind == StepKind::B || kind == StepKind::W)
          good = good && own[Weights].add(unit, repeats);
        if (!good)
          return "micro-batches that do not advance by the same number in each "
                 "block";
      }
  for (auto &cover : covers)
    for (unsigned i = 0; i != (header.forwardOnly ? 1 : NumCovers); ++i)
      if (!cover[i].isComplete())
        return "micro-batches that are not those of consecutive blocks";
  for (auto &[key, cover] : moved)
    if (!cover.isComplete())
      return "transfers that are not those of consecutive blocks";
  return "";
}

//===----------------------------------------------------------------------===//
// Times
//===----------------------------------------------------------------------===//

namespace {

/// A group of steps that run together.
struct PatternGroup {
  size_t begin, end;
  bool repeats;
  int64_t duration;
  /// True for a transfer, which does not hold its rank.
  bool isTransfer = false;
};

class TimeProof {
public:
  TimeProof(const Pattern &pattern, std::string &why)
      : pattern(pattern), header(*pattern.header), flow(header), why(why) {}

  std::optional<ProvenTimes> run();

private:
  /// Some repetitions of a block, or a step outside: for all x and t of
  /// `where`, repetition `t`.
  struct Piece {
    Affine t;
    AffineDomain where;
  };
  /// The steps that make a kind of data of a stage.
  struct Makers {
    std::map<std::pair<int64_t, int64_t>, std::pair<size_t, size_t>> singles;
    /// Step and group.
    std::vector<std::pair<size_t, size_t>> blocks;
  };
  static void addMaker(Makers &to, Affine unit, bool repeats, size_t step,
                       size_t group) {
    if (repeats)
      to.blocks.push_back({step, group});
    else
      to.singles[{unit.a, unit.b}] = {step, group};
  }
  /// A group in a repetition.
  struct Place {
    size_t group;
    Affine t;
  };

  /// False if an overlap goes beyond its part.
  bool collect();
  /// The largest distance, in repetitions, between a step and the producer of
  /// one of its inputs.
  int64_t margin() const;
  bool prove(unsigned rank, size_t group, Piece piece);
  /// The step of `makers`, on `rank`, for `unit`.
  std::optional<Place> find(const Makers &makers, unsigned rank, Affine unit,
                            const AffineDomain &where) const;
  /// When the datum of the input `index` of a compute step of `unit` arrives.
  std::optional<Affine> arrival(unsigned rank, Step step, size_t index,
                                const DataFlow::Port &input, Affine unit,
                                const AffineDomain &where) const;
  /// When the transfer at a place is complete.
  std::optional<Affine> complete(unsigned rank, Place place,
                                 const AffineDomain &where) const;
  Affine endOf(unsigned rank, size_t group) const {
    Affine end = start(rank, group);
    end.a += groups[rank][group].duration;
    return end;
  }
  Affine start(unsigned rank, size_t group) const {
    return pattern.ranks[rank].steps[groups[rank][group].begin].start;
  }
  /// The last group before one that `matches`.
  std::optional<Place>
  before(unsigned rank, size_t group, const Piece &piece,
         function_ref<bool(const PatternGroup &)> matches) const;
  /// The step of a group, with a unit of its direction and slice.
  Step stepOf(unsigned rank, const PatternGroup &group) const {
    return lists[rank][group.begin];
  }
  const Makers *movers(StepKind kind, unsigned stage, unsigned port,
                       unsigned direction) const {
    auto it = moved.find({unsigned(kind), stage, port, direction});
    return it == moved.end() ? nullptr : &it->second;
  }
  std::optional<ProvenTimes> makespan(AffineDomain where) const;

  const Pattern &pattern;
  const Schedule &header;
  DataFlow flow;
  std::string &why;
  std::vector<std::vector<PatternGroup>> groups;
  /// By kind of data, stage and direction.
  std::vector<Makers> makers;
  /// The transfers, by kind, stage, port and direction.
  std::map<std::tuple<unsigned, unsigned, unsigned, unsigned>, Makers> moved;
  std::vector<StepList> lists;
  bool allTakeTime = true;

  size_t makerIndex(StepKind kind, unsigned stage, unsigned direction) const {
    return (2 * stage + direction) * 2 + unsigned(dataKind(kind));
  }
  unsigned directionOf(unsigned rank, unsigned stage) const {
    return header.placement.rankOf(stage, 0) != rank;
  }
};

} // namespace

bool TimeProof::collect() {
  makers.resize(header.numStages * 4);
  for (auto [rank, list] : enumerate(pattern.ranks)) {
    std::vector<PatternGroup> &own = groups.emplace_back();
    StepList steps;
    int64_t slices = header.numSlices;
    for (const PatternStep &step : list.steps) {
      // Of the units of a step, only the direction and the slice matter.
      unsigned stage = step.step.stage();
      unsigned first = directionOf(rank, stage) ? header.directionSplit() : 0;
      steps.push_back(
          Step(step.step.kind(), stage,
               first + unsigned((step.unit.a % slices + slices) % slices), 0,
               {}, step.step.joined()));
      steps.back().setPort(step.step.port());
    }
    for (auto [repeats, first, last] : list.parts)
      for (size_t begin = first; begin != last;) {
        size_t end = Schedule::groupEnd(steps, begin);
        if (end > last)
          return false;
        int64_t duration = pattern.costs->duration(steps, begin, end);
        bool isTransfer = isP2P(steps[begin].kind());
        if (isTransfer && end - begin != 1)
          return false;
        for (size_t i = begin; i != end; ++i) {
          if (isTransfer) {
            unsigned stage = steps[i].stage();
            Makers &to =
                moved[{unsigned(steps[i].kind()), stage,
                       list.steps[i].step.port(), directionOf(rank, stage)}];
            addMaker(to, list.steps[i].unit, repeats, i, own.size());
            if (const DataFlow::Port *port = flow.transfer(steps[i]))
              allTakeTime = allTakeTime &&
                            pattern.costs->hop(port->rank, rank) > 0 &&
                            pattern.costs->hop(rank, port->rank) > 0;
          }
          if (!makesData(steps[i].kind()))
            continue;
          // A cycle of steps that wait for each other contains a result, or a
          // transfer.
          allTakeTime = allTakeTime && duration > 0;
          unsigned stage = steps[i].stage();
          Makers &to = makers[makerIndex(steps[i].kind(), stage,
                                         directionOf(rank, stage))];
          addMaker(to, list.steps[i].unit, repeats, i, own.size());
        }
        own.push_back({begin, end, repeats, duration, isTransfer});
        begin = end;
      }
    lists.push_back(std::move(steps));
  }
  return true;
}

int64_t TimeProof::margin() const {
  int64_t most = 1;
  auto note = [&](const Makers *from, unsigned rank, Affine unit) {
    if (!from)
      return;
    for (auto [maker, group] : from->blocks) {
      Affine made = pattern.ranks[rank].steps[maker].unit;
      if (made.c == unit.c && made.c != 0 && (unit.a - made.a) % made.c == 0)
        most = std::max(most, std::abs((unit.a - made.a) / made.c));
    }
  };
  for (auto [rank, list] : enumerate(pattern.ranks))
    for (const PatternGroup &group : groups[rank]) {
      if (!group.repeats)
        continue;
      for (size_t i = group.begin; i != group.end; ++i) {
        Step step = lists[rank][i];
        Affine unit = list.steps[i].unit;
        unsigned direction = directionOf(rank, step.stage());
        if (group.isTransfer) {
          if (const DataFlow::Port *port = flow.transfer(step))
            note(movers(port->kind, port->stage, port->port, direction),
                 port->rank, unit);
          continue;
        }
        if (!makesData(step.kind()))
          continue;
        for (auto [index, input] : enumerate(flow.inputs(
                 flow.row(dataKind(step.kind()), step.stage(), direction))))
          if (pattern.model)
            note(movers(recvKind(dataKind(step.kind())), step.stage(), index,
                        direction),
                 rank, unit);
          else
            note(&makers[makerIndex(input.kind, input.stage, direction)],
                 input.rank, unit);
      }
    }
  return most;
}

std::optional<TimeProof::Place>
TimeProof::before(unsigned rank, size_t group, const Piece &piece,
                  function_ref<bool(const PatternGroup &)> matches) const {
  const RankPattern &list = pattern.ranks[rank];
  const std::vector<PatternGroup> &all = groups[rank];
  auto part = llvm::find_if(list.parts, [&](const auto &part) {
    return all[group].begin >= part.begin && all[group].begin < part.end;
  });
  size_t at = group;
  for (; at != 0 && all[at - 1].begin >= part->begin; --at)
    if (matches(all[at - 1]))
      return Place{at - 1, piece.t};
  if (part->repeats && !(piece.t == Affine(0))) {
    // In the repetition before this one.
    size_t last = group;
    while (last + 1 != all.size() && all[last + 1].begin < part->end)
      ++last;
    for (size_t other = last + 1; other != group; --other)
      if (matches(all[other - 1]))
        return Place{other - 1, Affine(piece.t.a - 1, piece.t.b, piece.t.c)};
  }
  // In the last repetition of an earlier part.
  for (; at != 0; --at)
    if (matches(all[at - 1]))
      return Place{at - 1, all[at - 1].repeats ? Affine(-1, 1) : Affine(0)};
  return std::nullopt;
}

std::optional<TimeProof::Place>
TimeProof::find(const Makers &from, unsigned rank, Affine unit,
                const AffineDomain &where) const {
  if (unit.c == 0)
    if (auto it = from.singles.find({unit.a, unit.b}); it != from.singles.end())
      return Place{it->second.second, 0};
  for (auto [step, group] : from.blocks) {
    Affine made = pattern.ranks[rank].steps[step].unit;
    if (made.c == 0 || (unit.a - made.a) % made.c != 0 ||
        (unit.b - made.b) % made.c != 0 || unit.c % made.c != 0)
      continue;
    Affine t((unit.a - made.a) / made.c, (unit.b - made.b) / made.c,
             unit.c / made.c);
    Affine left(-1 - t.a, 1 - t.b, -t.c);
    if (where.isNonNegative(t) && where.isNonNegative(left))
      return Place{group, t};
  }
  return std::nullopt;
}

std::optional<Affine> TimeProof::complete(unsigned rank, Place place,
                                          const AffineDomain &where) const {
  const PatternGroup &group = groups[rank][place.group];
  Step step = stepOf(rank, group);
  const DataFlow::Port *port = flow.transfer(step);
  const Makers *others = port ? movers(port->kind, port->stage, port->port,
                                       directionOf(rank, step.stage()))
                              : nullptr;
  if (!others)
    return std::nullopt;
  Affine unit = pattern.ranks[rank].steps[group.begin].unit.at(place.t);
  std::optional<Place> other = find(*others, port->rank, unit, where);
  if (!other)
    return std::nullopt;
  Affine own = start(rank, place.group).at(place.t);
  Affine end = start(port->rank, other->group).at(other->t);
  std::optional<bool> later = where.less(end, own);
  if (!later && where.less(own, end) != false)
    return std::nullopt;
  if (!later || *later)
    end = own;
  end.a += isSend(step.kind()) ? pattern.costs->hop(rank, port->rank)
                               : pattern.costs->hop(port->rank, rank);
  return end;
}

std::optional<Affine> TimeProof::arrival(unsigned rank, Step step, size_t index,
                                         const DataFlow::Port &input,
                                         Affine unit,
                                         const AffineDomain &where) const {
  unsigned direction = directionOf(rank, step.stage());
  if (pattern.model) {
    const Makers *receives =
        movers(recvKind(dataKind(step.kind())), step.stage(), index, direction);
    std::optional<Place> place =
        receives ? find(*receives, rank, unit, where) : std::nullopt;
    return place ? complete(rank, *place, where) : std::nullopt;
  }
  std::optional<Place> place =
      find(makers[makerIndex(input.kind, input.stage, direction)], input.rank,
           unit, where);
  if (!place)
    return std::nullopt;
  Affine time = endOf(input.rank, place->group).at(place->t);
  time.a += pattern.costs->hop(input.rank, rank);
  return time;
}

bool TimeProof::prove(unsigned rank, size_t group, Piece piece) {
  const PatternGroup &self = groups[rank][group];
  Affine claimed = start(rank, group).at(piece.t);
  bool tight = false;
  auto isAtMost = [&](std::optional<Affine> time) {
    if (!time) {
      why = "data that come from another number of blocks before for each "
            "number of micro-batches";
      return false;
    }
    Affine slack(claimed.a - time->a, claimed.b - time->b, claimed.c - time->c);
    tight = tight || slack == Affine();
    if (!piece.where.isNonNegative(slack))
      why = "steps whose times are not linear in the number of micro-batches";
    return piece.where.isNonNegative(slack);
  };
  // The rank, which does not wait for transfers.
  std::optional<Place> place =
      before(rank, group, piece,
             [](const PatternGroup &other) { return !other.isTransfer; });
  if (!isAtMost(place ? endOf(rank, place->group).at(place->t) : Affine(0)))
    return false;
  if (self.isTransfer) {
    auto queue = [&](const PatternGroup &other) {
      Step step = stepOf(rank, other);
      const DataFlow::Port *port = flow.transfer(step);
      return port ? queueOf(*pattern.model, rank, step, *port) : ~0u;
    };
    unsigned own = queue(self);
    place = before(rank, group, piece, [&](const PatternGroup &other) {
      return other.isTransfer && queue(other) == own;
    });
    if (place && !isAtMost(complete(rank, *place, piece.where)))
      return false;
  } else {
    for (size_t i = self.begin; i != self.end; ++i) {
      Step step = lists[rank][i];
      if (!makesData(step.kind()))
        continue;
      Affine unit = pattern.ranks[rank].steps[i].unit.at(piece.t);
      const DataFlow::Row &row = flow.row(dataKind(step.kind()), step.stage(),
                                          directionOf(rank, step.stage()));
      for (auto [index, input] : enumerate(flow.inputs(row))) {
        // Under a model, the order of the list is enough for data of the rank.
        if (pattern.model && !input.transfers)
          continue;
        if (!isAtMost(arrival(rank, step, index, input, unit, piece.where)))
          return false;
      }
    }
  }
  if (!tight)
    why = "steps that wait for one thing at some sizes and for another at "
          "others";
  return tight;
}

std::optional<ProvenTimes> TimeProof::makespan(AffineDomain where) const {
  std::vector<Affine> firsts, lasts;
  for (unsigned rank = 0; rank != groups.size(); ++rank) {
    const auto &own = groups[rank];
    auto computes = [](const PatternGroup &group) { return !group.isTransfer; };
    auto first = llvm::find_if(own, computes);
    if (first == own.end())
      continue;
    size_t last = own.size() - 1;
    while (!computes(own[last]))
      --last;
    firsts.push_back(start(rank, first - own.begin()).at(Affine(0)));
    lasts.push_back(
        endOf(rank, last).at(own[last].repeats ? Affine(-1, 1) : Affine(0)));
  }
  auto extreme = [&](ArrayRef<Affine> times, bool latest) {
    const Affine *best = llvm::find_if(times, [&](Affine one) {
      return llvm::all_of(times, [&](Affine other) {
        return where.isNonNegative(
            latest ? Affine(one.a - other.a, one.b - other.b)
                   : Affine(other.a - one.a, other.b - one.b));
      });
    });
    return best == times.end() ? std::nullopt : std::optional(*best);
  };
  std::optional<Affine> first = extreme(firsts, false);
  std::optional<Affine> last = extreme(lasts, true);
  if (!first || !last)
    return std::nullopt;
  return ProvenTimes{
      where.least, {last->a - first->a, last->b - first->b}, allTakeTime};
}

std::optional<ProvenTimes> TimeProof::run() {
  if (!collect()) {
    why = "an overlap of steps of different blocks";
    return std::nullopt;
  }
  int64_t lag = margin();
  if (lag > 64) {
    why = "data that are used more than 64 blocks later";
    return std::nullopt;
  }
  AffineDomain where{2 * lag + 1, false, 0};
  for (unsigned rank = 0; rank != groups.size(); ++rank)
    for (size_t group = 0; group != groups[rank].size(); ++group) {
      if (!groups[rank][group].repeats) {
        if (!prove(rank, group, {0, where}))
          return std::nullopt;
        continue;
      }
      // The first and the last repetitions, and all between them.
      for (int64_t t = 0; t != lag; ++t)
        if (!prove(rank, group, {t, where}) ||
            !prove(rank, group, {Affine(-1 - t, 1), where}))
          return std::nullopt;
      if (!prove(rank, group,
                 {Affine(0, 0, 1), {where.least, /*inBlock=*/true, lag}}))
        return std::nullopt;
    }
  for (; where.least <= 1024; where.least *= 2)
    if (auto proven = makespan(where))
      return proven;
  why = "ranks of which another one is the last at each size";
  return std::nullopt;
}

std::optional<ProvenTimes> proveTimes(const Pattern &pattern,
                                      std::string &why) {
  return TimeProof(pattern, why).run();
}

} // namespace pipec
