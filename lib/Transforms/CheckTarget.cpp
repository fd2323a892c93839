//===- CheckTarget.cpp - Is a schedule legal for a target -----------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A check: the schedule stays as it is. What each target refuses:
//
//                                 torch-compute   torch   hyperparallel
//   no backwards                        x           x
//   two ranks for a stage               x           x          x
//   stages neither in a loop nor in
//     a V of two chunks                                        x
//   losses out of order                 x           x
//   P2P and FSDP steps                  x
//   bubbles                                         x
//   a batch                             x           x          x
//   an overlap other than F & B         x           x
//   an overlap of others than one F
//     and one B                                                x
//
// PyTorch appends the losses in the order in which the last stage computes them
// and reads them by micro-batch, so that stage has to run its forwards in
// ascending order.
//
// Needs: nothing. Ensures: the schedule is unchanged, and legal. Cost: linear
// in the steps.
//
//===----------------------------------------------------------------------===//

#include "Transforms/Passes.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

namespace {

/// Looks through one schedule and reports whatever is not legal.
class TargetCheck {
public:
  TargetCheck(const Schedule &schedule, Target target, DiagEngine &diags)
      : schedule(schedule), target(target), diags(diags),
        name(PassOptionType<Target>::print(target)) {}

  LogicalResult run() {
    checkHeader();
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
      checkList(rank);
    return success(good);
  }

private:
  bool torch() const { return target != Target::Hyperparallel; }

  /// True for as long as further reports are shown.
  bool refuse(InFlightDiagnostic) {
    good = false;
    return !diags.atErrorLimit();
  }

  void checkHeader() {
    SourceLoc at = schedule.source;
    if (torch() && schedule.forwardOnly)
      refuse(diags.report(at, diag::TargetForwardOnly, schedule.name, name));
    if (schedule.placement.bidirectional())
      refuse(diags.report(at, diag::TargetBidirectional, schedule.name, name));
    else if (!torch() && !isLoop() && !isV())
      refuse(diags.report(at, diag::TargetPlacement, schedule.name, name));
  }

  bool isLoop() const {
    ArrayRef<uint32_t> map = schedule.placement.map(0);
    return all_of(enumerate(map), [&](const auto &it) {
      return it.value() == it.index() % schedule.numRanks;
    });
  }

  bool isV() const {
    ArrayRef<uint32_t> map = schedule.placement.map(0);
    unsigned ranks = schedule.numRanks;
    return map.size() == 2 * size_t(ranks) &&
           all_of(enumerate(map), [&](const auto &it) {
             return it.value() == (it.index() < ranks
                                       ? it.index()
                                       : 2 * ranks - 1 - it.index());
           });
  }

  /// Nothing in `list` is worth a second look but the order of losses.
  bool isPlain(const StepList &list) const {
    uint32_t illegal = 0;
    for (unsigned kind = 0; kind <= unsigned(StepKind::Bubble); ++kind)
      illegal |= uint32_t(isIllegalStep(StepKind(kind))) << kind;
    uint32_t found = 0;
    bool joined = false;
    for (const Step &step : list) {
      found |= 1u << unsigned(step.kind());
      joined |= step.joined();
    }
    return !joined && !(found & illegal);
  }

  bool computesLosses(unsigned rank) const {
    for (unsigned d = 0; d != schedule.placement.numDirections(); ++d)
      if (schedule.placement.rankOf(schedule.numStages - 1, d) == rank)
        return true;
    return false;
  }

  void checkList(unsigned rank) {
    const StepList &list = schedule.ranks[rank];
    if (isPlain(list) && !(torch() && computesLosses(rank)))
      return;
    // The last forward of the last stage.
    std::optional<Step> last;
    for (size_t begin = 0, end; begin != list.size(); begin = end) {
      end = Schedule::groupEnd(list, begin);
      ArrayRef<Step> group = ArrayRef(list).slice(begin, end - begin);
      Step first = group.front();
      bool shown = true;
      if (group.size() != 1 && !isLegalGroup(group))
        shown = refuse(diags.report(first.source(), diag::TargetGroup,
                                    isP2P(first.kind()) ? "batch" : "overlap",
                                    groupText(group), name));
      else if (isIllegalStep(first.kind()))
        shown = refuse(diags.report(first.source(), diag::TargetStep,
                                    stepText(schedule, first), rank, name));
      if (torch())
        for (Step step : group)
          shown &= checkLoss(step, last);
      if (!shown)
        return;
    }
  }

  bool isIllegalStep(StepKind kind) const {
    switch (target) {
    case Target::TorchCompute:
      return isP2P(kind) || isFsdp(kind);
    case Target::Torch:
      return kind == StepKind::Bubble;
    case Target::Hyperparallel:
      return false;
    }
    llvm_unreachable("every target is listed");
  }

  bool isLegalGroup(ArrayRef<Step> group) const {
    if (group.size() != 2)
      return false;
    StepKind a = group[0].kind(), b = group[1].kind();
    return (a == StepKind::F && b == StepKind::B) ||
           (!torch() && a == StepKind::B && b == StepKind::F);
  }

  std::string groupText(ArrayRef<Step> group) const {
    constexpr size_t shown = 4;
    bool p2p = isP2P(group.front().kind());
    std::string text;
    for (Step step : group.take_front(shown))
      text += (text.empty() ? ""
               : p2p        ? ", "
                            : " & ") +
              stepText(schedule, step);
    return group.size() > shown ? text + " ..." : text;
  }

  bool checkLoss(Step step, std::optional<Step> &last) {
    if (step.kind() != StepKind::F || !schedule.isLastStage(step.stage()))
      return true;
    bool shown = true;
    if (last && step.microbatch() < last->microbatch()) {
      auto diagnostic = diags.report(step.source(), diag::TargetLossOrder,
                                     stepText(schedule, step),
                                     stepText(schedule, *last), name);
      shown = refuse(std::move(diagnostic));
    }
    last = step;
    return shown;
  }

  const Schedule &schedule;
  Target target;
  DiagEngine &diags;
  std::string name;
  bool good = true;
};

class CheckTarget : public Pass {
public:
  explicit CheckTarget(const CheckTargetOptions &options) : options(options) {}

  LogicalResult run(Schedule &schedule, DiagEngine &diags) override {
    return TargetCheck(schedule, options.target, diags).run();
  }

private:
  CheckTargetOptions options;
};

} // namespace

std::unique_ptr<Pass> makeCheckTarget(const CheckTargetOptions &options) {
  return std::make_unique<CheckTarget>(options);
}

} // namespace pipec
