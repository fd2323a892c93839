//===- VerifierDetail.h - What the levels of the verifier share -*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Internal to IR/Verifier*.cpp. Each level is written twice over one idea: a
// quick scan that only says whether all is well, and a slower one that says
// what is wrong, run when the first one is not content. So a good list of 25
// million steps costs a few nanoseconds a step, and messages may cost memory.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_VERIFY_VERIFIERDETAIL_H
#define PIPEC_VERIFY_VERIFIERDETAIL_H

#include "IR/DataFlow.h"
#include "IR/StepPlaces.h"
#include "Support/DiagEngine.h"
#include "Support/Diagnostics/VerifierDiags.h"

#include "llvm/ADT/DenseMap.h"

#include <cstdint>
#include <vector>

namespace pipec {

/// What the level compute found. The other levels make sense only where the
/// compute steps themselves are all there.
enum class ComputeVerdict {
  Good,
  /// Every step is there once on its rank, but the order cannot run.
  Stuck,
  Broken,
};

/// Sets `kinds`, unless the verdict is Broken, to the kinds of steps that the
/// lists have: bit K for the kind of value K.
ComputeVerdict verifyCompute(const Schedule &schedule, DiagEngine &diags,
                             uint32_t *kinds = nullptr);
/// The second half of the level compute, for lists that have every step once.
ComputeVerdict verifyOrder(const Schedule &schedule, DiagEngine &diags);
llvm::LogicalResult verifyPlaced(const Schedule &schedule, DiagEngine &diags);
llvm::LogicalResult verifySharded(const Schedule &schedule, DiagEngine &diags);
/// The waits of the levels placed and sharded, for lists that have some.
llvm::LogicalResult verifySendWaits(const Schedule &schedule,
                                    DiagEngine &diags);
llvm::LogicalResult verifyReduceWaits(const Schedule &schedule,
                                      DiagEngine &diags);
llvm::LogicalResult verifyTimed(const Schedule &schedule, DiagEngine &diags);

/// Numbers the (stage, micro-batch) pairs that a table has a row for. When the
/// steps are too few to name all pairs, only those that occur are numbered: the
/// sizes of a schedule are somebody's claim, the steps are there.
class Cells {
public:
  explicit Cells(const Schedule &schedule);

  size_t size() const { return dense ? size_t(total) : sparse.size(); }
  /// The number of a pair, `none` for one that is not numbered.
  size_t index(unsigned stage, unsigned microbatch) const {
    if (dense)
      return size_t(stage) * microbatches + microbatch;
    auto it = sparse.find(uint64_t(stage) << 32 | microbatch);
    return it == sparse.end() ? none : it->second;
  }
  size_t index(const Step &step) const {
    return index(step.stage(), step.microbatch());
  }

  /// All pairs are numbered, stage by stage.
  bool isDense() const { return dense; }

  static constexpr size_t none = ~size_t(0);

private:
  bool dense;
  uint64_t total;
  size_t microbatches;
  llvm::DenseMap<uint64_t, size_t> sparse;
};

/// Where each step stands, for messages: the first of its kind, stage and
/// micro-batch, on its own rank if there is one.
class FirstSteps {
public:
  FirstSteps(const Schedule &schedule, const Cells &cells);
  /// Invalid when there is no such step.
  StepRef find(StepKind kind, unsigned stage, unsigned microbatch,
               unsigned port = 0) const;
  StepRef find(Step step) const {
    return find(step.kind(), step.stage(), step.microbatch(), step.port());
  }

private:
  static constexpr unsigned kinds = unsigned(StepKind::RecvB) + 1;
  const Cells &cells;
  std::vector<StepRef> first;
  /// By place in `first` and port, the P2P steps of ports other than 0.
  llvm::DenseMap<std::pair<size_t, unsigned>, StepRef> morePorts;
};

/// Reports with the names and positions of steps.
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
  /// Attaches `NAME is here` if there is such a step.
  void noteHere(InFlightDiagnostic &diagnostic, StepRef ref) {
    if (ref.isValid())
      diagnostic.note(step(ref).source(), diag::NoteStepHere, name(ref));
  }

  /// Reading further would only count errors that nobody sees.
  bool full() const { return diags.atErrorLimit(); }

  bool failed = false;

private:
  const Schedule &schedule;
  DiagEngine &diags;
  StepPlaces places;
};

} // namespace pipec

#endif // PIPEC_VERIFY_VERIFIERDETAIL_H
