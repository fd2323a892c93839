//===- ExplainCommand.cpp - The explain command ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Command/CommandRun.h"
#include "Driver/Input.h"
#include "Explain/Explainer.h"
#include "IR/DataFlow.h"
#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Regex.h"

using namespace llvm;

namespace pipec {

namespace {

/// The step on the command line.
struct WantedStep {
  StepKind kind = StepKind::F;
  /// Empty if any stage matches, or if the chunk determines it.
  /// Of a REDUCE_TIED, the group.
  std::optional<unsigned> stage;
  /// The unit, or with a slice the micro-batch.
  unsigned microbatch = 0;
  std::optional<unsigned> slice;
  /// The index of the stage on its rank.
  std::optional<unsigned> chunk;
  /// The stage, or the rank, at the other end of a transfer.
  std::optional<unsigned> otherStage, peer;
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

/// Parses `F s1 m3`, `F s1 m3.0`, `UNSHARD s2`, `REDUCE_TIED t0`, `SEND_F s0 m2
/// -> s3`, or the short form of pictures and CSV: the kind, the micro-batch
/// and, if the rank has several chunks, the letter of the chunk: `F3`, `F3b`,
/// `WAIT_SEND_F3`; or preceded by the stage: `1F3`, `1UNSHARD`, `0>3SEND_F2`.
/// Returns `std::nullopt` for other texts.
static std::optional<WantedStep> parseStep(StringRef text) {
  static const Regex longForm(
      "^([A-Z_]+) +([st])([0-9]+)( +m([0-9]+)(\\.([0-9]+))?"
      "( +(->|<-) +([rs])([0-9]+))?)?$"),
      shortForm("^(([0-9]+)([<>]([0-9]+))?)?([A-Za-z_]+)(([0-9]+)([a-z]?))?$");
  SmallVector<StringRef> part;
  std::optional<StepKind> kind;
  StringRef stage, microbatch, slice, chunk, otherStage, peer;
  text = text.trim();
  if (longForm.match(text, &part)) {
    kind = parseStepKind(part[1]);
    if (!kind || part[2] != (streamOf(*kind) == Stream::Tied ? "t" : "s"))
      return std::nullopt;
    stage = part[3];
    microbatch = part[5];
    slice = part[7];
    (part[10] == "s" ? otherStage : peer) = part[11];
  } else if (shortForm.match(text, &part)) {
    kind = parseStepKind(part[5]);
    if (!kind)
      kind = parseStepKind(part[5].upper());
    stage = part[2];
    otherStage = part[4];
    microbatch = part[7];
    chunk = part[8];
    bool namesStep = stage.empty() ? !microbatch.empty() : chunk.empty();
    if (!kind || streamOf(*kind) == Stream::Tied || !namesStep)
      return std::nullopt;
  }
  if (!kind || !(hasStage(*kind) || streamOf(*kind) == Stream::Tied) ||
      hasUnit(*kind) == microbatch.empty())
    return std::nullopt;
  WantedStep step;
  step.kind = *kind;
  bool fits = true;
  auto read = [&](StringRef digits, std::optional<unsigned> &into,
                  uint64_t end) {
    if (!digits.empty())
      fits &= !digits.getAsInteger(10, into.emplace()) && *into < end;
  };
  std::optional<unsigned> number;
  read(stage, step.stage, maxStages);
  read(microbatch, number, maxUnits);
  read(slice, step.slice, maxUnits);
  read(otherStage, step.otherStage, uint64_t(1) << 32);
  read(peer, step.peer, uint64_t(1) << 32);
  if (!fits)
    return std::nullopt;
  step.microbatch = number.value_or(0);
  if (!chunk.empty())
    step.chunk = chunk[0] - 'a';
  return step;
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
  auto isUnit = [&](unsigned unit) {
    return wanted.slice ? unit / schedule.numSlices == wanted.microbatch &&
                              unit % schedule.numSlices == *wanted.slice
                        : unit == wanted.microbatch;
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
          isUnit(step.unit()) && hasOtherEnd(step)) {
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

  FailureOr<std::optional<CommModel>> model = readModel(run.args, diags);
  if (failed(model))
    return failure();
  FailureOr<Simulation> times = simulate(schedule, *model, diags);
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
