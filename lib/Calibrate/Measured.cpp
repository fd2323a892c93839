//===- Measured.cpp - Times measured in a recording -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Calibrate/Measured.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

#include <limits>

using namespace llvm;

namespace pipec {

//===----------------------------------------------------------------------===//
// Transfers
//===----------------------------------------------------------------------===//

std::vector<MeasuredTransfer> findTransfers(const Recording &recording) {
  std::vector<MeasuredTransfer> transfers;
  if (!recording.stepsAgree)
    return transfers;
  for (size_t i = 0; i != recording.numSteps(); ++i) {
    // By datum.
    std::map<size_t, MeasuredTransfer> all;
    for (auto [number, rank] : enumerate(recording.ranks)) {
      for (const StepSpan &span : rank.steps[i]) {
        Step step = recording.cells[span.cell][0];
        if (!isP2P(step.kind()))
          continue;
        std::optional<size_t> datum = recording.datumOf(step);
        if (!datum)
          continue;
        MeasuredTransfer &ends = all[*datum];
        if (isSend(step.kind())) {
          ends.from = number;
          ends.sent = span.start;
          continue;
        }
        ends.to = number;
        ends.posted = span.start;
        if (span.isDevice) {
          ends.waitedFrom = span.start;
          ends.arrived = span.end;
        }
      }
      for (const TraceSpan &wait : rank.waits[i])
        if (std::optional<size_t> datum =
                recording.datumOf(recording.cells[wait.cell][0])) {
          MeasuredTransfer &ends = all[*datum];
          if (ends.arrived != MeasuredTransfer::unknown)
            continue;
          ends.waitedFrom = wait.start;
          ends.arrived = wait.end;
        }
    }
    for (auto &[datum, ends] : all) {
      ends.step = i;
      if (ends.from != MeasuredTransfer::nowhere &&
          ends.to != MeasuredTransfer::nowhere && ends.from != ends.to &&
          ends.arrived != MeasuredTransfer::unknown)
        transfers.push_back(ends);
    }
  }
  return transfers;
}

//===----------------------------------------------------------------------===//
// Clocks
//===----------------------------------------------------------------------===//

/// Numbers the clocks: one for each machine with a name, one for all ranks of
/// an executor, else one for each rank.
static void numberClocks(const Recording &recording, bool byHost,
                         Clocks &clocks) {
  StringMap<unsigned> hosts;
  clocks.clock.clear();
  clocks.numClocks = 0;
  for (const RecordedRank &rank : recording.ranks) {
    bool executor = rank.origin == TraceOrigin::Executor;
    if (!executor && (!byHost || rank.host.empty())) {
      clocks.clock.push_back(clocks.numClocks++);
      continue;
    }
    auto [it, isNew] =
        hosts.try_emplace(executor ? StringRef() : rank.host, clocks.numClocks);
    clocks.numClocks += isNew;
    clocks.clock.push_back(it->second);
  }
}

Clocks setClocks(const Recording &recording,
                 ArrayRef<MeasuredTransfer> transfers) {
  Clocks clocks;
  numberClocks(recording, /*byHost=*/true, clocks);
  // Machines may share a name, for example in containers.
  if (any_of(transfers, [&](const MeasuredTransfer &transfer) {
        return clocks.clock[transfer.from] == clocks.clock[transfer.to] &&
               transfer.arrived < transfer.sent;
      }))
    numberClocks(recording, /*byHost=*/false, clocks);

  // The clock of `to` is at least `bound` ahead of the clock of `from`.
  std::map<std::pair<unsigned, unsigned>, int64_t> bounds;
  for (const MeasuredTransfer &transfer : transfers) {
    unsigned from = clocks.clock[transfer.from], to = clocks.clock[transfer.to];
    if (from == to)
      continue;
    int64_t bound = transfer.sent - transfer.arrived;
    auto [it, isNew] = bounds.try_emplace({from, to}, bound);
    if (!isNew)
      it->second = std::max(it->second, bound);
  }
  constexpr int64_t none = std::numeric_limits<int64_t>::max();
  std::vector<int64_t> least(clocks.numClocks, -none);
  std::vector<int64_t> most(clocks.numClocks, none);
  least[0] = most[0] = 0;
  for (unsigned round = 0; round != clocks.numClocks; ++round) {
    bool changed = false;
    for (auto [edge, bound] : bounds) {
      auto [from, to] = edge;
      if (to != 0 && least[from] != -none && least[from] + bound > least[to]) {
        least[to] = least[from] + bound;
        changed = true;
      }
      if (from != 0 && most[to] != none && most[to] - bound < most[from]) {
        most[from] = most[to] - bound;
        changed = true;
      }
    }
    if (!changed)
      break;
  }
  for (unsigned clock : clocks.clock) {
    bool known = least[clock] != -none && most[clock] != none;
    clocks.known.push_back(known);
    int64_t width =
        known ? std::max<int64_t>(most[clock] - least[clock], 0) : 0;
    clocks.offset.push_back(
        known ? least[clock] + (most[clock] - least[clock]) / 2 : 0);
    clocks.uncertainty.push_back((width + 1) / 2);
  }
  return clocks;
}

std::map<std::pair<unsigned, unsigned>, EdgeTimes>
measureEdges(ArrayRef<MeasuredTransfer> transfers, const Clocks &clocks) {
  std::map<std::pair<unsigned, unsigned>, std::vector<const MeasuredTransfer *>>
      inOrder;
  for (const MeasuredTransfer &transfer : transfers)
    inOrder[{transfer.from, transfer.to}].push_back(&transfer);
  std::map<std::pair<unsigned, unsigned>, EdgeTimes> edges;
  for (auto &[ends, all] : inOrder) {
    EdgeTimes &edge = edges[ends];
    std::ranges::stable_sort(all, {}, &MeasuredTransfer::sent);
    int64_t shift = clocks.offset[ends.second] - clocks.offset[ends.first];
    const MeasuredTransfer *before = nullptr;
    for (const MeasuredTransfer *transfer : all) {
      bool wasPosted = transfer->posted + shift <= transfer->sent;
      int64_t time = transfer->arrived + shift - transfer->sent;
      if (wasPosted && transfer->arrived - transfer->waitedFrom >= time / 2)
        edge.times.push_back(time);
      bool follows = before && before->step == transfer->step &&
                     transfer->sent < before->arrived + shift &&
                     transfer->waitedFrom <= before->arrived &&
                     transfer->arrived > before->arrived;
      if (wasPosted && follows)
        edge.gaps.push_back(transfer->arrived - before->arrived);
      before = transfer;
    }
    llvm::sort(edge.times);
    llvm::sort(edge.gaps);
  }
  return edges;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

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
    size_t datum = recording.flow->datum(port, step.unit());
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
    result.overlaps.push_back(span);
    return;
  }
  bool isStarted =
      kind == StepKind::ReduceGrad &&
      laterReductions.contains({unsigned(number), members[0].stage()});
  if (isPosted(kind) && !span.isDevice &&
      (!executor || isStarted || isCopy(kind))) {
    result.hostCollectives.insert(kind);
    return;
  }
  if (!isCompute(kind) && !isPosted(kind))
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
