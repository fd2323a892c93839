//===- Model.cpp - Schedules and costs as a problem -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Search/Model.h"

#include "Simulation/Memory.h"
#include "Simulation/TickCosts.h"
#include "Support/Decimal.h"
#include "Support/Diagnostics/SearchDiags.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>

using namespace llvm;

namespace pipec::search {

Rational Model::time(Ticks ticks) const {
  return *Rational::make(ticks * tickFactor, ticksPerUnit);
}

Rational Model::size(Ticks units) const {
  return *Rational::make(units * sizeFactor, sizesPerUnit);
}

Ticks Model::ticksNotAbove(Rational time) const {
  Ticks ticks = ticksNotBelow(time);
  return this->time(ticks) > time ? ticks - 1 : ticks;
}

Ticks Model::ticksNotBelow(Rational time) const {
  __int128 units = __int128(time.numerator()) * ticksPerUnit;
  __int128 tick = __int128(time.denominator()) * tickFactor;
  __int128 ticks = units / tick + (units % tick > 0);
  return Ticks(std::min<__int128>(ticks, Problem::maxTicks));
}

//===----------------------------------------------------------------------===//
// The problem
//===----------------------------------------------------------------------===//

/// The kind of step of a letter.
static StepKind stepKindOf(unsigned letter, bool split) {
  if (letter == LetterF)
    return StepKind::F;
  if (letter == LetterW)
    return StepKind::W;
  return split ? StepKind::I : StepKind::B;
}

/// The recomputation for a step.
static Step againOf(Step step) {
  return Step(StepKind::R, step.stage(), step.unit(), step.phase(),
              step.source());
}

namespace {

/// Fills a model from its header.
class Maker {
public:
  Maker(Model &model, DiagEngine &diags)
      : model(model), problem(model.problem), header(model.header),
        diags(diags) {}

  LogicalResult run() {
    if (failed(readSizes()) || failed(readTimes()) || failed(readMemory()))
      return failure();
    problem.finish();
    unsigned rank = problem.firstWithoutRoom();
    if (rank == problem.ranks)
      return success();
    auto room =
        Rational::sub(*header.memory.limit(rank), model.residents[rank]);
    // The parameters alone may exceed the limit.
    return diags.report(header.source, diag::SearchNoRoom, rank,
                        room && !room->isNegative() ? decimalText(*room)
                                                    : "nothing",
                        decimalText(model.size(problem.roomForOne(rank))));
  }

private:
  LogicalResult readSizes();
  LogicalResult readTimes();
  LogicalResult readEdges(const TickCosts &costs);
  LogicalResult readMemory();
  StepKind kindOf(unsigned letter) const {
    return stepKindOf(letter, problem.split);
  }
  Step stepOf(unsigned letter, unsigned stage, unsigned microbatch) const {
    return Step(kindOf(letter), model.stageOf(stage),
                model.unitOf(stage, microbatch));
  }
  bool recomputesBefore(unsigned letter, unsigned stage) const {
    return letter == LetterI && model.recomputes(model.stageOf(stage));
  }
  void recompute(const MemoryModel &memory, unsigned place);

  Model &model;
  Problem &problem;
  const ScheduleHeader &header;
  DiagEngine &diags;
};

} // namespace

LogicalResult Maker::readSizes() {
  problem.ranks = header.numRanks;
  problem.microbatches =
      header.numMicrobatches() / header.placement.numDirections();
  auto check = [&](uint64_t number, uint64_t most,
                   StringRef what) -> LogicalResult {
    if (number <= most)
      return success();
    return diags.report(header.source, diag::SearchTooLarge, most, what,
                        number);
  };
  std::vector<uint32_t> map;
  for (unsigned d = 0; d != header.placement.numDirections(); ++d)
    llvm::append_range(map, header.placement.map(d));
  std::vector<unsigned> stages(header.numRanks);
  for (uint32_t rank : map)
    ++stages[rank];
  unsigned most = *llvm::max_element(stages);
  uint64_t chunks = uint64_t(most) * header.numSlices;
  if (failed(check(chunks, Problem::maxLetters / 3,
                   header.numSlices == 1 ? "chunks per rank"
                                         : "slices of chunks per rank")) ||
      failed(check(chunks * header.numRanks * problem.microbatches *
                       problem.numKinds(),
                   Problem::maxSteps, "steps")))
    return failure();
  problem.chunks = unsigned(chunks);
  for (auto [rank, own] : enumerate(stages))
    problem.map.insert(problem.map.end(), (most - own) * header.numSlices,
                       rank);
  model.numIdle = problem.map.size();
  for (uint32_t rank : map)
    problem.map.insert(problem.map.end(), header.numSlices, rank);
  problem.stages.resize(problem.map.size());
  return success();
}

LogicalResult Maker::readTimes() {
  // Costs are looked up by the steps of a schedule.
  Schedule steps(header);
  steps.ranks.resize(header.numRanks);
  for (unsigned stage = model.numIdle; stage != problem.numStages(); ++stage)
    for (unsigned kind = 0; kind != problem.numKinds(); ++kind)
      for (unsigned j = 0; j != problem.microbatches; ++j) {
        StepList &list = steps.ranks[problem.map[stage]];
        list.push_back(stepOf(kind, stage, j));
        if (recomputesBefore(kind, stage))
          list.push_back(againOf(list.back()));
      }
  FailureOr<TickCosts> costs = TickCosts::make(steps, diags);
  if (failed(costs))
    return failure();
  model.leavesOutOccupancy = costs->hasOccupancy();
  model.leavesOutPorts = costs->hasPorts();
  model.takesCheapestMicrobatch = header.costs.has(FigureScope::Microbatch);
  Ticks common = 0;
  __int128 sum = 0;
  auto add = [&](Ticks ticks) {
    common = std::gcd(common, ticks);
    sum += __int128(ticks) * problem.microbatches;
    return ticks;
  };
  for (unsigned stage = model.numIdle; stage != problem.numStages(); ++stage) {
    StageFigures &own = problem.stages[stage];
    for (unsigned kind = 0; kind != problem.numKinds(); ++kind) {
      Ticks least = 0;
      for (unsigned j = 0; j != problem.microbatches; ++j) {
        Step step = stepOf(kind, stage, j);
        Ticks ticks = costs->duration(step, 0, 1);
        if (recomputesBefore(kind, stage))
          ticks += costs->duration(againOf(step), 0, 1);
        least = j ? std::min(least, ticks) : ticks;
      }
      own.time[kind] = add(least);
    }
  }
  if (failed(readEdges(*costs)))
    return failure();
  for (const Edge &edge : problem.edges) {
    add(edge.hopF);
    add(edge.hopI);
  }
  common = std::max<Ticks>(common, 1);
  if (sum / common > Problem::maxTicks)
    return diags.report(header.source, diag::SearchTimes);
  for (StageFigures &own : problem.stages)
    for (Ticks &time : own.time)
      time /= common;
  for (Edge &edge : problem.edges) {
    edge.hopF /= common;
    edge.hopI /= common;
  }
  model.ticksPerUnit = costs->perUnit();
  model.tickFactor = common;
  return success();
}

/// Removes edges implied by another path that is at least as long in both
/// directions. Does nothing for graphs with too many pairs of stage and edge.
static void dropImpliedEdges(Problem &problem) {
  constexpr uint64_t most = 1u << 30;
  std::vector<Edge> &edges = problem.edges;
  unsigned stages = problem.numStages();
  if (uint64_t(stages) * edges.size() > most)
    return;
  constexpr __int128 none = -1;
  // By stage: the longest path from one stage, from the end of one step to the
  // start of the other: over any edges, and over two edges or more.
  struct Way {
    __int128 forth = none, back = none;
    void take(__int128 otherForth, __int128 otherBack) {
      forth = std::max(forth, otherForth);
      back = std::max(back, otherBack);
    }
  };
  std::vector<Way> all(stages), longer(stages);
  std::vector<char> implied(edges.size());
  for (size_t first = 0, end; first != edges.size(); first = end) {
    unsigned from = edges[first].from;
    for (end = first; end != edges.size() && edges[end].from == from;)
      ++end;
    if (end - first == 1)
      continue;
    std::fill(all.begin() + from, all.end(), Way());
    std::fill(longer.begin() + from, longer.end(), Way());
    for (size_t i = first; i != edges.size(); ++i) {
      const Edge &edge = edges[i];
      if (edge.from == from) {
        all[edge.to].take(edge.hopF, edge.hopI);
        continue;
      }
      const Way &way = all[edge.from];
      if (way.forth == none)
        continue;
      const StageFigures &middle = problem.stages[edge.from];
      __int128 forth = way.forth + middle.time[LetterF] + edge.hopF;
      __int128 back = way.back + middle.time[LetterI] + edge.hopI;
      all[edge.to].take(forth, back);
      longer[edge.to].take(forth, back);
    }
    for (size_t i = first; i != end; ++i)
      implied[i] = longer[edges[i].to].forth >= edges[i].hopF &&
                   longer[edges[i].to].back >= edges[i].hopI;
  }
  size_t kept = 0;
  for (size_t i = 0; i != edges.size(); ++i)
    if (!implied[i])
      edges[kept++] = edges[i];
  edges.resize(kept);
}

LogicalResult Maker::readEdges(const TickCosts &costs) {
  unsigned slices = header.numSlices;
  auto addEdges = [&](unsigned from, unsigned to) {
    Edge own = {from, to, costs.hop(problem.map[from], problem.map[to]),
                costs.hop(problem.map[to], problem.map[from])};
    for (; own.from != from + slices; ++own.from, ++own.to)
      problem.edges.push_back(own);
  };
  for (unsigned d = 0; d != header.placement.numDirections(); ++d)
    header.graph.forEachEdge(header.numStages, [&](StageGraph::Edge edge) {
      unsigned first = model.numIdle + d * header.numStages * slices;
      addEdges(first + edge.from * slices, first + edge.to * slices);
    });
  for (unsigned stage = 0; stage != model.numIdle; ++stage)
    problem.edges.push_back({stage, stage + 1});
  // A slice uses those before it, which wait for its gradients.
  for (unsigned stage = model.numIdle; stage != problem.numStages(); ++stage)
    if (model.sliceOf(stage) + 1 != slices)
      problem.edges.push_back({stage, stage + 1});
  llvm::sort(problem.edges, [](const Edge &a, const Edge &b) {
    return std::pair(a.from, a.to) < std::pair(b.from, b.to);
  });
  dropImpliedEdges(problem);
  uint64_t transfers = uint64_t(problem.edges.size()) * problem.microbatches;
  if (transfers <= Problem::maxSteps)
    return success();
  return diags.report(header.source, diag::SearchTooLarge, Problem::maxSteps,
                      "transfers", transfers);
}

/// Makes F keep its stash alone, and I hold the rest from its R on.
void Maker::recompute(const MemoryModel &memory, unsigned place) {
  StageFigures &own = problem.stages[place];
  Ticks stash = memory.stash(
      Step(StepKind::F, model.stageOf(place), model.unitOf(place, 0)));
  Ticks more = own.taken() - stash;
  Ticks most =
      more + std::max(own.during[LetterF],
                      std::max<Ticks>(-own.givenByI, 0) + own.during[LetterI]);
  own.givenByI -= more;
  own.during[LetterI] =
      std::max<Ticks>(most - std::max<Ticks>(-own.givenByI, 0), 0);
}

LogicalResult Maker::readMemory() {
  Schedule empty(header);
  empty.ranks.resize(header.numRanks);
  FailureOr<MemoryModel> memory = MemoryModel::make(empty, diags);
  if (failed(memory))
    return failure();
  Ticks common = 0;
  for (unsigned place = model.numIdle; place != problem.numStages(); ++place) {
    unsigned stage = model.stageOf(place);
    StageFigures &own = problem.stages[place];
    auto delta = [&](StepKind kind) {
      return memory->delta(Step(kind, stage, model.unitOf(place, 0)));
    };
    Ticks taken = delta(StepKind::F);
    Ticks byI = -delta(kindOf(LetterI));
    Ticks byW = problem.split ? -delta(StepKind::W) : 0;
    if (taken < 0 || byW < 0 || __int128(byI) + byW != taken) {
      auto text = [&](Ticks size) { return decimalText(memory->size(size)); };
      std::string given =
          text(byI) + (problem.split ? " and " + text(byW) : "");
      return diags.report(header.source, diag::SearchMemory, stage, text(taken),
                          problem.split ? "I and W free" : "B frees", given);
    }
    own.givenByI = byI;
    own.givenByW = byW;
    for (unsigned kind = 0; kind != problem.numKinds(); ++kind) {
      own.during[kind] =
          memory->during(Step(kindOf(kind), stage, model.unitOf(place, 0)));
    }
    if (model.recomputes(stage))
      recompute(*memory, place);
    common = std::gcd(common, std::gcd(own.givenByI, own.givenByW));
    for (Ticks during : own.during)
      common = std::gcd(common, during);
  }
  common = std::max<Ticks>(common, 1);
  Ticks most = 0;
  for (StageFigures &own : problem.stages) {
    own.givenByI /= common;
    own.givenByW /= common;
    most = std::max(most, own.mostHeld());
    for (Ticks &during : own.during)
      most = std::max(most, during /= common);
  }
  if (most > Problem::maxTicks / header.numUnits)
    return diags.report(header.source, diag::SearchTimes);
  model.sizesPerUnit = memory->perUnit();
  model.sizeFactor = common;
  // The memory of all micro-batches at once is as good as no limit.
  std::vector<Ticks> alone(header.numRanks), during(header.numRanks);
  for (unsigned stage = 0; stage != problem.numStages(); ++stage) {
    const StageFigures &own = problem.stages[stage];
    unsigned rank = problem.map[stage];
    alone[rank] += own.mostHeld() * problem.microbatches;
    for (Ticks more : own.during)
      during[rank] = std::max(during[rank], more);
  }
  for (unsigned rank = 0; rank != header.numRanks; ++rank) {
    Ticks most = alone[rank] + during[rank];
    problem.caps.push_back(most);
    Ticks resident = memory->highest(rank).total;
    model.residents.push_back(memory->size(resident));
    std::optional<Rational> limit = header.memory.limit(rank);
    if (!limit)
      continue;
    __int128 units = __int128(limit->numerator()) * memory->perUnit();
    __int128 left = units / limit->denominator() - resident;
    // The division rounds towards 0, which is wrong for negative numbers only.
    if (left < 0)
      left = -1;
    else
      left /= common;
    problem.caps.back() = Ticks(std::min<__int128>(left, most));
  }
  return success();
}

FailureOr<Model> makeModel(const ScheduleHeader &header, bool split,
                           DiagEngine &diags, std::vector<bool> recomputed) {
  Model model;
  model.recomputed = std::move(recomputed);
  model.header = header;
  model.problem.split = split;
  if (failed(Maker(model, diags).run()))
    return failure();
  return model;
}

//===----------------------------------------------------------------------===//
// Words and schedules
//===----------------------------------------------------------------------===//

Schedule makeSchedule(const Model &model, const Words &words) {
  const Problem &problem = model.problem;
  Schedule schedule(model.header);
  for (unsigned rank = 0; rank != problem.ranks; ++rank) {
    std::vector<unsigned> next(problem.numLetters());
    StepList &list = schedule.ranks.emplace_back();
    list.reserve(words[rank].size());
    for (uint8_t letter : words[rank]) {
      const Letter &own = problem.info(rank, letter);
      if (model.isIdle(own.stage))
        continue;
      Step step(stepKindOf(own.kind, problem.split), model.stageOf(own.stage),
                model.unitOf(own.stage, next[letter]++));
      if (own.kind == LetterI && model.recomputes(step.stage()))
        list.push_back(againOf(step));
      list.push_back(step);
    }
  }
  return schedule;
}

bool hasShape(const Model &model, const Schedule &schedule) {
  return schedule.placement == model.header.placement &&
         !schedule.forwardOnly &&
         (schedule.graph.isChain() || schedule.graph == model.header.graph) &&
         schedule.numUnits == model.header.numUnits &&
         schedule.numSlices == model.header.numSlices;
}

std::optional<Words> wordsOf(const Model &model, const Schedule &schedule) {
  const Problem &problem = model.problem;
  if (!hasShape(model, schedule))
    return std::nullopt;
  Words words(problem.ranks);
  for (unsigned rank = 0; rank != problem.ranks; ++rank) {
    // The F of idle stages come first, and their I and W last.
    auto addIdle = [&](unsigned from, unsigned to) {
      for (unsigned kind = from; kind != to; ++kind)
        for (unsigned j = 0; j != problem.microbatches; ++j)
          for (unsigned i = 0; i != problem.chunks; ++i) {
            unsigned chunk = kind == LetterF ? i : problem.chunks - 1 - i;
            if (model.isIdle(problem.stageOf(rank, chunk)))
              words[rank].push_back(problem.letter(LetterKind(kind), chunk));
          }
    };
    addIdle(LetterF, LetterI);
    for (Step step : schedule.ranks[rank]) {
      if (!isCompute(step.kind()))
        continue;
      auto add = [&](LetterKind kind) {
        words[rank].push_back(
            problem.letter(kind, problem.chunkOf(model.placeOf(step))));
      };
      switch (step.kind()) {
      case StepKind::F:
        add(LetterF);
        break;
      case StepKind::I:
        add(LetterI);
        break;
      case StepKind::B:
        add(LetterI);
        if (problem.split)
          add(LetterW);
        break;
      default:
        if (problem.split)
          add(LetterW);
      }
    }
    addIdle(LetterI, problem.numKinds());
  }
  if (!problem.isValid(words))
    return std::nullopt;
  return words;
}

} // namespace pipec::search
