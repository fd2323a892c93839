//===- Schedule.h - What generated code says of its schedule ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef PIPEC_RUNTIME_SCHEDULE_H
#define PIPEC_RUNTIME_SCHEDULE_H

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace pipec::runtime {

/// The version of the interface between generated executors and these headers.
/// An executor compares it with the one that it was generated for. It grows
/// when an executor of an older compiler would no longer compile or run
/// correctly with these headers; additions do not change it.
inline constexpr int interfaceVersion = 1;

/// The output of stage `from` is an input of stage `to`.
struct StageEdge {
  int from;
  int to;
};

/// Units of a stage whose activations the forward drops, since the list has a
/// Recompute of them: `count` units from `first` on, each `stride` after the
/// one before.
struct RecomputedUnits {
  int stage;
  int first;
  int count;
  int stride;
};

/// The header of a compiled schedule. Generated code holds one as a constant;
/// what it points to lives as long as the program.
///
/// Steps are numbered by unit: a micro-batch, or a slice of one along its
/// sequence. Unit u is slice u % slices of micro-batch u / slices.
struct Schedule {
  const char *name;
  /// The file that it was compiled from, "" when unknown.
  const char *source;
  int ranks;
  int stages;
  int microbatches;
  /// Inference or evaluation: no backward steps.
  bool forwardOnly;
  /// 2 when two copies of the model run in opposite directions. The first half
  /// of the micro-batches is then direction 0, the rest direction 1.
  int directions;
  /// One row of `stages` ranks per direction.
  const int *rankOfStage;
  /// One entry per stage: whether this schedule unshards and reshards it. Null
  /// if there is no such stage.
  const bool *sharded;
  /// Every stage has a REDUCE_GRAD, or those of `reduced`.
  bool reducesGradients;
  /// Every send has a WAIT_SEND_F or WAIT_SEND_B (every REDUCE_GRAD a
  /// WAIT_REDUCE_GRAD) later in the list of its rank.
  bool waitsForSends = false;
  bool waitsForReductions = false;
  /// The edges between the stages, in ascending order of `from`, then of `to`;
  /// empty if they form a chain, in which each stage feeds the next.
  std::span<const StageEdge> edges = {};
  /// Where only some stages have a REDUCE_GRAD: one entry per stage. Null if
  /// `reducesGradients` is about all.
  const bool *reduced = nullptr;
  /// The groups of tied stages: the stages of each.
  std::span<const std::span<const int>> ties = {};
  /// The slices of a micro-batch; 1 if it is not sliced.
  int slices = 1;
  /// The units with an R.
  std::span<const RecomputedUnits> recomputed = {};
  /// Every stage has an UPDATE.
  bool updates = false;
  /// The names of the streams of stages other than 0, the first is stream 1,
  /// and the stream of each stage; null if there are none.
  std::span<const char *const> streams = {};
  const int *streamOfStage = nullptr;
  /// By micro-batch, its number in the batch (docs/Order.md); empty if they are
  /// the same.
  std::span<const int> order = {};
  /// Tells lists that are read at run time apart, which may follow each other
  /// at one address; 0 for a constant.
  std::uint64_t serial = 0;
  /// Of lists that are read at run time, a hash of those of all ranks, and 0
  /// for generated code. Messages carry it.
  std::uint32_t digest = 0;

  constexpr int streamOf(int stage) const {
    return streamOfStage ? streamOfStage[stage] : 0;
  }
  constexpr int units() const { return microbatches * slices; }
  constexpr int directionOf(int unit) const {
    return directions == 2 && unit >= microbatches / 2 * slices;
  }
  constexpr int rankOf(int stage, int unit) const {
    return rankOfStage[directionOf(unit) * stages + stage];
  }
  /// The micro-batches that `stage` sees on `rank`.
  constexpr int microbatchesOf(int stage, int rank) const {
    int count = 0;
    for (int d = 0; d != directions; ++d)
      if (rankOfStage[d * stages + stage] == rank)
        count += directions == 1 ? microbatches
                 : d == 0        ? microbatches / 2
                                 : microbatches - microbatches / 2;
    return count;
  }
  /// The ranks that hold a stage of a group of tied stages, in ascending order.
  std::vector<int> tiedRanks(int group) const {
    std::vector<int> holders;
    for (int stage : ties[std::size_t(group)])
      holders.push_back(rankOfStage[stage]);
    std::sort(holders.begin(), holders.end());
    holders.erase(std::unique(holders.begin(), holders.end()), holders.end());
    return holders;
  }
  /// The stages that `rank` holds, in ascending order.
  std::vector<int> stagesOf(int rank) const {
    std::vector<int> held;
    for (int stage = 0; stage != stages; ++stage)
      if (microbatchesOf(stage, rank) > 0)
        held.push_back(stage);
    return held;
  }
};

} // namespace pipec::runtime

#endif // PIPEC_RUNTIME_SCHEDULE_H
