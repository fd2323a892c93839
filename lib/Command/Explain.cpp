//===- Explain.cpp - The explain command -----===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a rank does at a time, or when a step runs, and why not earlier: a line
// with the answer, a note with its place in the source for every link of the
// chain of causes, latest first, and what the rank keeps.
//
//===----------------------------------------------------------------------===//

#include "Command/Command.h"

#include "Analysis/IdleGaps.h"
#include "Driver/Input.h"
#include "Driver/Passes.h"
#include "IR/StepPlaces.h"
#include "Support/Decimal.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

#include <limits>

using namespace llvm;

namespace pipec {

/// Links of a chain, and open transfers, that are shown; nobody reads more.
static constexpr size_t maxLinks = 64;
static constexpr size_t maxTransfers = 8;

namespace {

struct ExplainFlags {
  cl::OptionCategory category{"pipec explain options"};
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
  DiagFlags diags{category};
  cl::opt<std::string> output{"o", cl::desc("Write the explanation to FILE"),
                              cl::value_desc("FILE"), cl::init("-"),
                              cl::cat(category)};
};

/// What the command line asks.
struct Question {
  std::optional<unsigned> rank;
  std::optional<Rational> time;
  /// Kind, stage and micro-batch of the step that is asked for.
  std::optional<Step> step;
};

/// Answers questions about one run.
class Explainer {
public:
  Explainer(const Schedule &schedule, const Simulation &run,
            const MemoryModel &memory, raw_ostream &os,
            const SourceFiles &files, bool showKinds)
      : schedule(schedule), run(run), memory(memory), causes(schedule, run),
        places(schedule), os(os), files(files), printer(os, files, "pipec") {
    printer.setShowKinds(showKinds);
  }

  void explainTime(unsigned rank, Rational at);
  void explainStep(StepRef step);

private:
  /// A compute step or overlap of a rank.
  struct Busy {
    size_t begin = 0;
    int64_t start = 0;
    int64_t end = 0;
  };

  void explainGap(unsigned rank, int64_t from, int64_t to, size_t next,
                  int64_t since);
  void printChain(const PathSteps &chain);
  void printLink(const PathStep &link);
  void printReady(const IdleGap &gap);
  void printParts(const WaitParts &parts);
  void printMemory(unsigned rank, int64_t time);
  void printTransfers(unsigned rank, int64_t time);

  template <diag::Id id, unsigned n, typename... Args>
  void note(SourceLoc source, diag::Kind<id, Severity::Note, n>,
            const Args &...args) {
    static_assert(sizeof...(Args) == n, "arguments do not fit the format");
    SMLoc loc = files.expand(source);
    printer({id, Severity::Note, SMRange(loc, loc),
             DiagEngine::format(id, args...)});
  }

  /// The last tick that is not behind `at`: steps start and end at ticks.
  int64_t tickOf(Rational at) const {
    std::optional<Rational> ticks =
        Rational::mul(at, Rational(run.costs().perUnit()));
    return ticks ? ticks->floor() : std::numeric_limits<int64_t>::max();
  }
  std::string time(int64_t ticks) const { return decimalText(run.time(ticks)); }
  /// An overlap as a whole; of a batch the member alone.
  std::string text(uint32_t step) const {
    StepRef at = run.numbers().at(step);
    return isP2P(stepAt(step).kind()) ? places.text(stepAt(step))
                                      : places.groupText(at.rank, at.index);
  }
  const Step &stepAt(uint32_t step) const {
    StepRef at = run.numbers().at(step);
    return schedule.ranks[at.rank][at.index];
  }

  const Schedule &schedule;
  const Simulation &run;
  const MemoryModel &memory;
  Causes causes;
  StepPlaces places;
  raw_ostream &os;
  const SourceFiles &files;
  DiagPrinter printer;
};

} // namespace

//===----------------------------------------------------------------------===//
// Notes
//===----------------------------------------------------------------------===//

/// Says when a step runs or goes, and what it waited for.
void Explainer::printLink(const PathStep &link) {
  StepRef at = run.numbers().at(link.step);
  SourceLoc source = stepAt(link.step).source();
  StepPlace place = places.name(at.rank, at.index);
  place.step = text(link.step);
  bool computes = isCompute(stepAt(link.step).kind());
  std::string when = computes ? "runs" : "goes";
  if (link.start == link.end)
    when = "starts at " + time(link.start);
  else
    when += " from " + time(link.start) + " to " + time(link.end);
  std::string before;
  unsigned beforeRank = 0;
  if (link.before != StepNumbers::none) {
    before = text(link.before);
    beforeRank = run.numbers().rankOf(link.before);
  }
  switch (link.reason) {
  case Reason::First:
    return note(source, diag::NoteRunsFirst, place, when);
  case Reason::Order:
    return note(source, diag::NoteRunsOrder, place, when, before);
  case Reason::Data:
    return note(source, diag::NoteRunsData, place, when, before, beforeRank,
                "is there");
  case Reason::Receive:
  case Reason::Gather:
    return note(source, diag::NoteRunsOnce, place, when, before);
  case Reason::Post:
    return note(source, diag::NoteGoesPosted, place, when, before);
  case Reason::Queue:
    return note(source, diag::NoteGoesQueue, place, when, before,
                "in its queue");
  case Reason::Edge:
    if (computes)
      return note(source, diag::NoteRunsData, place, when, before, beforeRank,
                  "and what stood behind it on the edge are there");
    return note(source, diag::NoteGoesQueue, place, when, before,
                "on its edge");
  case Reason::Peer:
    return note(source, diag::NoteGoesPeer, place, when, beforeRank, before);
  case Reason::Batch:
    return note(source, diag::NoteGoesBatch, place, time(link.end), before);
  }
}

/// Prints a chain, the latest link first.
void Explainer::printChain(const PathSteps &chain) {
  size_t shown = 0;
  for (const PathStep &link : reverse(chain)) {
    if (shown++ == maxLinks) {
      os << "... " << chain.size() - maxLinks << " more steps, until "
         << time(chain.front().start) << '\n';
      return;
    }
    printLink(link);
  }
}

/// Names a step that could have filled a gap.
void Explainer::printReady(const IdleGap &gap) {
  if (!gap.ready)
    return;
  StepPlace place = places.name(gap.rank, gap.ready->index);
  SourceLoc source = schedule.ranks[gap.rank][gap.ready->index].source();
  if (gap.overLimit)
    note(source, diag::NoteReadyOverLimit, place,
         decimalText(memory.size(gap.held)),
         decimalText(*schedule.memory.limit));
  else
    note(source, diag::NoteReadyBehind, place);
}

//===----------------------------------------------------------------------===//
// What a rank keeps, and what it has under way
//===----------------------------------------------------------------------===//

void Explainer::printMemory(unsigned rank, int64_t time) {
  MemoryLevel at;
  memory.curve(run, rank, [&](int64_t from, const MemoryLevel &level) {
    if (from <= time)
      at = level;
  });
  MemoryPeaks peaks = memory.peaks(rank);
  os << "memory: activations " << decimalText(memory.size(at.activations))
     << " (peak " << decimalText(peaks.activations) << ')';
  if (peaks.receiveCount) {
    os << ", receive buffers " << at.receiveCount;
    if (!peaks.receives.isZero())
      os << " of " << decimalText(memory.size(at.receives));
    os << " (peak " << peaks.receiveCount << ')';
  }
  if (!peaks.parameters.isZero())
    os << ", parameters " << decimalText(memory.size(at.parameters))
       << " (peak " << decimalText(peaks.parameters) << ')';
  if (!peaks.receives.isZero() || !peaks.parameters.isZero())
    os << ", together " << decimalText(memory.size(at.total())) << " (peak "
       << decimalText(peaks.total) << ')';
  if (schedule.memory.limit)
    os << ", limit " << decimalText(*schedule.memory.limit);
  os << '\n';
}

/// Names the transfers and collectives that the rank has come to and that are
/// not complete.
void Explainer::printTransfers(unsigned rank, int64_t time) {
  const StepList &list = schedule.ranks[rank];
  int64_t now = run.begin();
  std::vector<PathStep> open;
  for (size_t i = 0; i != list.size() && now <= time; ++i) {
    if (isCompute(list[i].kind()))
      now = run.start(rank, i) > time ? run.start(rank, i) : run.end(rank, i);
    else if ((run.model() || !isP2P(list[i].kind())) && run.end(rank, i) > time)
      open.push_back(causes.link(run.numbers().of(rank, i)));
  }
  if (open.empty())
    return;
  os << "posted and not complete: " << open.size() << '\n';
  for (const PathStep &link : ArrayRef(open).take_front(maxTransfers))
    printLink(link);
  if (open.size() > maxTransfers)
    os << "... " << open.size() - maxTransfers << " more\n";
}

//===----------------------------------------------------------------------===//
// Answers
//===----------------------------------------------------------------------===//

void Explainer::printParts(const WaitParts &parts) {
  SmallVector<std::string, 4> words;
  auto add = [&](int64_t ticks, StringRef what) {
    if (ticks)
      words.push_back((time(ticks) + " " + what).str());
  };
  add(parts.dependency, "for other ranks to compute");
  add(parts.latency, "for the input to arrive");
  add(parts.queue, "for transfers that wait for each other");
  add(parts.gather, "for parameters");
  os << "waits: " << join(words, ", ") << '\n';
}

/// Explains a gap of `rank`: the chain of causes of the step behind it back to
/// what went on at `since`.
void Explainer::explainGap(unsigned rank, int64_t from, int64_t to, size_t next,
                           int64_t since) {
  IdleGap gap;
  gap.rank = rank;
  gap.start = from;
  gap.end = to;
  gap.before = StepRef{rank, uint32_t(next)};
  pipec::explainGap(gap, causes, memory);
  printParts(gap.parts);
  printChain(causes.chain(run.numbers().of(gap.before), since));
  printReady(gap);
}

void Explainer::explainTime(unsigned rank, Rational at) {
  os << "rank " << rank << " at " << decimalText(at) << ": ";
  const StepList &list = schedule.ranks[rank];
  int64_t tick = tickOf(at);
  int64_t free = run.begin();
  size_t begin = 0;
  for (size_t end = 0; begin != list.size(); begin = end) {
    end = Schedule::groupEnd(list, begin);
    if (!isCompute(list[begin].kind()))
      continue;
    int64_t start = run.start(rank, begin), stop = run.end(rank, begin);
    if (tick < start) {
      os << "idle from " << time(free) << " to " << time(start) << ", before `"
         << places.groupText(rank, begin) << "`\n";
      explainGap(rank, free, start, begin, tick);
      break;
    }
    if (tick < stop) {
      os << "runs `" << places.groupText(rank, begin) << "` from "
         << time(start) << " to " << time(stop) << '\n';
      if (free < start)
        explainGap(rank, free, start, begin, free);
      else
        printLink(causes.link(run.numbers().of(rank, begin)));
      break;
    }
    free = stop;
  }
  if (begin == list.size()) {
    os << "idle since " << time(free)
       << ", with all its steps done; the schedule ends at "
       << time(run.begin() + run.makespan()) << '\n';
  }
  printMemory(rank, tick);
  printTransfers(rank, tick);
}

void Explainer::explainStep(StepRef step) {
  const StepList &list = schedule.ranks[step.rank];
  uint32_t number = run.numbers().of(step);
  PathStep link = causes.link(number);
  bool computes = isCompute(list[step.index].kind());
  os << "rank " << step.rank << ": `" << text(number)
     << (computes ? "` runs from " : "` goes from ") << time(link.start)
     << " to " << time(link.end) << '\n';
  int64_t free = run.begin();
  for (size_t i = 0; i != step.index; ++i)
    if (isCompute(list[i].kind()) && !list[i].joined())
      free = run.end(step.rank, i);
  if (computes && free < link.start)
    explainGap(step.rank, free, link.start, run.numbers().at(link.step).index,
               free);
  else
    printChain(causes.chain(number, std::min(free, link.start)));
  printMemory(step.rank, link.start);
}

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
                            const Schedule &schedule, raw_ostream &out,
                            DiagSession &session) {
  DiagEngine &diags = session.engine();
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
  FailureOr<Simulation> run =
      schedule.hasP2P()
          ? simulate(schedule, model.value_or(WaitModel::Edge), diags)
          : simulate(schedule, diags);
  FailureOr<MemoryModel> memory = MemoryModel::make(schedule, diags);
  if (failed(run) || failed(memory) || failed(Causes::check(schedule, diags)))
    return failure();
  auto file = OutputFile::open(flags.output, out, diags);
  if (failed(file))
    return failure();
  Explainer explainer(schedule, *run, *memory, (*file)->stream(),
                      session.files(), flags.diags.showKinds);
  if (step)
    explainer.explainStep(*step);
  else
    explainer.explainTime(*question.rank, *question.time);
  return (*file)->commit(diags);
}

static LogicalResult run(const ExplainFlags &flags, StringRef program,
                         raw_ostream &out, raw_ostream &err,
                         DiagSession &session) {
  DiagEngine &diags = session.engine();
  FailureOr<Question> question = readQuestion(flags, diags);
  if (failed(question))
    return failure();
  FailureOr<StringRef> list = flags.target.choose(flags.passes, "", diags);
  if (failed(list))
    return failure();
  FailureOr<PassRun> passes = PassRun::make(flags.passes, *list, err, diags);
  if (failed(passes))
    return failure();
  SearchPath search(program, flags.input.includes);
  FailureOr<OpenedInput> input = openInput(flags.input, search, diags);
  if (failed(input))
    return failure();
  FailureOr<Schedule> schedule =
      makeSchedule(flags.input, *input, search, diags);
  if (failed(schedule) || failed(passes->run(*schedule, diags)))
    return failure();
  return answer(flags, *question, *schedule, out, session);
}

int explainMain(int argc, const char *const *argv, raw_ostream &out,
                raw_ostream &err) {
  DiagSession session("pipec", err);
  ExplainFlags flags;
  if (failed(parseCommandLine(argc, argv, flags.category,
                              "Says what a rank does at a time, or when a step "
                              "runs, and why not earlier.",
                              flags.diags, session)))
    return session.finish(failure());
  std::string program = sys::fs::getMainExecutable(
      argv[0], reinterpret_cast<void *>(&explainMain));
  return session.finish(run(flags, program, out, err, session));
}

} // namespace pipec
