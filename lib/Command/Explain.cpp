//===- Explain.cpp - The explain command -----===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command/CommandRun.h"
#include "Command/Explainer.h"
#include "Driver/Input.h"
#include "Driver/Passes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace llvm;

namespace pipec {

namespace {

struct ExplainFlags : CommandFlags {
  ExplainFlags()
      : CommandFlags("pipec explain options", "Write the explanation to FILE") {
  }

  InputFlags input{category};
  PassFlags passes{category};
  TargetFlag target{category};
  ModelFlag model{category};
  cl::opt<unsigned> rank{"rank", cl::desc("The rank that is meant"),
                         cl::value_desc("N"), cl::cat(category)};
  cl::opt<std::string> at{
      "at", cl::desc("What the rank does at this time: 41, 3.5 or 7/2"),
      cl::value_desc("TIME"), cl::cat(category)};
  cl::opt<std::string> step{
      "step",
      cl::desc("When this step runs: `F s1 m3`, `RECV_F s1 m3`, `UNSHARD s2` "
               "(the first of that name, on --rank if that is given)"),
      cl::value_desc("STEP"), cl::cat(category)};
};

/// What the command line asks.
struct Question {
  std::optional<unsigned> rank;
  std::optional<Rational> time;
  /// Kind, stage and micro-batch of the step that is asked for.
  std::optional<Step> step;
};

} // namespace

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

/// Reads `F s1 m3` or `UNSHARD s2`; nothing when it is neither.
static std::optional<Step> parseStep(StringRef text) {
  SmallVector<StringRef, 4> words;
  text.split(words, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  // The peer of a transfer follows from the rest.
  if (words.size() == 5 && (words[3] == "->" || words[3] == "<-"))
    words.truncate(3);
  std::optional<StepKind> kind =
      words.empty() ? std::nullopt : parseStepKind(words[0]);
  if (!kind || !hasStage(*kind) ||
      words.size() != (hasMicrobatch(*kind) ? 3u : 2u))
    return std::nullopt;
  unsigned stage = 0, microbatch = 0;
  if (!words[1].consume_front("s") || words[1].getAsInteger(10, stage) ||
      stage >= maxStages)
    return std::nullopt;
  if (hasMicrobatch(*kind) &&
      (!words[2].consume_front("m") || words[2].getAsInteger(10, microbatch) ||
       microbatch >= maxMicrobatches))
    return std::nullopt;
  return Step(*kind, stage, microbatch);
}

static FailureOr<Question> readQuestion(const ExplainFlags &flags,
                                        DiagEngine &diags) {
  Question question;
  if (flags.rank.getNumOccurrences())
    question.rank = flags.rank;
  if (flags.step.getNumOccurrences()) {
    if (flags.at.getNumOccurrences())
      return unusable(diags, "both --step and --at");
    question.step = parseStep(flags.step);
    if (!question.step)
      return unusable(diags, "`" + flags.step + "` names no step");
    return question;
  }
  if (!flags.rank.getNumOccurrences() || !flags.at.getNumOccurrences())
    return unusable(diags, "neither --step nor --rank and --at");
  question.time = Rational::parse(flags.at);
  if (!question.time || question.time->isNegative())
    return unusable(diags, "`" + flags.at + "` is not a time");
  return question;
}

/// The first step of that name, on the rank that is asked for if one is.
static std::optional<StepRef> findStep(const Schedule &schedule, Step wanted,
                                       std::optional<unsigned> onRank) {
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
    if (onRank && *onRank != rank)
      continue;
    for (auto [i, step] : enumerate(schedule.ranks[rank]))
      if (step.kind() == wanted.kind() && step.stage() == wanted.stage() &&
          step.microbatch() == wanted.microbatch())
        return StepRef{rank, uint32_t(i)};
  }
  return std::nullopt;
}

static LogicalResult answer(const ExplainFlags &flags, const Question &question,
                            const Schedule &schedule, const CommandRun &run) {
  DiagEngine &diags = run.diags;
  if (question.rank && *question.rank >= schedule.numRanks)
    return unusable(diags, "rank " + Twine(*question.rank) +
                               " of a schedule of " + Twine(schedule.numRanks));
  std::optional<StepRef> step;
  if (question.step) {
    step = findStep(schedule, *question.step, question.rank);
    if (!step)
      return unusable(diags, "no step `" + flags.step + "`" +
                                 (question.rank ? " on this rank" : ""));
  }

  std::optional<WaitModel> model;
  if (failed(flags.model.read(model, diags)))
    return failure();
  FailureOr<Simulation> times = simulate(schedule, model, diags);
  FailureOr<MemoryModel> memory = MemoryModel::make(schedule, diags);
  if (failed(times) || failed(memory) || failed(checkResults(schedule, diags)))
    return failure();
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

static LogicalResult explain(const ExplainFlags &flags, const CommandRun &run) {
  DiagEngine &diags = run.diags;
  FailureOr<Question> question = readQuestion(flags, diags);
  if (failed(question))
    return failure();
  FailureOr<StringRef> list = flags.target.choose(flags.passes, "", diags);
  if (failed(list))
    return failure();
  FailureOr<PassRun> passes =
      PassRun::make(flags.passes, *list, run.err, run.session);
  if (failed(passes))
    return failure();
  FailureOr<OpenedInput> input = openInput(flags.input, run.search, diags);
  if (failed(input))
    return failure();
  FailureOr<Schedule> schedule =
      makeSchedule(flags.input, *input, run.search, run.session);
  if (failed(schedule) || failed(passes->run(*schedule, diags)))
    return failure();
  return answer(flags, *question, *schedule, run);
}

int explainMain(const CommandLine &line) {
  ExplainFlags flags;
  return runCommand(
      line, flags,
      "Says what a rank does at a time, or when a step runs, and why not "
      "earlier.",
      [&](const CommandRun &run) { return explain(flags, run); });
}

} // namespace pipec
