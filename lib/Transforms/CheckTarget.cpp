//===- CheckTarget.cpp - Is a schedule legal for a target -----------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A check: the schedule stays as it is. What each target refuses:
//
//                                 torch-      torch-   torch-   hyper-
//                                 compute     2.13     2.15     parallel
//   no backwards                     x          x        x
//   two ranks for a stage            x          x        x         x
//   a rank without a stage           x          x        x         x
//   stages neither in a loop nor in
//     a V of two chunks                                            x
//   losses out of order              x          x        x
//   P2P and FSDP steps               x
//   waits                            x          x
//   a send or a reduction without
//     a wait                                             x
//   bubbles                                     x        x
//   half of a backward                                             x
//   a batch                          x          x        x         x
//   an overlap other than F & B      x          x        x
//   an overlap of others than one F
//     and one B                                                    x
//   backwards after that of the last
//     micro-batch                                                  x
//
// `torch` is the newest of the versions. That a list with some waits has all of
// them is the verifier's business, so only lists without any are looked at.
//
// PyTorch appends the losses in the order in which the last stage computes them
// and reads them by micro-batch, so that stage has to run its forwards in
// ascending order. Split backwards are legal there, but not with everything
// that PyTorch offers: that is said in a note. HyperParallel synchronises the
// gradients of a stage behind its backward of micro-batch m-1, whichever is the
// last.
//
// Needs: nothing. Ensures: the schedule is unchanged, and legal. Cost: linear
// in the steps.
//
//===----------------------------------------------------------------------===//

#include "Transforms/Passes.h"

#include "Support/Diagnostics/PassesDiags.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"

#include <utility>

using namespace llvm;

namespace pipec {

namespace {

/// Looks through one schedule and reports whatever is not legal.
class TargetCheck {
public:
  TargetCheck(const Schedule &schedule, Target target, DiagEngine &diags)
      : schedule(schedule), target(target), diags(diags),
        name(PassOptionType<Target>::print(target)),
        synchronised(schedule.numStages) {}

  LogicalResult run() {
    checkHeader();
    if (needsWaits())
      checkWaits();
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
      checkList(rank);
    return success(good);
  }

private:
  bool torch() const { return target != Target::Hyperparallel; }
  bool needsWaits() const {
    return target == Target::Torch || target == Target::Torch215;
  }

  /// True for as long as further reports are shown.
  bool refuse(InFlightDiagnostic) {
    good = false;
    return !diags.atErrorLimit();
  }

  void checkHeader() {
    SourceLoc at = schedule.source;
    if (torch() && schedule.forwardOnly)
      refuse(withFirstForward(
          diags.report(at, diag::TargetForwardOnly, schedule.name, name)));
    if (schedule.placement.bidirectional())
      refuse(withTwoRanks(
          diags.report(at, diag::TargetBidirectional, schedule.name, name)));
    else if (!checkStages())
      return;
    else if (!torch() && !isLoop() && !isV())
      refuse(diags.report(at, diag::TargetPlacement, schedule.name, name));
  }

  /// The first send of a list without waits for sends, and the same for
  /// reductions.
  void checkWaits() {
    if (!schedule.hasSendWaits())
      checkWait([](StepKind kind) { return isSend(kind); });
    if (!schedule.hasReduceWaits())
      checkWait([](StepKind kind) { return kind == StepKind::ReduceGrad; });
  }

  template <typename Fn> void checkWait(Fn needsWait) {
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
      for (Step step : schedule.ranks[rank]) {
        if (!needsWait(step.kind()))
          continue;
        Step wait = step;
        wait.setKind(isSend(step.kind()) ? waitOfSend(step.kind())
                                         : StepKind::WaitReduceGrad);
        auto diagnostic = diags.report(step.source(), diag::TargetWaitMissing,
                                       stepText(schedule, step), rank,
                                       stepText(schedule, wait), name);
        diagnostic.note(DiagLoc(), diag::NoteInsertWaits, name);
        refuse(std::move(diagnostic));
        return;
      }
  }

  /// Names the first forward, which no backward follows.
  InFlightDiagnostic withFirstForward(InFlightDiagnostic diagnostic) const {
    for (const StepList &list : schedule.ranks)
      for (Step step : list)
        if (step.kind() == StepKind::F)
          return std::move(diagnostic.note(step.source(), diag::NoteNoBackward,
                                           stepText(schedule, step)));
    return diagnostic;
  }

  /// Names two forwards of the first stage, one of each direction.
  InFlightDiagnostic withTwoRanks(InFlightDiagnostic diagnostic) const {
    unsigned first = schedule.placement.rankOf(0, 0);
    unsigned second = schedule.placement.rankOf(0, 1);
    auto forward = [&](unsigned rank) {
      const StepList &list = schedule.ranks[rank];
      return find_if(list, [](Step step) {
        return step.kind() == StepKind::F && step.stage() == 0;
      });
    };
    auto a = forward(first), b = forward(second);
    if (a != schedule.ranks[first].end() && b != schedule.ranks[second].end())
      diagnostic.note(b->source(), diag::NoteTwoRanks, stepText(schedule, *a),
                      first, stepText(schedule, *b), second);
    return diagnostic;
  }

  /// Every rank is a process that is made with its stages.
  bool checkStages() {
    BitVector idle(schedule.numRanks, true);
    for (uint32_t rank : schedule.placement.map(0))
      idle.reset(rank);
    if (idle.none())
      return true;
    refuse(diags.report(schedule.source, diag::TargetIdleRank,
                        idle.find_first(), schedule.name, name));
    return false;
  }

  bool isLoop() const {
    ArrayRef<uint32_t> map = schedule.placement.map(0);
    return map.size() % schedule.numRanks == 0 &&
           all_of(enumerate(map), [&](const auto &it) {
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

  /// Nothing in `list` is worth a second look but the order of steps.
  bool isPlain(const StepList &list) const {
    uint32_t telling = 0;
    for (unsigned kind = 0; kind <= unsigned(StepKind::Bubble); ++kind)
      telling |= uint32_t(isIllegalStep(StepKind(kind)) ||
                          (isHalf(StepKind(kind)) && !splitTold))
                 << kind;
    uint32_t found = 0;
    bool joined = false;
    for (const Step &step : list) {
      found |= 1u << unsigned(step.kind());
      joined |= step.joined();
    }
    return !joined && !(found & telling);
  }

  bool computesLosses(unsigned rank) const {
    for (unsigned d = 0; d != schedule.placement.numDirections(); ++d)
      if (schedule.placement.rankOf(schedule.numStages - 1, d) == rank)
        return true;
    return false;
  }

  void checkList(unsigned rank) {
    const StepList &list = schedule.ranks[rank];
    if (torch() && !computesLosses(rank) && isPlain(list))
      return;
    // The last forward of the last stage.
    std::optional<Step> last;
    for (size_t begin = 0, end; begin != list.size(); begin = end) {
      end = Schedule::groupEnd(list, begin);
      ArrayRef<Step> group = ArrayRef(list).slice(begin, end - begin);
      Step first = group.front();
      bool shown = true;
      if (group.size() != 1 && !isLegalGroup(group))
        shown = refuseGroup(group);
      else if (isIllegalStep(first.kind()))
        shown = refuseStep(first, rank);
      for (Step step : group) {
        if (torch())
          shown &= checkLoss(step, last);
        else
          shown &= checkLastBackward(step);
        noteSplit(step);
      }
      if (!shown)
        return;
    }
  }

  bool refuseGroup(ArrayRef<Step> group) {
    Step first = group.front();
    bool batch = isP2P(first.kind());
    auto diagnostic =
        diags.report(first.source(), diag::TargetGroup,
                     batch ? "batch" : "overlap", groupText(group), name);
    // What to do about it is said once.
    bool &told = batch ? batchTold : overlapTold;
    if (!std::exchange(told, true)) {
      if (batch)
        diagnostic.note(DiagLoc(), diag::NoteNoBatch);
      else if (torch())
        diagnostic.note(DiagLoc(), diag::NoteOverlapFunction);
      if (!batch)
        diagnostic.note(DiagLoc(), diag::NoteUnpairFirst, name);
    }
    return refuse(std::move(diagnostic));
  }

  bool refuseStep(Step step, unsigned rank) {
    // One half of a backward stands for all of them.
    if (isHalf(step.kind()) && std::exchange(splitTold, true))
      return true;
    auto diagnostic = diags.report(step.source(), diag::TargetStep,
                                   stepText(schedule, step), rank, name);
    if (target == Target::TorchCompute && !std::exchange(addedTold, true))
      diagnostic.note(DiagLoc(), diag::NoteAddedByTorch);
    else if (target == Target::Torch213 && isWait(step.kind()) &&
             !std::exchange(addedTold, true))
      diagnostic.note(DiagLoc(), diag::NoteStripWaits, name);
    else if (target == Target::Hyperparallel)
      diagnostic.note(DiagLoc(), diag::NoteHalfPassedOver)
          .note(DiagLoc(), diag::NoteMergeFirst, name);
    return refuse(std::move(diagnostic));
  }

  /// Says once what does not go with split backwards.
  void noteSplit(Step step) {
    if (!torch() || !isHalf(step.kind()) || std::exchange(splitTold, true))
      return;
    diags
        .reportAs(Severity::Note, step.source(), diag::TargetSplitBackward,
                  stepText(schedule, step))
        .note(DiagLoc(), diag::NoteMergeFirst, name);
  }

  static bool isHalf(StepKind kind) {
    return kind == StepKind::I || kind == StepKind::W;
  }

  /// A whole backward of a stage behind the one of micro-batch m-1.
  bool checkLastBackward(Step step) {
    if (step.kind() != StepKind::B)
      return true;
    if (step.microbatch() + 1 == schedule.numMicrobatches) {
      synchronised.set(step.stage());
      return true;
    }
    if (!synchronised.test(step.stage()))
      return true;
    synchronised.reset(step.stage()); // one report a stage
    Step last(StepKind::B, step.stage(), schedule.numMicrobatches - 1);
    return refuse(diags.report(step.source(), diag::TargetLastBackward,
                               stepText(schedule, step),
                               stepText(schedule, last), name));
  }

  bool isIllegalStep(StepKind kind) const {
    switch (target) {
    case Target::TorchCompute:
      return isP2P(kind) || isFsdp(kind) || isWait(kind);
    case Target::Torch213:
      return kind == StepKind::Bubble || isWait(kind);
    case Target::Torch215:
    case Target::Torch:
      return kind == StepKind::Bubble;
    case Target::Hyperparallel:
      return isHalf(kind);
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
  /// The stages whose backward of micro-batch m-1 was seen.
  BitVector synchronised;
  bool addedTold = false;
  bool batchTold = false;
  bool overlapTold = false;
  bool splitTold = false;
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
