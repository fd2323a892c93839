//===- TickCosts.h - Durations as integers ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Cost/UnitColumns.h"
#include "IR/Schedule.h"
#include "Simulation/CostDraw.h"
#include "Support/DiagEngine.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

#include <array>
#include <optional>
#include <vector>

namespace pipec {

/// The duration of a transfer on one directed edge, in ticks.
struct EdgeTicks {
  int64_t latency = 0;
  int64_t occupancy = 0;
  /// The time for which it occupies the ports of both ranks.
  int64_t port = 0;

  /// The time from its start to its arrival.
  int64_t hop() const { return latency + std::max(occupancy, port); }
};

/// The costs of a schedule in ticks, so that all durations are integers and
/// `==` of two times is exact. One unit of time consists of as many ticks as
/// the least common multiple of the denominators of all costs, times those of
/// the denominators of the factors of ranks, of micro-batches and of overlaps.
class TickCosts {
public:
  /// Reports costs whose ticks do not fit 64 bits, and schedules in which the
  /// sum of all durations and transfers exceeds a quarter of that range, so
  /// that no sum of times of one run can overflow. If it fits, 1/`parts` of a
  /// unit of time is an integral number of ticks too.
  static llvm::FailureOr<TickCosts> make(const Schedule &schedule,
                                         DiagEngine &diags, int64_t parts = 1);

  /// The number of ticks in a unit of time.
  int64_t perUnit() const { return ticksPerUnit; }

  const EdgeTicks &edge(unsigned from, unsigned to) const {
    if (from == to)
      return noEdge;
    return edgesDiffer ? ownEdge(from, to) : commonEdge;
  }
  /// The time from the start of a transfer to its arrival.
  int64_t hop(unsigned from, unsigned to) const { return edge(from, to).hop(); }
  /// The same for the transfer of a result of `maker`, the step that makes it
  /// or its send, in the draw.
  LLVM_ATTRIBUTE_ALWAYS_INLINE int64_t hop(unsigned from, unsigned to,
                                           Step maker) const {
    return LLVM_UNLIKELY(draw) ? drawnHop(from, to, maker) : hop(from, to);
  }
  /// True if transfers may have to wait for their edge.
  bool hasOccupancy() const { return anyOccupancy; }
  /// The same for a port.
  bool hasPorts() const { return anyPort; }

  /// The time for which the group [begin, end) of `list` occupies its rank; 0
  /// if it does not compute.
  LLVM_ATTRIBUTE_ALWAYS_INLINE int64_t duration(llvm::ArrayRef<Step> list,
                                                size_t begin,
                                                size_t end) const {
    if (LLVM_LIKELY(!draw))
      return ownDuration(list, begin, end);
    return duration(list, begin, end, draw);
  }
  /// The same, also in a draw, without its factors.
  LLVM_ATTRIBUTE_ALWAYS_INLINE int64_t ownDuration(llvm::ArrayRef<Step> list,
                                                   size_t begin,
                                                   size_t end) const {
    Step first = list[begin];
    if (LLVM_LIKELY(end - begin == 1 &&
                    unsigned(first.kind()) < std::tuple_size_v<ComputeTicks>))
      return byRow ? rows[rowOf(first)].compute[unsigned(first.kind())]
                   : unitTicks(first);
    return duration(list, begin, end, nullptr);
  }
  /// The same in a draw of these factors; null without. The time of an overlap
  /// is multiplied by the mean of the factors of its members, by their times.
  int64_t duration(llvm::ArrayRef<Step> list, size_t begin, size_t end,
                   const CostDraw *draw) const;

  /// Multiplies durations and latencies by the factors of a draw, which must
  /// outlive this; null to stop that.
  void setDraw(const CostDraw *factors) { draw = factors; }
  bool isDrawn() const { return draw; }
  /// An upper bound of the time of any run without a draw.
  int64_t longestRun() const { return sumOfAll; }
  /// An overlap takes as long as its longest member, and at least this factor
  /// times the sum of its members; empty if it has a time of its own.
  std::optional<Rational> overlapFactor(llvm::ArrayRef<Step> members) const;
  /// An overlap with a time of its own takes the longest of these times of its
  /// members.
  int64_t overlapTime(llvm::ArrayRef<Step> members, Step member) const;

  /// The time for which a posted step of `rank` (StepKind.h) occupies its
  /// stream.
  int64_t posted(unsigned rank, Step step) const {
    if (step.stream() == Stream::Tied)
      return tied;
    if (!anyPosted)
      return 0;
    size_t row = rowOn(rank, step.stage());
    if (step.stream() == Stream::Gather)
      return rows[row]
          .collectives[unsigned(step.kind()) - unsigned(StepKind::Unshard)];
    return step.stream() == Stream::Out ? rare[row].offload : rare[row].reload;
  }
  /// The duration of a REDUCE_TIED.
  int64_t reduceTied() const { return tied; }
  /// True if at least one FSDP step or copy has a duration.
  bool hasPosted() const { return anyPosted; }

  /// Converts ticks to a time.
  Rational time(int64_t ticks) const;

private:
  class CommonDenominator;
  class Maker;

  /// The times of F, B, I, W and R.
  using ComputeTicks = std::array<int64_t, 5>;
  /// The costs of the steps of one stage on one rank, without the factor of a
  /// micro-batch.
  struct Row {
    ComputeTicks compute;
    std::array<int64_t, 3> collectives;
  };
  /// The rest of a row, apart so that rows are a power of two in size.
  struct RareCosts {
    int64_t update;
    int64_t offload;
    int64_t reload;
    /// The factor of the rank, in parts of `rankParts`.
    int64_t rankFactor;
  };
  struct OverlapTicks {
    /// A time without the factors of the rank and the micro-batch.
    int64_t ticks = 0;
    bool isFactor = false;
    Rational factor = 1;
  };

  TickCosts() = default;
  size_t rowOf(Step step) const {
    return step.stage() + (step.unit() >= directionSplit ? rows.size() / 2 : 0);
  }
  /// The row of a stage on one of the ranks that hold it.
  size_t rowOn(unsigned rank, unsigned stage) const {
    bool second = !otherRank.empty() && otherRank[stage] == rank;
    return stage + (second ? rows.size() / 2 : 0);
  }
  int64_t microbatchFactor(Step step) const {
    return microbatches.empty()
               ? 1
               : microbatches[size_t(step.stage()) * unitsPerStage +
                              step.unit()];
  }
  /// The time of a compute step without the factor of its unit.
  int64_t ownTicks(Step step) const {
    size_t row = rowOf(step);
    const auto &compute =
        ofUnits.empty()
            ? rows[row].compute
            : ofUnits[row * columns.size() + columns.of(step.unit())];
    return compute[unsigned(step.kind())];
  }
  int64_t unitTicks(Step step) const {
    int64_t ticks = ownTicks(step);
    return microbatches.empty() ? ticks : ticks * microbatchFactor(step);
  }
  int64_t computeTicks(Step step) const {
    return step.kind() == StepKind::Update ? rare[step.stage()].update
                                           : unitTicks(step);
  }
  int64_t updateTicks(llvm::ArrayRef<Step> list, size_t at) const;
  const OverlapTicks &overlapOf(llvm::ArrayRef<Step> members) const;
  int64_t overlapDuration(llvm::ArrayRef<Step> members,
                          const CostDraw *draw) const;
  const EdgeTicks &ownEdge(unsigned from, unsigned to) const;
  int64_t drawnHop(unsigned from, unsigned to, Step maker) const;

  const CostDraw *draw = nullptr;
  int64_t sumOfAll = 0;
  int64_t ticksPerUnit = 1;
  /// One row per stage. If ranks differ in a bidirectional schedule, it is
  /// followed by one more row per stage, for the rank of direction 1.
  std::vector<Row> rows;
  std::vector<RareCosts> rare;
  /// The costs of compute steps by row and column; empty if no micro-batch or
  /// slice has costs of its own.
  std::vector<ComputeTicks> ofUnits;
  /// True if the costs of all units are those of their rows.
  bool byRow = true;
  UnitColumns columns;
  /// See `Schedule::directionSplit`: the second half of `rows` applies from
  /// this micro-batch on.
  unsigned directionSplit = ~0u;
  /// The rank of each stage in direction 1; empty if `rows` has one half.
  std::vector<uint32_t> otherRank;
  /// The factor of each unit in parts of one, by stage if stages differ; empty
  /// if all are 1.
  std::vector<int64_t> microbatches;
  /// The number of units if stages differ, else 0.
  size_t unitsPerStage = 0;
  /// Overlaps with a cost of their own, by the kinds of their members.
  llvm::StringMap<OverlapTicks> overlaps;
  OverlapTicks otherOverlaps;

  /// Of data that stay on their rank.
  EdgeTicks noEdge;
  EdgeTicks commonEdge;
  bool edgesDiffer = false;
  unsigned nodeSize = ~0u;
  EdgeTicks nodesEdge;
  llvm::DenseMap<std::pair<unsigned, unsigned>, EdgeTicks> edges;
  int64_t tied = 0;
  bool anyOccupancy = false;
  bool anyPort = false;
  bool anyPosted = false;
};

} // namespace pipec
