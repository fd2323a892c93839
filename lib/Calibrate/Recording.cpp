//===- Recording.cpp - Training steps of all ranks ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Calibrate/Recording.h"

#include "Driver/Grid.h"
#include "Driver/Io.h"
#include "Driver/Program.h"
#include "Import/Lists.h"
#include "Support/Diagnostics/CalibrateDiags.h"
#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Words.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

#include <limits>
#include <set>

using namespace llvm;

namespace pipec {

namespace {

class RecordingMaker {
public:
  RecordingMaker(TraceCells cells, const RecordingOptions &options,
                 DiagEngine &diags)
      : options(options), diags(diags) {
    recording.cells = std::move(cells);
  }

  LogicalResult run(std::vector<RankTrace> traces);
  Recording recording;

private:
  InFlightDiagnostic reportMissing(size_t traces, size_t rank) {
    return diags.report(DiagLoc(), diag::TraceRankMissing,
                        countText(traces, "rank"), rank);
  }
  LogicalResult orderRanks(std::vector<RankTrace> &traces);
  LogicalResult findSizes();
  LogicalResult checkForwards();
  LogicalResult findFlow();

  /// Calls `each` with rank, cell and step for the first training step.
  void forEachStep(function_ref<void(uint32_t, uint32_t, Step)> each) const {
    for (auto [number, rank] : enumerate(recording.ranks))
      for (const StepSpan &span : rank.steps.front())
        for (Step step : recording.cells[span.cell])
          each(uint32_t(number), span.cell, step);
  }

  const RecordingOptions &options;
  DiagEngine &diags;
};

} // namespace

//===----------------------------------------------------------------------===//
// Ranks
//===----------------------------------------------------------------------===//

/// Puts the traces into the order of their ranks.
LogicalResult RecordingMaker::orderRanks(std::vector<RankTrace> &traces) {
  for (const RankTrace &trace : traces)
    if (trace.path != traces[0].path &&
        (trace.origin == TraceOrigin::Executor ||
         traces[0].origin == TraceOrigin::Executor)) {
      bool first = traces[0].origin == TraceOrigin::Executor;
      return diags.report(DiagLoc(), diag::TraceMixed,
                          first ? traces[0].path : trace.path,
                          first ? trace.path : traces[0].path);
    }
  bool someKnown = false, allPipeline = true;
  for (RankTrace &trace : traces) {
    if (auto it = options.ranks.find(trace.path); it != options.ranks.end()) {
      trace.rank = it->second;
      trace.isPipelineRank = true;
    }
    someKnown |= trace.rank.has_value();
    allPipeline &= trace.rank && trace.isPipelineRank;
  }
  for (auto [i, trace] : enumerate(traces)) {
    if (!trace.rank && someKnown)
      return diags.report(DiagLoc(), diag::TraceRankUnknown, trace.path);
    if (!trace.rank)
      trace.rank = i;
  }
  std::ranges::stable_sort(traces, {}, &RankTrace::rank);
  for (size_t i = 0; i != traces.size(); ++i) {
    if (i != 0 && traces[i].rank == traces[i - 1].rank)
      return diags.report(DiagLoc(), diag::TraceRankTwice, traces[i - 1].path,
                          traces[i].path, *traces[i].rank);
    // Ranks of a whole job may have others between them.
    if (allPipeline && *traces[i].rank != i)
      return reportMissing(traces.size(), i);
  }
  for (const RankTrace &trace : traces)
    if (trace.numRanks && *trace.numRanks > traces.size())
      return reportMissing(traces.size(), traces.size());
  return success();
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

/// Reports the first forward that no trace has: each stage runs each
/// micro-batch. Linear in the spans, however large the numbers are.
LogicalResult RecordingMaker::checkForwards() {
  std::set<std::pair<unsigned, unsigned>> forwards;
  forEachStep([&](uint32_t, uint32_t, Step step) {
    if (step.kind() == StepKind::F)
      forwards.insert({step.stage(), step.unit()});
  });
  std::pair<unsigned, unsigned> next = {0, 0};
  for (auto forward : forwards) {
    if (forward != next)
      break;
    if (++next.second == recording.numUnits)
      next = {next.first + 1, 0};
  }
  if (next.first == recording.numStages)
    return success();
  return diags.report(DiagLoc(), diag::TraceStepMissing,
                      cellText(Step(StepKind::F, next.first, next.second)),
                      countText(recording.numStages, "stage"),
                      countText(recording.numUnits, "micro-batch", "es"));
}

/// The highest stage that a step names, or that follows from its edge of the
/// chain.
static unsigned highestStage(Step step, std::optional<unsigned> peer) {
  if (peer)
    return std::max(step.stage(), *peer);
  return step.stage() + (isP2P(step.kind()) && goesUp(step.kind()));
}

/// Finds the numbers of stages and micro-batches, and checks that the traces
/// are of one pipeline.
LogicalResult RecordingMaker::findSizes() {
  DenseMap<std::pair<uint64_t, unsigned>, unsigned> owners;
  std::vector<bool> stages;
  unsigned numStages = 0;
  for (auto [number, rank] : enumerate(recording.ranks)) {
    for (const StepSpan &span : rank.steps.front())
      for (Step step : recording.cells[span.cell]) {
        if (isP2P(step.kind()))
          numStages =
              std::max(numStages,
                       1 + highestStage(step, recording.cells.peer(span.cell)));
        if (!isCompute(step.kind()))
          continue;
        auto [it, isNew] = owners.try_emplace(stepKey(step), unsigned(number));
        if (!isNew && it->second != number)
          return diags.report(DiagLoc(), diag::TraceStepTwice, cellText(step),
                              it->second, recording.ranks[it->second].path,
                              number, rank.path);
        recording.numUnits = std::max(recording.numUnits, step.unit() + 1);
        if (step.stage() >= stages.size())
          stages.resize(step.stage() + 1);
        stages[step.stage()] = true;
      }
    const RecordedRank &first = recording.ranks.front();
    if (rank.steps.size() != first.steps.size() && recording.stepsAgree) {
      recording.stepsAgree = false;
      (void)diags.report(DiagLoc(), diag::TraceStepCounts, first.path,
                         countText(first.steps.size(), "training step"),
                         rank.path,
                         countText(rank.steps.size(), "training step"));
    }
  }
  stages.resize(std::max<size_t>(stages.size(), numStages));
  recording.numStages = stages.size();
  for (size_t stage = 0; stage != stages.size(); ++stage)
    if (!stages[stage])
      return diags.report(DiagLoc(), diag::TraceStageMissing, stage,
                          countText(stages.size(), "stage"));
  return checkForwards();
}

/// Infers the stage graph from one training step as from the lists of a CSV,
/// and sets the ports of the transfers.
LogicalResult RecordingMaker::findFlow() {
  Schedule schedule;
  schedule.numRanks = recording.ranks.size();
  schedule.numStages = recording.numStages;
  schedule.numUnits = recording.numUnits;
  schedule.ranks.resize(schedule.numRanks);
  std::vector<uint32_t> owners(recording.numStages);
  ListGraph graph;
  forEachStep([&](uint32_t rank, uint32_t cell, Step step) {
    StepList &list = schedule.ranks[rank];
    if (std::optional<unsigned> peer = recording.cells.peer(cell))
      graph.note(step, rank, list.size(), *peer);
    list.push_back(step);
    if (isCompute(step.kind()))
      owners[step.stage()] = rank;
  });
  schedule.placement = Placement({std::move(owners)});
  if (failed(graph.apply(schedule, ListOptions(), diags)))
    return failure();
  std::vector<size_t> next(schedule.numRanks);
  forEachStep([&](uint32_t rank, uint32_t cell, Step) {
    recording.cells.setPort(cell, schedule.ranks[rank][next[rank]++].port());
  });
  recording.flow.emplace(schedule);
  return success();
}

LogicalResult RecordingMaker::run(std::vector<RankTrace> traces) {
  if (failed(orderRanks(traces)))
    return failure();
  for (RankTrace &trace : traces) {
    FailureOr<RecordedRank> rank =
        splitTrace(trace, recording.cells, options.warmup, diags);
    if (failed(rank))
      return failure();
    recording.ranks.push_back(std::move(*rank));
  }
  return failed(findSizes()) ? failure() : findFlow();
}

std::optional<size_t> Recording::datumOf(Step step) const {
  if (step.stage() >= numStages || step.unit() >= numUnits)
    return std::nullopt;
  ArrayRef<DataFlow::Port> inputs = flow->inputs(step);
  const DataFlow::Port *port = isP2P(step.kind()) || isSendWait(step.kind())
                                   ? flow->transfer(step)
                               : inputs.size() == 1 ? inputs.begin()
                                                    : nullptr;
  return port ? std::optional(flow->datum(*port, step.unit())) : std::nullopt;
}

FailureOr<Recording> makeRecording(std::vector<RankTrace> traces,
                                   TraceCells cells,
                                   const RecordingOptions &options,
                                   DiagEngine &diags) {
  RecordingMaker maker(std::move(cells), options, diags);
  if (failed(maker.run(std::move(traces))))
    return failure();
  return std::move(maker.recording);
}

//===----------------------------------------------------------------------===//
// Command lines
//===----------------------------------------------------------------------===//

/// The traces in a folder, sorted by name: its compressed files, as
/// `pipec.torch.profile` writes them, or if there are none, its JSON files.
static FailureOr<std::vector<std::string>> tracesIn(StringRef folder,
                                                    DiagEngine &diags) {
  for (StringRef ending : {".json.gz", ".json"})
    if (std::vector<std::string> files = filesIn(folder, ending);
        !files.empty())
      return files;
  return diags.report(DiagLoc(), diag::FileUnreadable, folder,
                      "is a directory without traces");
}

FailureOr<Recording> readTraces(const Arguments &args,
                                ArrayRef<std::string> inputs,
                                Progress &progress, DiagEngine &diags) {
  std::vector<std::string> paths;
  for (const std::string &input : inputs) {
    if (input == "-" || !sys::fs::is_directory(input)) {
      paths.push_back(input);
      continue;
    }
    FailureOr<std::vector<std::string>> files = tracesIn(input, diags);
    if (failed(files))
      return failure();
    llvm::append_range(paths, *files);
  }
  RecordingOptions options;
  options.warmup = args.number(Opt::Warmup);
  for (StringRef text : args.list(Opt::RanksOf)) {
    auto [path, number] = text.rsplit('=');
    unsigned rank = 0;
    if (number.getAsInteger(10, rank) || rank >= maxRanks)
      return diags.report(DiagLoc(), diag::OptionValue, shortened(text),
                          "--ranks-of", "FILE=RANK");
    if (!is_contained(paths, path))
      return diags.report(DiagLoc(), diag::OptionValue, shortened(path),
                          "--ranks-of", "one of the traces");
    if (!options.ranks.try_emplace(path.str(), rank).second)
      return diags.report(DiagLoc(), diag::ValueTwice, shortened(path),
                          "--ranks-of");
  }
  progress.phase("reading traces");
  TraceCells cells;
  std::vector<RankTrace> traces;
  for (const std::string &path : paths)
    if (failed(readTrace(path, cells, traces, diags)))
      return failure();
  return makeRecording(std::move(traces), std::move(cells), options, diags);
}

void setSizes(Grid &sizes, const Recording &recording) {
  int64_t ranks = recording.ranks.size();
  sizes.setDefault("ranks", ranks);
  sizes.setDefault("microbatches", int64_t(recording.numUnits));
  sizes.setDefault("chunks", std::max<int64_t>(recording.numStages / ranks, 1));
}

LogicalResult checkFits(const Recording &recording, const Schedule &schedule,
                        DiagEngine &diags) {
  auto sameSize = [&](size_t traced, size_t has, StringRef one,
                      StringRef plural) -> LogicalResult {
    if (traced == has)
      return success();
    return diags.report(schedule.source, diag::TraceOtherSizes,
                        countText(traced, one, plural), schedule.name, has);
  };
  if (failed(
          sameSize(recording.ranks.size(), schedule.numRanks, "rank", "s")) ||
      failed(sameSize(recording.numStages, schedule.numStages, "stage", "s")) ||
      failed(
          sameSize(recording.numUnits, schedule.numUnits, "micro-batch", "es")))
    return failure();
  for (auto [number, rank] : enumerate(recording.ranks)) {
    DenseSet<std::pair<uint64_t, unsigned>> traced, due;
    for (const StepSpan &span : rank.steps.front())
      for (Step step : recording.cells[span.cell])
        traced.insert(stepKey(step));
    for (Step step : schedule.ranks[number]) {
      if (!isCompute(step.kind()))
        continue;
      due.insert(stepKey(step));
      if (!traced.contains(stepKey(step)))
        return diags.report(step.source(), diag::TraceStepNotThere,
                            cellText(step), schedule.name, number);
    }
    for (const StepSpan &span : rank.steps.front())
      for (Step step : recording.cells[span.cell])
        if (isCompute(step.kind()) && !due.contains(stepKey(step)))
          return diags.report(schedule.source, diag::TraceStepTooMany, number,
                              cellText(step), schedule.name);
  }
  return success();
}

} // namespace pipec
