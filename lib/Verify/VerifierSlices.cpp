//===- VerifierSlices.cpp - The order of slices ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Part of the level compute. A slice of a sequence uses the keys and values of
// the slices before it, and its backward adds to their gradients. All slices of
// a micro-batch are on one rank, so one scan of each list decides: `F m.k`
// needs `F m.(k-1)` before it, and the backward of m.k that of m.(k+1). Members
// of an overlap start together, so none precedes another.
//
//===----------------------------------------------------------------------===//

#include "Verify/VerifierDetail.h"

#include "llvm/ADT/ArrayRef.h"

using namespace llvm;

namespace pipec {

namespace {

/// A scan for steps of slices that precede those they depend on.
class SliceScan {
public:
  SliceScan(const Schedule &schedule, DiagEngine &diags)
      : schedule(schedule), cells(schedule), diags(diags), done(cells.size()) {}

  LogicalResult run() {
    for (unsigned rank = 0; rank != schedule.ranks.size(); ++rank) {
      ArrayRef<Step> list = schedule.ranks[rank];
      for (size_t i = 0, end; i != list.size(); i = end) {
        end = Schedule::groupEnd(list, i);
        for (size_t k = i; k != end; ++k)
          if (std::optional<unsigned> needed = needs(list[k]))
            if (!isDone(list[k].kind(), list[k].stage(), *needed))
              report({rank, uint32_t(k)}, *needed);
        for (size_t k = i; k != end; ++k)
          if (hasSliceOrder(list[k].kind()))
            done[cells.index(list[k])] |= bitOf(list[k].kind());
      }
    }
    return success(!reporter);
  }

private:
  static bool hasSliceOrder(StepKind kind) {
    return kind == StepKind::F || makesInputGradient(kind);
  }
  static uint8_t bitOf(StepKind kind) { return kind == StepKind::F ? 1 : 2; }

  /// The unit whose step of the same sort must precede `step`.
  std::optional<unsigned> needs(Step step) const {
    if (!hasSliceOrder(step.kind()))
      return std::nullopt;
    unsigned slice = step.unit() % schedule.numSlices;
    if (step.kind() == StepKind::F)
      return slice == 0 ? std::nullopt : std::optional(step.unit() - 1);
    return slice + 1 == schedule.numSlices ? std::nullopt
                                           : std::optional(step.unit() + 1);
  }
  bool isDone(StepKind kind, unsigned stage, unsigned unit) const {
    size_t cell = cells.index(stage, unit);
    return cell != Cells::none && (done[cell] & bitOf(kind));
  }

  void report(StepRef ref, unsigned needed) {
    if (!reporter) {
      reporter.emplace(schedule, diags);
      firsts.emplace(schedule, cells);
    }
    if (reporter->full())
      return;
    Step step = reporter->step(ref);
    bool forward = step.kind() == StepKind::F;
    unsigned slice = needed % schedule.numSlices;
    InFlightDiagnostic error =
        forward ? reporter->report(ref, diag::SliceForwardEarly, slice)
                : reporter->report(ref, diag::SliceBackwardEarly, slice);
    StepRef later =
        firsts->find(forward ? StepKind::F : StepKind::B, step.stage(), needed);
    if (!forward && !later.isValid())
      later = firsts->find(StepKind::I, step.stage(), needed);
    reporter->noteHere(error, later);
  }

  const Schedule &schedule;
  Cells cells;
  DiagEngine &diags;
  /// By stage and unit, the bits of the steps that the scan has passed.
  std::vector<uint8_t> done;
  /// Made for the first error.
  std::optional<StepReporter> reporter;
  std::optional<FirstSteps> firsts;
};

} // namespace

LogicalResult verifySlices(const Schedule &schedule, DiagEngine &diags) {
  return SliceScan(schedule, diags).run();
}

} // namespace pipec
