//===- MeasuredSteps.cpp - Compute steps and collectives of a run ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Calibrate/Measured.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

StringRef evidenceText(Evidence evidence) {
  static constexpr StringLiteral texts[] = {
      "device spans",
      "spans without waits",
      "executor spans",
      "steps whose input was there",
      "lower quartile of spans with waits",
      "sends and receives",
      "allocations"};
  return texts[unsigned(evidence)];
}

Evidence evidenceOf(const RecordedRank &rank, bool isDevice) {
  return isDevice                               ? Evidence::Device
         : rank.origin == TraceOrigin::Executor ? Evidence::Executor
         : rank.hasWaits                        ? Evidence::WithoutWaits
                                                : Evidence::LowerQuartile;
}

int64_t quartile(ArrayRef<int64_t> sorted, unsigned numerator) {
  return sorted[((sorted.size() - 1) * numerator + 1) / 4];
}

int64_t Samples::typical() {
  constexpr size_t enough = 3;
  if (evidence == Evidence::LowerQuartile &&
      unwaited.size() >= std::min(enough, all.size())) {
    evidence = Evidence::InputThere;
    all = std::move(unwaited);
  }
  llvm::sort(all);
  return quartile(all, evidence == Evidence::LowerQuartile ? 1 : 2);
}

namespace {

class StepMeasurer {
public:
  StepMeasurer(const Recording &recording, const Clocks &clocks)
      : recording(recording), clocks(clocks) {}
  MeasuredSteps run();

private:
  void findSendEnds();
  bool inputWasThere(size_t number, const StepSpan &span,
                     unsigned trainingStep);
  void addStep(size_t number, const StepSpan &span, unsigned trainingStep);

  const Recording &recording;
  const Clocks &clocks;
  MeasuredSteps result;
  /// When a send was complete, by training step and datum.
  std::map<std::pair<unsigned, size_t>, int64_t> sendEnds;
  /// Ranks and stages whose reductions only start at REDUCE_GRAD.
  DenseSet<std::pair<unsigned, unsigned>> laterReductions;
  /// Ranks and the data that they receive.
  DenseSet<std::pair<unsigned, size_t>> receives;
};

} // namespace

/// Records when sends were complete, as waits for them show, and the receives.
void StepMeasurer::findSendEnds() {
  for (auto [number, rank] : enumerate(recording.ranks))
    for (auto [i, training] : enumerate(rank.steps))
      for (const StepSpan &span : training) {
        Step step = recording.cells[span.cell][0];
        if (step.kind() == StepKind::WaitReduceGrad)
          laterReductions.insert({unsigned(number), step.stage()});
        std::optional<size_t> datum = recording.datumOf(step);
        if (datum && isRecv(step.kind()))
          receives.insert({unsigned(number), *datum});
        if (datum && isSendWait(step.kind()))
          sendEnds[{unsigned(i), *datum}] = span.hostEnd;
      }
}

/// True if a compute step used nothing from another rank, or if its inputs are
/// known to have been there: their senders had seen the ends of the sends.
bool StepMeasurer::inputWasThere(size_t number, const StepSpan &span,
                                 unsigned trainingStep) {
  Step step = recording.cells[span.cell][0];
  return all_of(recording.flow->inputs(step), [&](const DataFlow::Port &port) {
    size_t datum = recording.flow->datum(port, step.microbatch());
    if (!receives.contains({unsigned(number), datum}))
      return true;
    if (!recording.stepsAgree || !clocks.isShared())
      return false;
    auto it = sendEnds.find({trainingStep, datum});
    return it != sendEnds.end() && it->second <= span.hostStart;
  });
}

void StepMeasurer::addStep(size_t number, const StepSpan &span,
                           unsigned trainingStep) {
  const RecordedRank &rank = recording.ranks[number];
  ArrayRef<Step> members = recording.cells[span.cell];
  StepKind kind = members[0].kind();
  bool executor = rank.origin == TraceOrigin::Executor;
  // A step without kernels has no time on the device.
  if (isCompute(kind) && rank.hasDevice && !span.isDevice)
    return;
  if (members.size() > 1) {
    result.overlaps.push_back({span.cell, unsigned(number), span.work()});
    return;
  }
  bool isStarted =
      kind == StepKind::ReduceGrad &&
      laterReductions.contains({unsigned(number), members[0].stage()});
  if (isFsdp(kind) && !span.isDevice && (!executor || isStarted)) {
    result.hostCollectives.insert(kind);
    return;
  }
  if (!isCompute(kind) && !isFsdp(kind))
    return;
  Samples &samples = result.steps[{
      costFigure(kind), Place{FigureScope::Stage, members[0].stage()}}]
                                 [unsigned(number)];
  samples.all.push_back(span.work());
  samples.evidence = evidenceOf(rank, span.isDevice);
  if (samples.evidence == Evidence::LowerQuartile &&
      inputWasThere(number, span, trainingStep))
    samples.unwaited.push_back(span.work());
}

MeasuredSteps StepMeasurer::run() {
  findSendEnds();
  for (auto [number, rank] : enumerate(recording.ranks))
    for (auto [i, step] : enumerate(rank.steps))
      for (const StepSpan &span : step)
        addStep(number, span, unsigned(i));
  return std::move(result);
}

MeasuredSteps measureSteps(const Recording &recording, const Clocks &clocks) {
  return StepMeasurer(recording, clocks).run();
}

std::map<MeasuredSteps::Key, std::vector<int64_t>>
measureMemory(const Recording &recording) {
  std::map<MeasuredSteps::Key, std::vector<int64_t>> sizes;
  for (const RecordedRank &rank : recording.ranks) {
    if (rank.memory.empty())
      continue;
    std::vector<int64_t> sums = {0};
    for (const MemoryEvent &event : rank.memory)
      sums.push_back(sums.back() + event.bytes);
    auto before = [&](int64_t time) {
      return sums[llvm::partition_point(rank.memory,
                                        [&](const MemoryEvent &event) {
                                          return event.time < time;
                                        }) -
                  rank.memory.begin()];
    };
    for (const std::vector<StepSpan> &training : rank.steps)
      for (const StepSpan &span : training) {
        ArrayRef<Step> members = recording.cells[span.cell];
        StepKind kind = members[0].kind();
        if (members.size() > 1)
          continue;
        Place place{FigureScope::Stage, members[0].stage()};
        int64_t change = before(span.hostEnd) - before(span.hostStart);
        if (kind == StepKind::F || kind == StepKind::I)
          sizes[{liveFigure(kind), place}].push_back(change);
        else if (isRecv(kind) && change > 0)
          sizes[{Figure::Receive, place}].push_back(change);
      }
  }
  for (auto &[key, all] : sizes)
    llvm::sort(all);
  return sizes;
}

} // namespace pipec
