//===- Lint.cpp - All checks of one schedule ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Lint/Lint.h"

#include "Frameworks/TargetCheck.h"
#include "IR/DataFlow.h"
#include "IR/StepPlaces.h"
#include "IR/TiedMeetings.h"
#include "Simulation/MemoryLimit.h"
#include "Simulation/Slots.h"
#include "Support/Diagnostics/AnalysisDiags.h"
#include "Support/Diagnostics/VerifierDiags.h"
#include "Support/Words.h"
#include "Verify/TrainingRules.h"
#include "Verify/Verifier.h"
#include "Waiting/DeadlockReport.h"
#include "Waiting/Waiting.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

/// The first step of the schedule, for findings about the whole schedule.
static SourceLoc beginning(const Schedule &schedule) {
  for (const StepList &list : schedule.ranks)
    if (!list.empty())
      return list.front().source();
  return schedule.source;
}

/// The kinds of steps of a schedule.
namespace {
struct Contents {
  bool p2p = false;
  bool reduceGrad = false;
  /// Bit K is set if there is a step of the kind with value K.
  uint32_t kinds = 0;
  /// The first idle slot.
  std::optional<std::pair<unsigned, size_t>> idle;

  explicit Contents(const Schedule &schedule) {
    for (unsigned rank = 0; rank != schedule.ranks.size(); ++rank) {
      const StepList &list = schedule.ranks[rank];
      for (size_t i = 0; i != list.size(); ++i) {
        StepKind kind = list[i].kind();
        kinds |= 1u << unsigned(kind);
        p2p |= isP2P(kind);
        reduceGrad |= kind == StepKind::ReduceGrad;
        if (kind == StepKind::Bubble && !idle)
          idle = {rank, i};
      }
    }
  }
};
} // namespace

/// The lists with idle slots in place of the transfers with absent ranks, and
/// of the waits for them. Adds the number of these transfers to `count`.
static Schedule amongPresent(Schedule schedule, const PresentRanks &present,
                             size_t &count) {
  DataFlow flow(schedule);
  for (StepList &list : schedule.ranks)
    for (size_t i = 0; i != list.size(); ++i) {
      if (!isP2P(list[i].kind()) && !isSendWait(list[i].kind()))
        continue;
      const DataFlow::Port *port = flow.transfer(list[i]);
      if (!port || present.contains(port->rank))
        continue;
      count += isP2P(list[i].kind());
      list[i] = Step(StepKind::Bubble, 0, 0, 0, list[i].source());
      if (i != 0)
        list[i - 1].setJoined(false);
    }
  return schedule;
}

/// The models under which the schedule is safe. Reports why it is not safe
/// under others.
static WaitOutcomes safeModels(const Schedule &schedule, bool allPresent,
                               bool computesAreGood, WaitModel require,
                               DiagEngine &diags) {
  WaitOutcomes safe;
  safe.fill(true);
  if (allPresent && computesAreGood && endsWithBlockingTransfers(schedule))
    return safe;
  Transfers transfers(schedule);
  // An order that cannot run has been reported; it finishes under no model.
  safe = computesAreGood && schedule.hasP2P()
             ? checkDeadlock(schedule, transfers, require, diags)
             : endsUnder(schedule, transfers);
  // Without transfers the models do not affect the order, and the computes
  // themselves cannot run.
  if (!transfers.sound() || (!schedule.hasP2P() && !computesAreGood))
    safe.fill(false);
  return safe;
}

/// Counts the communicators and buffers with which a schedule finishes.
static void countNeeds(const Schedule &schedule, LintResult &result) {
  if (!schedule.hasP2P() || !result.safe[WaitModel::Buffered])
    return;
  result.buffers = 0;
  if (result.safe[WaitModel::Stream]) {
    result.communicators = 1;
    result.fewest = true;
    return;
  }
  Transfers transfers(schedule);
  if (!result.safe[WaitModel::Edge]) {
    result.buffers = neededBuffers(schedule, transfers);
    return;
  }
  NeededCommunicators needed = neededCommunicators(schedule, transfers);
  result.communicators = unsigned(needed.communicators.size());
  result.fewest = needed.smallest;
}

/// The effect of a finding when PyTorch's runtime loads the file.
static std::optional<diag::Id> consequence(const Diagnostic &found,
                                           const Contents &contents) {
  bool receive =
      found.place && found.place->kind && isRecv(StepKind(*found.place->kind));
  switch (found.id) {
  case diag::StepsMissing:
  case diag::StepTooEarly:
  case diag::WeightWithoutInput:
  case diag::StepOnWrongRank:
  case diag::StepNotForward:
    return diag::NoteRunRefused;
  case diag::OrderStuck:
  case diag::OrderStuckAlone:
  case diag::OverlapFeedsItself:
    // PyTorch cannot place the transfers of such a list. It does not try to if
    // the list has transfers.
    return contents.p2p ? std::nullopt : std::optional(diag::NoteRunRefused);
  case diag::TransferUnmatched:
    // A send without its receive is harmless; the step that needs the data does
    // not find it.
    return receive ? diag::NoteRunWaits.value : diag::NoteRunStops.value;
  case diag::TransferMissing:
  case diag::TransferInsideRank:
  case diag::ReceiveMissing:
  case diag::RecvAfterConsumer:
  case diag::SendBeforeProducer:
  case diag::SendAfterFree:
    return diag::NoteRunStops;
  case diag::TransferDoubled:
    // The second message is taken for the next one.
    return receive ? diag::NoteRunStops.value : diag::NoteRunWrong.value;
  case diag::TransferCrossed:
    return diag::NoteRunOtherTensor;
  case diag::ReduceGradMissing:
  case diag::ReduceGradEarly:
  case diag::ReduceGradDoubled:
    return diag::NoteRunWrong;
  case diag::LossOrder:
    return diag::NoteRunOtherLoss;
  case diag::ComputeOnSharded:
  case diag::ReshardTwice:
  case diag::UnshardTwice:
  case diag::UnshardUnused:
    return diag::NoteRunSharded;
  case diag::UnshardLeftOpen:
    return diag::NoteRunSecondStep;
  default:
    return std::nullopt;
  }
}

LintOptions LintOptions::withoutPyTorch() {
  LintOptions options;
  options.forPyTorch = false;
  options.lossOrder = options.idleSlot = options.forwardOnly =
      options.noReduceGrad = std::nullopt;
  return options;
}

/// The options with the severities after the engine's grades.
static LintOptions graded(LintOptions options, const DiagEngine &diags) {
  static constexpr std::pair<diag::Id, std::optional<Severity> LintOptions::*>
      rules[] = {
#define PIPEC_LINT_RULE(Field, Kind, Default) {diag::Kind, &LintOptions::Field},
#include "Lint/LintRules.def"
      };
  for (auto [id, rule] : rules)
    if (options.*rule)
      options.*rule = diags.graded(diagInfo(id).flag, *(options.*rule));
  return options;
}

/// The result of the verifier.
namespace {
struct Verified {
  bool computes = false;
  bool all = false;
};
} // namespace

/// Reports errors in the list itself, and sets the rest of `result`.
static Verified checkList(const Schedule &schedule, const Contents &contents,
                          const LintOptions &options, LintResult &result,
                          DiagEngine &diags) {
  Verified good;
  const PresentRanks &present = options.present;
  good.computes =
      succeeded(verify(schedule, VerifyLevel::Compute, diags, present));
  // The other levels require the steps that the first one checks, but for
  // actions of FSDP, each on its own rank.
  auto above = unsigned(levelsAboveCompute(schedule, contents.kinds));
  if (!good.computes)
    above &= unsigned(VerifyLevel::Sharded);
  bool others =
      !above || succeeded(verify(schedule, VerifyLevel(above), diags, present));
  good.all = good.computes && others;
  if (present.all()) {
    result.safe =
        safeModels(schedule, true, good.computes, options.require, diags);
    countNeeds(schedule, result);
    return good;
  }
  Schedule judged = amongPresent(schedule, present, result.unjudgedTransfers);
  result.safe =
      safeModels(judged, false, good.computes, options.require, diags);
  return good;
}

/// Attaches the edits that remove all idle slots, if each is a word of its own
/// in the source, as in step IR, and there are not too many of them.
static void removeIdleSlots(const Schedule &schedule, InFlightDiagnostic &found,
                            const SourceFiles &files) {
  constexpr size_t maxEdits = 1000;
  std::vector<SMRange> slots;
  StringRef word = stepKindName(StepKind::Bubble);
  for (const StepList &list : schedule.ranks)
    for (const Step &step : list) {
      if (step.kind() != StepKind::Bubble)
        continue;
      SMRange item = files.itemAt(step.source());
      const char *begin = item.Start.getPointer();
      if (slots.size() == maxEdits ||
          StringRef(begin, item.End.getPointer() - begin) != word)
        return;
      slots.push_back(item);
    }
  for (SMRange slot : slots)
    found.removal(slot);
}

/// Reports the findings of the rules in `options`.
static void checkRules(const Schedule &schedule, const Contents &contents,
                       const Verified &good, const LintOptions &options,
                       DiagEngine &diags) {
  if (options.lossOrder)
    checkLossOrder(schedule, *options.lossOrder, diags);
  if (options.microbatchOrder)
    checkMicrobatchOrder(schedule, /*losses=*/!options.lossOrder,
                         *options.microbatchOrder, diags);
  bool whole = options.present.all();
  if (options.slotOrder && whole && good.computes && contents.idle &&
      !contents.p2p)
    checkSlotOrder(schedule, *options.slotOrder, diags);
  if (options.unusedUnshard)
    checkUnshardsUsed(schedule, *options.unusedUnshard, diags);
  if (options.forwardOnly && schedule.forwardOnly)
    (void)diags.reportAs(*options.forwardOnly, beginning(schedule),
                         diag::ForwardOnly);
  if (options.memoryLimit && whole && good.all)
    (void)checkMemoryLimit(schedule, *options.memoryLimit, diags);
  std::vector<bool> found(schedule.ties.size());
  if (options.unsummedUpdate && whole)
    // Passes add sums to a list without transfers, as they add these.
    found = checkUpdatesSummed(
        schedule, contents.p2p ? *options.unsummedUpdate : Severity::Note,
        diags);
  if (!contents.p2p)
    return;
  if (options.idleSlot && contents.idle) {
    auto [rank, index] = *contents.idle;
    InFlightDiagnostic found = diags.reportAs(
        *options.idleSlot, schedule.ranks[rank][index].source(),
        diag::IdleAmongTransfers, StepPlaces(schedule).name(rank, index));
    removeIdleSlots(schedule, found, diags.sourceFiles());
  }
  if (options.noReduceGrad && options.present.all() && !contents.reduceGrad &&
      !schedule.forwardOnly)
    (void)diags.reportAs(*options.noReduceGrad, beginning(schedule),
                         diag::NoReduceGrad, schedule.numUnits);
  if (options.noReduceTied && options.present.all() && !schedule.forwardOnly) {
    TiedMeetings meetings(schedule);
    for (const auto &[group, stages] : enumerate(schedule.ties))
      if (meetings.steps(group).empty() && !found[group])
        (void)diags.reportAs(*options.noReduceTied, schedule.source,
                             diag::NoReduceTied, group, listText(stages));
  }
}

/// Adds `found` to `faults` if it is the first error of its kind.
static void noteFault(const Diagnostic &found,
                      std::vector<Diagnostic> &faults) {
  if (found.severity == Severity::Error &&
      none_of(faults,
              [&](const Diagnostic &known) { return known.id == found.id; }))
    faults.push_back(found);
}

LintResult lint(const Schedule &schedule, const LintOptions &options,
                DiagEngine &diags) {
  Contents contents(schedule);
  auto annotate = [&](Diagnostic &found) {
    // A missing REDUCE_GRAD should follow the step that the note names.
    if (found.id == diag::ReduceGradMissing && !found.notes.empty()) {
      found.place = found.notes.front().place;
      found.range = found.notes.front().range;
    }
    std::optional<diag::Id> result;
    if (options.forPyTorch)
      result = consequence(found, contents);
    // PyTorch inserts the other steps that a list without transfers needs.
    if (result && (contents.p2p || *result == diag::NoteRunRefused ||
                   *result == diag::NoteRunOtherLoss))
      found.notes.push_back(
          {*result, Severity::Note, found.range, DiagEngine::format(*result)});
    return true;
  };

  LintResult result;
  Verified good;
  {
    DiagEngine::ScopedFilter collect(diags, [&](Diagnostic &found) {
      noteFault(found, result.faults);
      return true;
    });
    DiagEngine::ScopedFilter filter(diags, annotate);
    good = checkList(schedule, contents, options, result, diags);
  }
  LintOptions rules = graded(options, diags);
  // That all reductions are missing has then been reported one by one.
  if (any_of(result.faults, [](const Diagnostic &fault) {
        return fault.id == diag::ReduceGradMissing;
      }))
    rules.noReduceGrad = std::nullopt;
  DiagEngine::ScopedFilter filter(diags, annotate);
  checkRules(schedule, contents, good, rules, diags);
  return result;
}

//===----------------------------------------------------------------------===//
// Verdicts about PyTorch
//===----------------------------------------------------------------------===//

static bool isComputeOnly(const Schedule &schedule) {
  return all_of(schedule.ranks, [](const StepList &list) {
    return all_of(list, [](Step step) {
      return isCompute(step.kind()) || step.kind() == StepKind::Bubble;
    });
  });
}

StringRef torchFormat(const Schedule &schedule) {
  return isComputeOnly(schedule) ? "compute_only" : "compute_comms";
}

LogicalResult checkForTorch(const Schedule &schedule,
                            const TorchVersion &version, DiagEngine &diags) {
  if (isComputeOnly(schedule))
    return checkTarget(schedule, Target::TorchCompute, diags);
  bool good = succeeded(checkTarget(schedule, version.target, diags));
  good &= succeeded(checkOutput(schedule, Output::TorchFile, diags));
  return success(good);
}

std::vector<Diagnostic> errorsOf(SourceFiles &files,
                                 function_ref<void(DiagEngine &)> check) {
  std::vector<Diagnostic> found;
  DiagEngine diags(files, [&](const Diagnostic &one) {
    if (one.severity == Severity::Error)
      found.push_back(one);
  });
  check(diags);
  return found;
}

} // namespace pipec
