//===- Recording.cpp - Training steps of all ranks ------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Calibrate/Recording.h"

#include "Calibrate/TraceReader.h"
#include "Import/ListGraph.h"
#include "Support/Diagnostics/CalibrateDiags.h"
#include "Support/Words.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

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
  LogicalResult addRank(RankTrace &trace);
  LogicalResult chooseSteps(RecordedRank &rank);
  LogicalResult findSizes();
  LogicalResult checkForwards();
  LogicalResult findFlow();

  std::vector<std::vector<StepSpan>> splitSteps(const RankTrace &trace);
  void useDevice(RecordedRank &rank, ArrayRef<TraceSpan> device);
  void useKernels(RecordedRank &rank, ArrayRef<KernelSpan> kernels);
  void addHostTime(RecordedRank &rank);
  void addWaits(RecordedRank &rank, ArrayRef<TraceSpan> waits);

  /// Calls `each` with rank, cell and step for the first training step.
  void forEachStep(function_ref<void(uint32_t, uint32_t, Step)> each) const {
    for (auto [number, rank] : enumerate(recording.ranks))
      for (const StepSpan &span : rank.steps.front())
        for (Step step : recording.cells[span.cell])
          each(uint32_t(number), span.cell, step);
  }
  bool hasMicrobatch(uint32_t cell) const {
    return pipec::hasMicrobatch(recording.cells[cell][0].kind());
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
  llvm::stable_sort(traces, [](const RankTrace &a, const RankTrace &b) {
    return *a.rank < *b.rank;
  });
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
// Training steps
//===----------------------------------------------------------------------===//

/// Cuts a trace where a step comes again: every step that has a micro-batch
/// comes once in a training step.
std::vector<std::vector<StepSpan>>
RecordingMaker::splitSteps(const RankTrace &trace) {
  std::vector<std::vector<StepSpan>> steps;
  DenseSet<uint32_t> seen;
  uint32_t run = 0;
  for (const TraceSpan &span : trace.steps) {
    bool again = hasMicrobatch(span.cell) && !seen.insert(span.cell).second;
    if (trace.origin == TraceOrigin::Executor)
      again = span.group != run;
    if (steps.empty() || again) {
      std::vector<StepSpan> next;
      // A training step begins with the UNSHARDs before its first step.
      if (again && !steps.empty() && trace.origin == TraceOrigin::Kineto) {
        std::vector<StepSpan> &before = steps.back();
        auto begin = before.end();
        while (begin != before.begin() &&
               recording.cells[begin[-1].cell][0].kind() == StepKind::Unshard)
          --begin;
        next.assign(begin, before.end());
        before.erase(begin, before.end());
      }
      steps.push_back(std::move(next));
      seen.clear();
      seen.insert(span.cell);
      run = span.group;
    }
    StepSpan step;
    step.cell = span.cell;
    step.start = step.hostStart = span.start;
    step.end = step.hostEnd = span.end;
    steps.back().push_back(step);
  }
  return steps;
}

/// Replaces the times of the host by those of the device: the i-th span of a
/// name on a stream is that of the i-th span of the name on the host, where
/// both have as many.
void RecordingMaker::useDevice(RecordedRank &rank, ArrayRef<TraceSpan> device) {
  DenseMap<uint32_t, std::vector<StepSpan *>> hosts;
  for (std::vector<StepSpan> &step : rank.steps)
    for (StepSpan &span : step)
      hosts[span.cell].push_back(&span);
  std::map<std::pair<uint32_t, uint32_t>, std::vector<const TraceSpan *>>
      streams;
  for (const TraceSpan &span : device)
    streams[{span.cell, span.group}].push_back(&span);
  for (const auto &[key, spans] : streams) {
    std::vector<StepSpan *> &onHost = hosts[key.first];
    if (onHost.size() != spans.size())
      continue;
    for (auto [host, span] : zip_equal(onHost, spans)) {
      // Several streams of one step run at the same time.
      host->start =
          host->isDevice ? std::min(host->start, span->start) : span->start;
      host->end = host->isDevice ? std::max(host->end, span->end) : span->end;
      host->isDevice = true;
    }
  }
}

/// Takes waits off the compute steps that they are in.
void RecordingMaker::addWaits(RecordedRank &rank, ArrayRef<TraceSpan> waits) {
  rank.waits.resize(rank.steps.size());
  size_t next = 0;
  for (auto [i, step] : enumerate(rank.steps)) {
    for (StepSpan &span : step) {
      while (next != waits.size() && waits[next].start < span.hostStart)
        ++next;
      if (!isCompute(recording.cells[span.cell][0].kind()))
        continue;
      int64_t covered = span.hostStart;
      while (next != waits.size() && waits[next].start < span.hostEnd) {
        // Waits do not add up where they overlap.
        int64_t from = std::max(waits[next].start, covered);
        int64_t to = std::min(waits[next].end, span.hostEnd);
        if (!span.isDevice && to > from)
          span.waited += to - from;
        covered = std::max(covered, to);
        rank.waits[i].push_back(waits[next++]);
      }
    }
  }
}

/// From the first start to the last end of `kernels`, of the stream on which
/// they take longest.
static std::pair<int64_t, int64_t> busiestSpan(ArrayRef<KernelSpan> kernels) {
  std::map<uint32_t, int64_t> busy;
  for (const KernelSpan &kernel : kernels)
    busy[kernel.stream] += kernel.end - kernel.start;
  uint32_t stream = llvm::max_element(busy, [](const auto &a, const auto &b) {
                      return a.second < b.second;
                    })->first;
  std::pair<int64_t, int64_t> span = {std::numeric_limits<int64_t>::max(),
                                      std::numeric_limits<int64_t>::min()};
  for (const KernelSpan &kernel : kernels)
    if (kernel.stream == stream)
      span = {std::min(span.first, kernel.start),
              std::max(span.second, kernel.end)};
  return span;
}

/// The average number of compute steps that a kernel may be launched in.
static constexpr size_t maxShares = 16;

/// Adds the kernels that the host launched in each compute step, of the stream
/// on which they take longest.
void RecordingMaker::useKernels(RecordedRank &rank,
                                ArrayRef<KernelSpan> kernels) {
  auto firstAt = [&](int64_t time) {
    return llvm::partition_point(
               kernels,
               [&](const KernelSpan &kernel) { return kernel.launch < time; }) -
           kernels.begin();
  };
  // Steps at one time have the same kernels. The spans of a trace rarely share
  // others; a limit on all work keeps it linear if they all do.
  std::pair<size_t, size_t> known = {0, 0};
  std::pair<int64_t, int64_t> busiest;
  size_t left = maxShares * kernels.size();
  for (std::vector<StepSpan> &step : rank.steps)
    for (StepSpan &span : step) {
      if (!isCompute(recording.cells[span.cell][0].kind()))
        continue;
      std::pair<size_t, size_t> range = {firstAt(span.hostStart),
                                         firstAt(span.hostEnd)};
      size_t count = range.second - std::min(range.first, range.second);
      if (count == 0 || (range != known && count > left))
        continue;
      if (range != known) {
        busiest = busiestSpan(kernels.slice(range.first, count));
        left -= count;
      }
      known = range;
      span.start =
          span.isDevice ? std::min(span.start, busiest.first) : busiest.first;
      span.end =
          span.isDevice ? std::max(span.end, busiest.second) : busiest.second;
      span.isDevice = true;
    }
}

/// Adds what the host does between two compute steps to the first of them.
void RecordingMaker::addHostTime(RecordedRank &rank) {
  bool executor = rank.origin == TraceOrigin::Executor;
  for (std::vector<StepSpan> &step : rank.steps) {
    StepSpan *before = nullptr;
    int64_t waited = 0;
    for (StepSpan &span : step) {
      StepKind kind = recording.cells[span.cell][0].kind();
      if (isWait(kind) || (executor && (isRecv(kind) || isFsdp(kind))))
        waited += span.hostEnd - span.hostStart;
      if (!isCompute(kind))
        continue;
      if (before && !before->isDevice)
        before->host =
            std::max<int64_t>(span.hostStart - before->hostEnd - waited, 0);
      before = &span;
      waited = 0;
    }
  }
}

/// Leaves out training steps that are not complete, and the first ones.
LogicalResult RecordingMaker::chooseSteps(RecordedRank &rank) {
  auto cellsOf = [](const std::vector<StepSpan> &step) {
    std::vector<uint32_t> cells;
    for (const StepSpan &span : step)
      cells.push_back(span.cell);
    llvm::sort(cells);
    return cells;
  };
  std::map<std::vector<uint32_t>, unsigned> kinds;
  for (const auto &step : rank.steps)
    ++kinds[cellsOf(step)];
  // What most of them have is complete; of two the longer one.
  auto complete = llvm::max_element(kinds, [](const auto &a, const auto &b) {
    return std::pair(a.second, a.first.size()) <
           std::pair(b.second, b.first.size());
  });
  size_t before = rank.steps.size();
  llvm::erase_if(rank.steps, [&](const std::vector<StepSpan> &step) {
    return cellsOf(step) != complete->first;
  });
  if (size_t partial = before - rank.steps.size())
    (void)diags.report(DiagLoc(), diag::TracePartialSteps, rank.path,
                       countText(partial, "training step"));
  if (none_of(complete->first, [&](uint32_t cell) {
        return isCompute(recording.cells[cell][0].kind());
      }))
    return diags.report(DiagLoc(), diag::TraceNoWholeStep, rank.path);
  size_t warmup = options.warmup.value_or(rank.steps.size() > 1);
  if (warmup >= rank.steps.size())
    return diags.report(DiagLoc(), diag::TraceTooFewSteps, rank.path,
                        countText(rank.steps.size(), "complete training step"),
                        warmup);
  rank.steps.erase(rank.steps.begin(), rank.steps.begin() + warmup);
  return success();
}

LogicalResult RecordingMaker::addRank(RankTrace &trace) {
  RecordedRank &rank = recording.ranks.emplace_back();
  rank.path = trace.path;
  rank.host = trace.host;
  rank.origin = trace.origin;
  rank.hasDevice = !trace.device.empty() || !trace.kernels.empty();
  rank.hasWaits = !trace.waits.empty();
  rank.steps = splitSteps(trace);
  useDevice(rank, trace.device);
  useKernels(rank, trace.kernels);
  if (failed(chooseSteps(rank)))
    return failure();
  addHostTime(rank);
  addWaits(rank, trace.waits);
  if (trace.origin == TraceOrigin::Executor)
    for (auto [step, waits] : zip_equal(rank.steps, rank.waits))
      for (const StepSpan &span : step)
        if (isRecv(recording.cells[span.cell][0].kind()))
          waits.push_back({span.cell, 0, span.start, span.end});
  rank.memory = std::move(trace.memory);
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
      forwards.insert({step.stage(), step.microbatch()});
  });
  std::pair<unsigned, unsigned> next = {0, 0};
  for (auto forward : forwards) {
    if (forward != next)
      break;
    if (++next.second == recording.numMicrobatches)
      next = {next.first + 1, 0};
  }
  if (next.first == recording.numStages)
    return success();
  return diags.report(
      DiagLoc(), diag::TraceStepMissing,
      cellText(Step(StepKind::F, next.first, next.second)),
      countText(recording.numStages, "stage"),
      countText(recording.numMicrobatches, "micro-batch", "es"));
}

/// The highest stage that a step names, or that follows from its edge of the
/// chain.
static unsigned highestStage(Step step, std::optional<unsigned> peer) {
  if (peer)
    return std::max(step.stage(), *peer);
  bool goesUp =
      isRecv(step.kind()) != (dataKind(step.kind()) == DataKind::Activation);
  return step.stage() + (isP2P(step.kind()) && goesUp);
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
        recording.numMicrobatches =
            std::max(recording.numMicrobatches, step.microbatch() + 1);
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
  schedule.numMicrobatches = recording.numMicrobatches;
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
  for (RankTrace &trace : traces)
    if (failed(addRank(trace)))
      return failure();
  return failed(findSizes()) ? failure() : findFlow();
}

std::optional<size_t> Recording::datumOf(Step step) const {
  if (step.stage() >= numStages || step.microbatch() >= numMicrobatches)
    return std::nullopt;
  ArrayRef<DataFlow::Port> inputs = flow->inputs(step);
  const DataFlow::Port *port = isP2P(step.kind()) || isSendWait(step.kind())
                                   ? flow->transfer(step)
                               : inputs.size() == 1 ? inputs.begin()
                                                    : nullptr;
  return port ? std::optional(flow->datum(*port, step.microbatch()))
              : std::nullopt;
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

FailureOr<Recording> readRecording(ArrayRef<std::string> paths,
                                   const RecordingOptions &options,
                                   DiagEngine &diags) {
  TraceCells cells;
  std::vector<RankTrace> traces;
  for (const std::string &path : paths)
    if (failed(readTrace(path, cells, traces, diags)))
      return failure();
  return makeRecording(std::move(traces), std::move(cells), options, diags);
}

} // namespace pipec
