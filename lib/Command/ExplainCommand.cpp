//===- ExplainCommand.cpp - The explain command ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Command/CommandRun.h"
#include "Driver/Input.h"
#include "Driver/OutputName.h"
#include "Explain/Explainer.h"
#include "IR/DataFlow.h"
#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec {

namespace {

/// The step on the command line.
struct WantedStep {
  StepKind kind = StepKind::F;
  /// Empty if any stage matches, or if the chunk determines it.
  /// Of a REDUCE_TIED, the group.
  std::optional<unsigned> stage;
  unsigned microbatch = 0;
  /// The index of the stage on its rank.
  std::optional<unsigned> chunk = std::nullopt;
  /// The stage, or the rank, at the other end of a transfer.
  std::optional<unsigned> otherStage = std::nullopt;
  std::optional<unsigned> peer = std::nullopt;
};

/// The question on the command line.
struct Question {
  std::optional<unsigned> rank;
  std::optional<Rational> time;
  std::optional<WantedStep> step;
};

} // namespace

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

/// Parses a step in the short form of pictures and CSV: the kind, the
/// micro-batch and, if the rank has several chunks, the letter of the chunk:
/// `F3`, `F3b`, `WAIT_SEND_F3`; or preceded by the stage: `1F3`, `1UNSHARD`,
/// `0>3SEND_F2`.
static std::optional<WantedStep> parseShortStep(StringRef text) {
  WantedStep step;
  auto takeNumber = [&] {
    StringRef digits = text.take_while([](char c) { return isDigit(c); });
    text = text.drop_front(digits.size());
    return digits;
  };
  if (StringRef digits = takeNumber(); !digits.empty()) {
    unsigned stage = 0;
    if (digits.getAsInteger(10, stage) || stage >= maxStages)
      return std::nullopt;
    step.stage = stage;
    if (text.consume_front(">") || text.consume_front("<"))
      if (takeNumber().getAsInteger(10, step.otherStage.emplace()))
        return std::nullopt;
  }
  StringRef letters =
      text.take_while([](char c) { return isAlpha(c) || c == '_'; });
  text = text.drop_front(letters.size());
  std::optional<StepKind> kind = parseStepKind(letters);
  if (!kind)
    kind = parseStepKind(letters.upper());
  if (!kind || !hasStage(*kind))
    return std::nullopt;
  step.kind = *kind;
  if (!hasMicrobatch(*kind))
    return step.stage && text.empty() ? std::optional(step) : std::nullopt;
  if (takeNumber().getAsInteger(10, step.microbatch) ||
      step.microbatch >= maxMicrobatches)
    return std::nullopt;
  if (text.size() == 1 && isLower(text[0]) && !step.stage)
    step.chunk = text[0] - 'a';
  else if (!text.empty())
    return std::nullopt;
  return step;
}

/// Parses `F s1 m3`, `UNSHARD s2`, `REDUCE_TIED t0`, `SEND_F s0 m2 -> s3` or
/// the short form; `std::nullopt` for other texts.
static std::optional<WantedStep> parseStep(StringRef text) {
  text = text.trim();
  if (!text.contains(' '))
    return parseShortStep(text);
  SmallVector<StringRef, 4> words;
  text.split(words, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  std::optional<unsigned> otherStage, peer;
  if (words.size() == 5 && (words[3] == "->" || words[3] == "<-")) {
    bool isStage = words[4].consume_front("s");
    if (!isStage && !words[4].consume_front("r"))
      return std::nullopt;
    if (words[4].getAsInteger(10, (isStage ? otherStage : peer).emplace()))
      return std::nullopt;
    words.truncate(3);
  }
  std::optional<StepKind> kind =
      words.empty() ? std::nullopt : parseStepKind(words[0]);
  if (!kind || !(hasStage(*kind) || isTied(*kind)) ||
      words.size() != (hasMicrobatch(*kind) ? 3u : 2u))
    return std::nullopt;
  unsigned stage = 0, microbatch = 0;
  if (!words[1].consume_front(isTied(*kind) ? "t" : "s") ||
      words[1].getAsInteger(10, stage) || stage >= maxStages)
    return std::nullopt;
  if (hasMicrobatch(*kind) &&
      (!words[2].consume_front("m") || words[2].getAsInteger(10, microbatch) ||
       microbatch >= maxMicrobatches))
    return std::nullopt;
  return WantedStep{*kind, stage, microbatch, std::nullopt, otherStage, peer};
}

static FailureOr<Question> readQuestion(const Arguments &args,
                                        DiagEngine &diags) {
  Question question;
  question.rank = args.number(Opt::Rank);
  if (args.has(Opt::Step)) {
    question.step = parseStep(args.text(Opt::Step));
    if (!question.step)
      return diags.report(DiagLoc(), diag::OptionValue,
                          shortened(args.text(Opt::Step)), "--step",
                          "a step like `F s1 m3`, `UNSHARD s2`, `F3` or `1F3`");
    return question;
  }
  if (!args.has(Opt::Rank) || !args.has(Opt::At))
    return diags.report(DiagLoc(), diag::OptionNeeds, "pipec explain",
                        "--step, or --rank and --at");
  question.time = Rational::parse(args.text(Opt::At));
  return question;
}

/// The stage that is `chunk` of `rank`, if the rank has so many chunks.
static std::optional<unsigned> stageOf(const Schedule &schedule, unsigned rank,
                                       unsigned chunk) {
  SmallVector<unsigned> stages;
  for (const Step &step : schedule.ranks[rank])
    if (isCompute(step.kind()) && !is_contained(stages, step.stage()))
      stages.push_back(step.stage());
  llvm::sort(stages);
  if (chunk >= stages.size())
    return std::nullopt;
  return stages[chunk];
}

/// The first step with that name, on the given rank if there is one.
static std::optional<StepRef> findStep(const Schedule &schedule,
                                       const WantedStep &wanted,
                                       std::optional<unsigned> onRank) {
  const DataFlow flow(schedule);
  auto hasOtherEnd = [&](Step step) {
    if (!wanted.otherStage && !wanted.peer)
      return true;
    const DataFlow::Port *port = flow.transfer(step);
    return port && port->stage == wanted.otherStage.value_or(port->stage) &&
           port->rank == wanted.peer.value_or(port->rank);
  };
  // A rank as the other end names the edge of the chain.
  std::optional<StepRef> ofGraph;
  auto isNamedByRank = [&](Step step) {
    return !wanted.peer ||
           DataFlow::isOfChain(step.stage(), *flow.transfer(step));
  };
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
    if (onRank && *onRank != rank)
      continue;
    std::optional<unsigned> stage = wanted.stage;
    if (wanted.chunk) {
      stage = stageOf(schedule, rank, *wanted.chunk);
      if (!stage)
        continue;
    }
    for (auto [i, step] : enumerate(schedule.ranks[rank]))
      if (step.kind() == wanted.kind && (!stage || step.stage() == *stage) &&
          step.microbatch() == wanted.microbatch && hasOtherEnd(step)) {
        StepRef found{rank, uint32_t(i)};
        if (isNamedByRank(step))
          return found;
        ofGraph = ofGraph.value_or(found);
      }
  }
  return ofGraph;
}

static LogicalResult answer(const Question &question, const Schedule &schedule,
                            const CommandRun &run) {
  DiagEngine &diags = run.diags;
  if (question.rank && *question.rank >= schedule.numRanks)
    return diags.report(DiagLoc(), diag::OptionValue, *question.rank, "--rank",
                        "a rank of the schedule, which has " +
                            countText(schedule.numRanks, "rank"));
  std::optional<StepRef> step;
  if (question.step) {
    step = findStep(schedule, *question.step, question.rank);
    if (!step)
      return diags.report(DiagLoc(), diag::OptionValue,
                          shortened(run.args.text(Opt::Step)), "--step",
                          question.rank ? "a step of this rank"
                                        : "a step of the schedule");
  }

  FailureOr<Simulation> times = simulate(schedule, readModel(run.args), diags);
  FailureOr<MemoryModel> memory = MemoryModel::make(schedule, diags);
  if (failed(times) || failed(memory) || failed(checkResults(schedule, diags)))
    return failure();
  warnOfCosts(&schedule, diags);
  return run.write([&](raw_ostream &os) {
    Explainer explainer(schedule, *times, *memory, os, run.session.files(),
                        run.session.printerTo(os));
    if (step)
      explainer.explainStep(*step);
    else
      explainer.explainTime(*question.rank, *question.time);
    return success();
  });
}

LogicalResult runExplain(const CommandRun &run) {
  DiagEngine &diags = run.diags;
  if (run.args.has(Opt::Against))
    return explainAgainst(run);
  if (failed(chooseForm(run.args, form::Text, /*byOption=*/false, diags)))
    return failure();
  FailureOr<Question> question = readQuestion(run.args, diags);
  if (failed(question))
    return failure();
  FailureOr<PassRun> passes = run.makePasses("");
  if (failed(passes))
    return failure();
  FailureOr<InputRequest> request =
      InputRequest::read(run.args, run.search, diags);
  if (failed(request))
    return failure();
  FailureOr<Schedule> schedule = request->makeSchedule(run.search, run.session);
  if (failed(schedule) || failed(passes->run(*schedule, diags)) ||
      failed(checkModelUsed(run.args, &*schedule, diags)))
    return failure();
  return answer(*question, *schedule, run);
}

} // namespace pipec
