//===- TrainingSteps.cpp - The training steps of one rank -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Calibrate/Recording.h"
#include "Support/Diagnostics/CalibrateDiags.h"
#include "Support/Words.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

#include <limits>

using namespace llvm;

namespace pipec {

namespace {

class TraceSplitter {
public:
  TraceSplitter(RankTrace &trace, const TraceCells &cells,
                std::optional<unsigned> warmup, DiagEngine &diags)
      : trace(trace), cells(cells), warmup(warmup), diags(diags) {}

  FailureOr<RecordedRank> run();

private:
  void splitSteps();
  void useDevice();
  void useKernels();
  LogicalResult chooseSteps();
  void addHostTime();
  void addWaits();

  StepKind kindOf(const auto &span) const { return cells[span.cell][0].kind(); }
  bool isComputeSpan(const StepSpan &span) const {
    return isCompute(kindOf(span));
  }
  /// Moves a span to a time on the device, or makes it cover that time, too.
  static void cover(StepSpan &span, int64_t start, int64_t end) {
    span.start = span.isDevice ? std::min(span.start, start) : start;
    span.end = span.isDevice ? std::max(span.end, end) : end;
    span.isDevice = true;
  }

  RankTrace &trace;
  const TraceCells &cells;
  std::optional<unsigned> warmup;
  DiagEngine &diags;
  RecordedRank rank;
};

} // namespace

/// Starts a training step at each repeated step: a step with a micro-batch
/// occurs once in a training step. The runs of an executor are numbered.
void TraceSplitter::splitSteps() {
  bool isExecutor = trace.origin == TraceOrigin::Executor;
  DenseSet<uint32_t> seen;
  uint32_t run = 0;
  for (const TraceSpan &span : trace.steps) {
    bool again = isExecutor
                     ? span.group != run
                     : hasUnit(kindOf(span)) && !seen.insert(span.cell).second;
    if (rank.steps.empty() || again) {
      std::vector<StepSpan> next;
      // A training step begins with the UNSHARDs before its first step.
      if (!rank.steps.empty() && !isExecutor) {
        std::vector<StepSpan> &before = rank.steps.back();
        auto begin = before.end();
        while (begin != before.begin() &&
               kindOf(begin[-1]) == StepKind::Unshard)
          --begin;
        next.assign(begin, before.end());
        before.erase(begin, before.end());
      }
      rank.steps.push_back(std::move(next));
      seen.clear();
      seen.insert(span.cell);
      run = span.group;
    }
    StepSpan &step = rank.steps.back().emplace_back();
    step.cell = span.cell;
    step.start = step.hostStart = span.start;
    step.end = step.hostEnd = span.end;
  }
}

/// Replaces host times by device times: the i-th device span
/// of a cell belongs to its i-th host span if both have the same number.
void TraceSplitter::useDevice() {
  DenseMap<uint32_t, std::vector<StepSpan *>> hosts;
  for (std::vector<StepSpan> &step : rank.steps)
    for (StepSpan &span : step)
      hosts[span.cell].push_back(&span);
  std::map<std::pair<uint32_t, uint32_t>, std::vector<const TraceSpan *>>
      streams;
  for (const TraceSpan &span : trace.device)
    streams[{span.cell, span.group}].push_back(&span);
  for (const auto &[key, spans] : streams) {
    std::vector<StepSpan *> &onHost = hosts[key.first];
    if (onHost.size() != spans.size())
      continue;
    // Several streams of one step run at the same time.
    for (auto [host, span] : zip_equal(onHost, spans))
      cover(*host, span->start, span->end);
  }
}

/// Subtracts waits from the compute steps that contain them.
void TraceSplitter::addWaits() {
  ArrayRef<TraceSpan> waits = trace.waits;
  rank.waits.resize(rank.steps.size());
  for (auto [step, own] : zip_equal(rank.steps, rank.waits))
    for (StepSpan &span : step) {
      waits = waits.drop_while(
          [&](const TraceSpan &wait) { return wait.start < span.hostStart; });
      if (!isComputeSpan(span))
        continue;
      int64_t covered = span.hostStart;
      for (; !waits.empty() && waits.front().start < span.hostEnd;
           waits = waits.drop_front()) {
        // Waits do not add up where they overlap.
        int64_t from = std::max(waits.front().start, covered);
        int64_t to = std::min(waits.front().end, span.hostEnd);
        if (!span.isDevice && to > from)
          span.waited += to - from;
        covered = std::max(covered, to);
        own.push_back(waits.front());
      }
    }
  if (trace.origin == TraceOrigin::Executor)
    for (auto [step, own] : zip_equal(rank.steps, rank.waits))
      for (const StepSpan &span : step)
        if (isRecv(kindOf(span)))
          own.push_back({span.cell, 0, span.start, span.end});
}

/// The first start and the last end of `kernels` on the stream with the most
/// work.
static std::pair<int64_t, int64_t> busiestSpan(ArrayRef<KernelSpan> kernels) {
  std::map<uint32_t, int64_t> busy;
  for (const KernelSpan &kernel : kernels)
    busy[kernel.stream] += kernel.end - kernel.start;
  auto work = [](const auto &each) { return each.second; };
  uint32_t stream = std::ranges::max_element(busy, {}, work)->first;
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

/// Adds the kernels that the host launched in each compute step, on the stream
/// with the most work.
void TraceSplitter::useKernels() {
  ArrayRef<KernelSpan> kernels = trace.kernels;
  auto firstAt = [&](int64_t time) {
    return llvm::partition_point(kernels, [&](const KernelSpan &kernel) {
      return kernel.launch < time;
    });
  };
  // Steps at one time have the same kernels. Few steps share others; a limit on
  // all work keeps it linear if many do.
  ArrayRef<KernelSpan> last;
  std::pair<int64_t, int64_t> busiest;
  size_t left = maxShares * kernels.size();
  for (std::vector<StepSpan> &step : rank.steps)
    for (StepSpan &span : step) {
      const KernelSpan *first = firstAt(span.hostStart);
      const KernelSpan *end = std::max(first, firstAt(span.hostEnd));
      bool isLast = first == last.begin() && end == last.end();
      size_t count = end - first;
      if (!isComputeSpan(span) || count == 0 || (!isLast && count > left))
        continue;
      if (!isLast) {
        last = {first, end};
        busiest = busiestSpan(last);
        left -= count;
      }
      cover(span, busiest.first, busiest.second);
    }
}

/// Adds the time of the host between two compute steps to the first of them.
void TraceSplitter::addHostTime() {
  bool isExecutor = trace.origin == TraceOrigin::Executor;
  for (std::vector<StepSpan> &step : rank.steps) {
    StepSpan *before = nullptr;
    int64_t waited = 0;
    for (StepSpan &span : step) {
      StepKind kind = kindOf(span);
      if (isWait(kind) || (isExecutor && (isRecv(kind) || isPosted(kind))))
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

/// Removes incomplete training steps, and the first ones. The most frequent set
/// of steps is the complete one; ties go to the longer.
LogicalResult TraceSplitter::chooseSteps() {
  std::map<std::vector<uint32_t>, std::vector<size_t>> kinds;
  for (auto [i, step] : enumerate(rank.steps)) {
    std::vector<uint32_t> set;
    for (const StepSpan &span : step)
      set.push_back(span.cell);
    llvm::sort(set);
    kinds[std::move(set)].push_back(i);
  }
  const auto &[set, complete] =
      *std::ranges::max_element(kinds, {}, [](const auto &each) {
        return std::pair(each.second.size(), each.first.size());
      });
  if (size_t partial = rank.steps.size() - complete.size())
    (void)diags.report(DiagLoc(), diag::TracePartialSteps, rank.path,
                       countText(partial, "training step"));
  if (none_of(set,
              [&](uint32_t cell) { return isCompute(cells[cell][0].kind()); }))
    return diags.report(DiagLoc(), diag::TraceNoWholeStep, rank.path);
  size_t first = warmup.value_or(complete.size() > 1);
  if (first >= complete.size())
    return diags.report(DiagLoc(), diag::TraceTooFewSteps, rank.path,
                        countText(complete.size(), "complete training step"),
                        first);
  std::vector<std::vector<StepSpan>> chosen;
  for (size_t i : drop_begin(complete, first))
    chosen.push_back(std::move(rank.steps[i]));
  rank.steps = std::move(chosen);
  return success();
}

FailureOr<RecordedRank> TraceSplitter::run() {
  rank.path = trace.path;
  rank.host = trace.host;
  rank.origin = trace.origin;
  rank.hasDevice = !trace.device.empty() || !trace.kernels.empty();
  rank.hasWaits = !trace.waits.empty();
  splitSteps();
  useDevice();
  useKernels();
  if (failed(chooseSteps()))
    return failure();
  addHostTime();
  addWaits();
  rank.memory = std::move(trace.memory);
  return std::move(rank);
}

FailureOr<RecordedRank> splitTrace(RankTrace &trace, const TraceCells &cells,
                                   std::optional<unsigned> warmup,
                                   DiagEngine &diags) {
  return TraceSplitter(trace, cells, warmup, diags).run();
}

} // namespace pipec
