//===- ListProblem.h - Lists with overlaps, recomputation -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Words (Problem.h) have one step at a time, a letter for its kind and chunk.
// Lists also have overlaps of two steps and recomputations of single units,
// their steps name their units, and stages may be on two ranks. Makespan and
// memory agree with Simulation/Simulate.h and Simulation/Memory.h.
//
// The search anneals the lists of all ranks together. Its moves: another place
// for an item of a list, two steps joined to an overlap, an overlap taken
// apart, an R of a unit added or removed, another form of a backward.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "IR/DataFlow.h"
#include "Search/Budget.h"
#include "Search/Problem.h"
#include "Simulation/TickCosts.h"

#include <optional>

namespace pipec::search {

/// The place of a step in tables: eight times its slot, which is a stage and a
/// unit, plus its kind.
using StepCode = uint32_t;
inline constexpr StepCode noStep = ~0u;

/// A step, or an overlap of two.
struct ListItem {
  StepCode first = noStep;
  StepCode second = noStep;
  Ticks time = 0;

  bool isPair() const { return second != noStep; }
  friend bool operator==(const ListItem &, const ListItem &) = default;
};
using ItemList = std::vector<ListItem>;

/// The lists of all ranks under the costs and the memory of a header.
class ListProblem {
public:
  static constexpr uint32_t maxSlots = 1u << 18;

  /// Empty if the lists of the header have more than steps that run one after
  /// the other: slices, streams, edges and ports that are occupied; if they are
  /// too long; or if figures do not fit.
  static std::optional<ListProblem> make(const ScheduleHeader &header,
                                         DiagEngine &diags);

  unsigned ranks() const { return header.numRanks; }
  uint32_t slots() const { return header.numStages * header.numUnits; }
  /// F and the backward make data for other stages.
  uint32_t numData() const { return 2 * slots(); }

  static StepKind kindOf(StepCode code) { return StepKind(code & 7); }
  static uint32_t slotOf(StepCode code) { return code >> 3; }
  static StepCode code(StepKind kind, uint32_t slot) {
    return slot << 3 | unsigned(kind);
  }
  unsigned stageOf(uint32_t slot) const { return slot / header.numUnits; }
  unsigned unitOf(uint32_t slot) const { return slot % header.numUnits; }
  /// True if its unit flows in direction 1.
  bool isSecond(uint32_t slot) const { return unitOf(slot) >= split; }
  Step step(StepCode code) const {
    return Step(kindOf(code), stageOf(slotOf(code)), unitOf(slotOf(code)));
  }
  static bool isBackward(StepCode code) {
    return kindOf(code) == StepKind::B || kindOf(code) == StepKind::I;
  }
  static bool makesData(StepCode code) {
    return kindOf(code) == StepKind::F || isBackward(code);
  }
  /// The datum of an F or a backward, for all its users.
  uint32_t datum(StepCode code) const {
    return slotOf(code) + (isBackward(code) ? slots() : 0);
  }

  /// The duration of a step, and of an overlap.
  Ticks time(StepCode code) const { return times[code]; }
  Ticks time(StepCode first, StepCode second) const;
  ListItem single(StepCode code) const { return {code, noStep, times[code]}; }
  /// An overlap, or a step alone.
  ListItem item(StepCode first, StepCode second) const {
    return second == noStep ? single(first)
                            : ListItem{first, second, time(first, second)};
  }
  /// True if steps of these kinds may overlap: F and a backward, and those for
  /// which the costs have an overlap.
  bool mayPair(StepCode first, StepCode second) const {
    return pairs[unsigned(kindOf(first))] >> unsigned(kindOf(second)) & 1;
  }
  /// True if some unit has costs or sizes of its own.
  bool unitsDiffer() const { return differ; }

  /// The sizes that a step allocates when it starts, and changes in all.
  struct Sizes {
    Ticks taken = 0, change = 0;
  };
  /// An F whose unit is recomputed keeps its stash alone.
  const Sizes &sizes(StepCode code, bool recomputed) const {
    return recomputed && kindOf(code) == StepKind::F ? dropped[slotOf(code)]
                                                     : kept[code];
  }
  /// The memory of a rank, without its parameters.
  Ticks cap(unsigned rank) const { return caps[rank]; }

  /// The datum of unit 0 of another stage, and its hop.
  struct Port {
    uint32_t base;
    Ticks hop;
  };
  /// The data of other ranks for an F or a backward, and its users there.
  llvm::ArrayRef<Port> sources(StepCode code) const {
    return part(sourceTable, sourceBegins, code);
  }
  llvm::ArrayRef<Port> users(StepCode code) const {
    return part(userTable, userBegins, code);
  }
  /// The data of other stages of its rank for it.
  llvm::ArrayRef<Port> locals(StepCode code) const {
    return part(localTable, localBegins, code);
  }

  Rational time(Ticks ticks) const { return costs.time(ticks); }
  /// The largest number of ticks that is not above a time.
  Ticks ticksNotAbove(Rational time) const;

  /// The lists of a schedule; empty if they have other steps, or overlaps of
  /// more than two.
  std::optional<std::vector<ItemList>> listsOf(const Schedule &schedule) const;
  Schedule makeSchedule(const std::vector<ItemList> &lists) const;

private:
  ListProblem(const ScheduleHeader &header, TickCosts costs)
      : header(header), costs(std::move(costs)) {}
  bool findTables(DiagEngine &diags);
  void findPorts(const DataFlow &flow);
  size_t row(StepCode code) const {
    uint32_t slot = slotOf(code);
    return (size_t(isBackward(code)) * 2 + isSecond(slot)) * header.numStages +
           stageOf(slot);
  }
  llvm::ArrayRef<Port> part(const std::vector<Port> &table,
                            const std::vector<uint32_t> &begins,
                            StepCode code) const {
    size_t at = row(code);
    return {table.data() + begins[at], table.data() + begins[at + 1]};
  }

  ScheduleHeader header;
  TickCosts costs;
  /// The first unit of direction 1.
  unsigned split = maxUnits;
  bool differ = false;
  /// By code, or of a recomputed unit by slot.
  std::vector<Ticks> times;
  std::vector<Sizes> kept, dropped;
  std::vector<Ticks> caps;
  /// By kind, a mask of kinds.
  unsigned pairs[8] = {};
  /// By data, direction and stage.
  std::vector<Port> sourceTable, userTable, localTable;
  std::vector<uint32_t> sourceBegins, userBegins, localBegins;
};

/// The lists of a placement with two directions that run one micro-batch after
/// the other, of the directions by turns: one begins where the backward of the
/// one before it ends last.
Schedule serialLists(const ScheduleHeader &header, bool isSplit,
                     bool isSecondFirst);

/// Which lists are neighbours, besides those with other orders.
struct ListMoves {
  bool overlaps = false;
  bool recomputes = false;
  bool forms = false;
};

/// Lists and their makespan.
struct FoundLists {
  std::vector<ItemList> lists;
  Ticks makespan = 0;
};

/// Searches for lists with the least makespan, from the best of `starts` on,
/// until the budget is spent or the makespan is at most `bound`. Starts that
/// cannot run or exceed the memory are left out; the lists are empty if all
/// are.
FoundLists searchLists(const ListProblem &problem,
                       const std::vector<std::vector<ItemList>> &starts,
                       ListMoves moves, uint64_t seed, Ticks bound,
                       Budget &budget);

} // namespace pipec::search
