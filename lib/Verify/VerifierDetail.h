//===- VerifierDetail.h - Shared parts of the verifier ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Internal to lib/Verify. The levels compute, placed and sharded are
// implemented twice: as a fast scan that only decides whether the lists are
// correct, and as a slower check that reports the errors and runs only if the
// scan fails. The scan of a list of 25 million steps costs a few nanoseconds
// per step; the slower check may use more memory.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "IR/DataFlow.h"
#include "IR/PresentRanks.h"
#include "IR/StepPlaces.h"
#include "Support/DiagEngine.h"
#include "Support/Diagnostics/VerifierDiags.h"

#include "llvm/ADT/DenseMap.h"

#include <cstdint>
#include <vector>

namespace pipec {

/// The result of the level compute. The other levels only apply if all compute
/// steps are present.
enum class ComputeVerdict {
  Good,
  /// Every step exists once on its rank, but the order cannot run.
  Stuck,
  Broken,
};

/// The result of one walk over the lists. Where a part is false, the check of
/// its level finds out whether there are errors.
struct StateScan {
  /// The kinds of steps in the lists: bit K for the kind with value K.
  uint32_t kinds = 0;
  /// Every compute step is there once, on its rank, in order. False if ranks
  /// are absent.
  bool units = true;
  /// The FSDP actions of each stage are complete and right.
  bool shards = true;
  /// Every reduction has a wait before the next one.
  bool waits = true;
};
StateScan scanStates(const Schedule &schedule, const PresentRanks &present);

/// The (rank, stage) pairs of the placement on present ranks, in order.
using HeldStages = std::vector<std::pair<uint32_t, uint32_t>>;
HeldStages heldStages(const Schedule &schedule, const PresentRanks &present);

/// True if an overlap of `list` has a member that depends on another one in a
/// way that is not allowed.
bool hasInnerFeed(const DataFlow &flow, const StepList &list);

/// `scanned` says that the scan found no error.
ComputeVerdict verifyCompute(const Schedule &schedule, const StateScan &scan,
                             DiagEngine &diags, const PresentRanks &present);
/// The second part of the level compute, for lists with every step exactly
/// once.
ComputeVerdict verifyOrder(const Schedule &schedule, DiagEngine &diags,
                           const PresentRanks &present);
/// The order of the slices of a micro-batch, for lists with every step exactly
/// once: forwards ascend, and backwards descend.
llvm::LogicalResult verifySlices(const Schedule &schedule, DiagEngine &diags);
/// The states of units and gradients, for lists with recomputation, copies or
/// optimizer steps.
llvm::LogicalResult verifyObjects(const Schedule &schedule, DiagEngine &diags,
                                  const PresentRanks &present);
llvm::LogicalResult verifyPlaced(const Schedule &schedule, DiagEngine &diags,
                                 const PresentRanks &present);
llvm::LogicalResult verifySharded(const Schedule &schedule,
                                  const StateScan &scan, DiagEngine &diags,
                                  const PresentRanks &present);
llvm::LogicalResult verifyTied(const Schedule &schedule, DiagEngine &diags,
                               const PresentRanks &present);
/// The waits for sends of the level placed, for lists that have some.
llvm::LogicalResult verifySendWaits(const Schedule &schedule,
                                    DiagEngine &diags);
llvm::LogicalResult verifyTimed(const Schedule &schedule, DiagEngine &diags);

/// Numbers the (stage, micro-batch) pairs for tables. If there are too few
/// steps for all pairs, only pairs that occur are numbered: the sizes of a
/// schedule are untrusted input, so tables are sized by the steps.
class Cells {
public:
  explicit Cells(const Schedule &schedule);

  size_t size() const { return dense ? size_t(total) : sparse.size(); }
  /// The number of a pair; `none` if it is not numbered.
  size_t index(unsigned stage, unsigned microbatch) const {
    if (dense)
      return size_t(stage) * microbatches + microbatch;
    auto it = sparse.find(unitKey(stage, microbatch));
    return it == sparse.end() ? none : it->second;
  }
  size_t index(const Step &step) const {
    return index(step.stage(), step.unit());
  }

  /// True if all pairs are numbered, stage by stage.
  bool isDense() const { return dense; }

  static constexpr size_t none = ~size_t(0);

private:
  bool dense;
  uint64_t total;
  size_t microbatches;
  llvm::DenseMap<uint64_t, size_t> sparse;
};

/// The first step of each kind, stage and unit, for messages; the one on its
/// own rank if there is one.
class FirstSteps {
public:
  FirstSteps(const Schedule &schedule, const Cells &cells);
  /// Invalid if there is no such step.
  StepRef find(StepKind kind, unsigned stage, unsigned microbatch,
               unsigned port = 0) const;
  StepRef find(Step step) const {
    return find(step.kind(), step.stage(), step.unit(), step.port());
  }

private:
  static constexpr unsigned kinds = unsigned(StepKind::RecvB) + 1;
  const Cells &cells;
  std::vector<StepRef> first;
  /// Indexed by place in `first` and port: the P2P steps with a port other than
  /// 0.
  llvm::DenseMap<std::pair<size_t, unsigned>, StepRef> morePorts;
};

/// Reports errors with the names and positions of steps.
class StepReporter {
public:
  StepReporter(const Schedule &schedule, DiagEngine &diags)
      : schedule(schedule), diags(diags), places(schedule) {}

  const Step &step(StepRef ref) const {
    return schedule.ranks[ref.rank][ref.index];
  }
  StepPlace name(StepRef ref) { return places.name(ref.rank, ref.index); }
  std::string text(Step step) const { return places.text(step); }
  unsigned position(StepRef ref) {
    return places.position(ref.rank, ref.index);
  }

  /// Reports a kind whose first argument is the step itself.
  template <typename Kind, typename... Args>
  InFlightDiagnostic report(StepRef ref, Kind kind, Args &&...args) {
    failed = true;
    return diags.report(step(ref).source(), kind, name(ref),
                        std::forward<Args>(args)...);
  }
  /// Attaches `NAME is here` if the step exists.
  void noteHere(InFlightDiagnostic &diagnostic, StepRef ref) {
    if (ref.isValid())
      diagnostic.note(step(ref).source(), diag::NoteStepHere, name(ref));
  }

  /// True if further errors would only be counted, not shown.
  bool full() const { return diags.atErrorLimit(); }

  bool failed = false;

private:
  const Schedule &schedule;
  DiagEngine &diags;
  StepPlaces places;
};

/// True if both ends of every transfer are in the right places, in the same
/// order at both ends of each edge. If it returns false, the slower check must
/// find the errors, if there are any.
bool areTransfersPlaced(const Schedule &schedule, const Cells &cells,
                        const DataFlow &flow, const EdgeNumbers &edges);

} // namespace pipec
