//===- ListProblem.cpp - The tables of lists ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Search/ListProblem.h"

#include "Simulation/Memory.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec::search {

static constexpr StepKind listKinds[] = {StepKind::F, StepKind::B, StepKind::I,
                                         StepKind::W, StepKind::R};
static_assert(unsigned(StepKind::R) < 8, "a code has three bits for the kind");

std::optional<ListProblem> ListProblem::make(const ScheduleHeader &header,
                                             DiagEngine &diags) {
  if (header.numSlices != 1 || header.forwardOnly || !header.streams.empty() ||
      uint64_t(header.numStages) * header.numUnits > maxSlots)
    return std::nullopt;
  Schedule schedule(header);
  schedule.ranks.resize(header.numRanks);
  FailureOr<TickCosts> costs = TickCosts::make(schedule, diags);
  if (failed(costs) || costs->hasOccupancy() || costs->hasPorts())
    return std::nullopt;
  ListProblem problem(header, std::move(*costs));
  if (!problem.findTables(diags))
    return std::nullopt;
  return problem;
}

bool ListProblem::findTables(DiagEngine &diags) {
  Schedule schedule(header);
  schedule.ranks.resize(header.numRanks);
  split = schedule.directionSplit();
  FailureOr<MemoryModel> memory = MemoryModel::make(schedule, diags);
  if (failed(memory))
    return false;
  differ = false;
  for (FigureScope scope : {FigureScope::Microbatch,
                            FigureScope::StageMicrobatch, FigureScope::Slice})
    differ |= header.costs.has(scope) || header.memory.has(scope);
  times.resize(size_t(slots()) * 8);
  kept.resize(times.size());
  dropped.resize(slots());
  __int128 sum = 0, size = 0;
  for (uint32_t slot = 0; slot != slots(); ++slot) {
    for (StepKind kind : listKinds) {
      StepCode own = code(kind, slot);
      Step one = step(own);
      times[own] = costs.duration(one, 0, 1);
      kept[own] = {memory->taken(one), memory->change(one)};
      sum += times[own];
      size += kept[own].taken + std::abs(kept[own].change);
    }
    Step forward = step(code(StepKind::F, slot));
    Ticks stash = memory->stash(forward);
    dropped[slot] = {std::max<Ticks>(stash, 0) + memory->during(forward),
                     stash};
    size += std::abs(stash);
  }
  for (unsigned rank = 0; rank != ranks(); ++rank) {
    std::optional<Rational> limit = header.memory.limit(rank);
    caps.push_back(limit ? memory->floorOf(*limit) - memory->before(rank)
                         : Problem::never);
  }
  auto addPair = [&](StepKind a, StepKind b) {
    pairs[unsigned(a)] |= 1u << unsigned(b);
  };
  for (StepKind backward : {StepKind::B, StepKind::I}) {
    addPair(StepKind::F, backward);
    addPair(backward, StepKind::F);
  }
  for (const CostSettings::Overlap &overlap : header.costs.overlaps)
    if (overlap.members.size() == 2 &&
        all_of(overlap.members,
               [](StepKind kind) { return isCompute(kind) && hasUnit(kind); }))
      addPair(overlap.members[0], overlap.members[1]);
  DataFlow flow(schedule);
  findPorts(flow);
  for (const Port &port : sourceTable)
    sum += __int128(port.hop) * header.numUnits;
  return sum <= Problem::maxTicks && size <= Problem::maxTicks * 1024;
}

void ListProblem::findPorts(const DataFlow &flow) {
  for (auto *begins : {&sourceBegins, &userBegins, &localBegins})
    begins->push_back(0);
  for (StepKind kind : {StepKind::F, StepKind::B})
    for (unsigned direction = 0; direction != 2; ++direction)
      for (unsigned stage = 0; stage != header.numStages; ++stage) {
        if (direction < header.placement.numDirections()) {
          DataKind data = dataKind(kind);
          const DataFlow::Row &own = flow.row(data, stage, direction);
          unsigned rank = header.placement.rankOf(stage, direction);
          auto add = [&](const DataFlow::Port &port, bool isInput) {
            // The last stage makes its own gradient.
            if (port.stage == stage)
              return;
            bool isBackwardPort = port.kind != StepKind::F;
            uint32_t base = (isBackwardPort ? slots() : 0) +
                            uint32_t(port.stage) * header.numUnits;
            if (!port.transfers) {
              if (isInput)
                localTable.push_back({base, 0});
              return;
            }
            if (isInput)
              sourceTable.push_back({base, costs.hop(port.rank, rank)});
            else
              userTable.push_back({base, costs.hop(rank, port.rank)});
          };
          for (const DataFlow::Port &port : flow.inputs(own))
            add(port, true);
          for (const DataFlow::Port &port : flow.outputs(own))
            add(port, false);
        }
        sourceBegins.push_back(sourceTable.size());
        userBegins.push_back(userTable.size());
        localBegins.push_back(localTable.size());
      }
}

Ticks ListProblem::time(StepCode first, StepCode second) const {
  Step members[] = {step(first), step(second)};
  return costs.duration(members, 0, 2);
}

Ticks ListProblem::ticksNotAbove(Rational time) const {
  return Ticks(std::min<__int128>(__int128(time.numerator()) * costs.perUnit() /
                                      time.denominator(),
                                  Problem::never));
}

std::optional<std::vector<ItemList>>
ListProblem::listsOf(const Schedule &schedule) const {
  std::vector<ItemList> lists(ranks());
  for (auto [list, items] : zip_equal(schedule.ranks, lists))
    for (size_t begin = 0, end; begin != list.size(); begin = end) {
      end = Schedule::groupEnd(list, begin);
      for (size_t i = begin; i != end; ++i)
        if (!isCompute(list[i].kind()) || !hasUnit(list[i].kind()))
          return std::nullopt;
      auto codeOf = [&](Step step) {
        return code(step.kind(), step.stage() * header.numUnits + step.unit());
      };
      if (end - begin > 2)
        return std::nullopt;
      items.push_back(item(codeOf(list[begin]), end - begin == 1
                                                    ? noStep
                                                    : codeOf(list[begin + 1])));
    }
  return lists;
}

Schedule ListProblem::makeSchedule(const std::vector<ItemList> &lists) const {
  Schedule schedule(header);
  for (const ItemList &items : lists) {
    StepList &list = schedule.ranks.emplace_back();
    for (const ListItem &item : items) {
      list.push_back(step(item.first));
      if (!item.isPair())
        continue;
      list.back().setJoined(true);
      list.push_back(step(item.second));
    }
  }
  return schedule;
}

Schedule serialLists(const ScheduleHeader &header, bool isSplit,
                     bool isSecondFirst) {
  Schedule schedule(header);
  schedule.ranks.resize(header.numRanks);
  unsigned split = schedule.directionSplit();
  for (unsigned i = 0; i != header.numUnits; ++i) {
    unsigned unit = i / 2 + ((i % 2 != 0) != isSecondFirst ? split : 0);
    auto add = [&](StepKind kind, unsigned stage) {
      schedule.ranks[schedule.rankOf(stage, unit)].push_back(
          Step(kind, stage, unit));
    };
    for (unsigned stage = 0; stage != header.numStages; ++stage)
      add(StepKind::F, stage);
    for (unsigned stage = header.numStages; stage-- != 0;) {
      add(isSplit ? StepKind::I : StepKind::B, stage);
      if (isSplit)
        add(StepKind::W, stage);
    }
  }
  return schedule;
}

} // namespace pipec::search
