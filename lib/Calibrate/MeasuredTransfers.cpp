//===- MeasuredTransfers.cpp - Sends with their receives ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Calibrate/Measured.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

#include <limits>

using namespace llvm;

namespace pipec {

//===----------------------------------------------------------------------===//
// Transfers
//===----------------------------------------------------------------------===//

namespace {

/// The times of one transfer that the spans have shown.
struct Ends {
  static constexpr int64_t unknown = std::numeric_limits<int64_t>::min();
  int from = -1, to = -1;
  int64_t sent = unknown, posted = unknown;
  int64_t waitedFrom = unknown, arrived = unknown;
};

} // namespace

std::vector<MeasuredTransfer> findTransfers(const Recording &recording) {
  std::vector<MeasuredTransfer> transfers;
  if (!recording.stepsAgree)
    return transfers;
  for (size_t i = 0; i != recording.numSteps(); ++i) {
    // By datum.
    std::map<size_t, Ends> all;
    for (auto [number, rank] : enumerate(recording.ranks)) {
      for (const StepSpan &span : rank.steps[i]) {
        Step step = recording.cells[span.cell][0];
        if (!isP2P(step.kind()))
          continue;
        std::optional<size_t> datum = recording.datumOf(step);
        if (!datum)
          continue;
        Ends &ends = all[*datum];
        if (isSend(step.kind())) {
          ends.from = int(number);
          ends.sent = span.start;
          continue;
        }
        ends.to = int(number);
        ends.posted = span.start;
        if (span.isDevice) {
          ends.waitedFrom = span.start;
          ends.arrived = span.end;
        }
      }
      for (const TraceSpan &wait : rank.waits[i])
        if (std::optional<size_t> datum =
                recording.datumOf(recording.cells[wait.cell][0])) {
          Ends &ends = all[*datum];
          if (ends.arrived != Ends::unknown)
            continue;
          ends.waitedFrom = wait.start;
          ends.arrived = wait.end;
        }
    }
    for (const auto &[datum, ends] : all)
      if (ends.from >= 0 && ends.to >= 0 && ends.from != ends.to &&
          ends.arrived != Ends::unknown)
        transfers.push_back({unsigned(ends.from), unsigned(ends.to), ends.sent,
                             ends.arrived, ends.posted, ends.waitedFrom,
                             unsigned(i)});
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
    llvm::stable_sort(
        all, [](const auto *a, const auto *b) { return a->sent < b->sent; });
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

} // namespace pipec
