//===- Measured.h - Times measured in a recording ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The clocks of ranks begin at different times. No receive ends before its send
// starts, so transfers in both directions between two machines bound how far
// their clocks are apart; the middle of that interval is taken. Ranks of one
// machine read one clock, unless a transfer contradicts that.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Calibrate/Recording.h"
#include "Cost/Settings.h"

#include <limits>
#include <map>
#include <set>

namespace pipec {

/// A transfer of one training step whose end was seen. Times are in the clocks
/// of their ranks.
struct MeasuredTransfer {
  static constexpr unsigned nowhere = ~0u;
  static constexpr int64_t unknown = std::numeric_limits<int64_t>::min();
  unsigned from = nowhere;
  unsigned to = nowhere;
  /// When the send was posted, and when the data was seen to be there.
  int64_t sent = unknown;
  int64_t arrived = unknown;
  /// When the receive was posted, and since when the rank (of a device: its
  /// stream) waited for it.
  int64_t posted = unknown;
  int64_t waitedFrom = unknown;
  /// The index of the training step.
  unsigned step = 0;
};

/// The clocks of all ranks.
struct Clocks {
  /// By rank, the offset that leads to the time of rank 0, and how far
  /// that can be from the truth.
  std::vector<int64_t> offset;
  std::vector<int64_t> uncertainty;
  /// False for a rank whose clock no transfer relates to rank 0.
  std::vector<bool> known;
  /// The number of the clock that each rank reads.
  std::vector<unsigned> clock;
  unsigned numClocks = 1;

  bool isShared() const { return numClocks == 1; }
};

/// The transfers of all training steps, in the order of the steps and of their
/// data; none where the ranks have different numbers of steps.
std::vector<MeasuredTransfer> findTransfers(const Recording &recording);

/// Sets the clocks of all ranks. Linear in the transfers, and in the product of
/// machines and edges.
Clocks setClocks(const Recording &recording,
                 llvm::ArrayRef<MeasuredTransfer> transfers);

/// Times of the transfers of one edge, in nanoseconds, sorted.
struct EdgeTimes {
  /// From the send to the arrival, of transfers whose receive was posted before
  /// the send and whose receiver waited for most of the time.
  std::vector<int64_t> times;
  /// Between the arrivals of transfers that follow each other on a full edge.
  std::vector<int64_t> gaps;
};

/// The times of all edges with transfers, by the ranks at their ends. Those
/// between ranks whose clocks are not known are meaningless.
std::map<std::pair<unsigned, unsigned>, EdgeTimes>
measureEdges(llvm::ArrayRef<MeasuredTransfer> transfers, const Clocks &clocks);

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// How the value of a figure was found.
enum class Evidence {
  /// From spans of the device, which has no waits in them.
  Device,
  /// From spans of the host without the waits that the trace has.
  WithoutWaits,
  /// From spans in which the executor does nothing but the step.
  Executor,
  /// From steps whose input was known to be there.
  InputThere,
  /// The lower quartile of spans that have waits inside.
  LowerQuartile,
  /// From the starts of sends and the ends of their receives.
  Transfers,
  /// From allocations.
  Allocations,
};
llvm::StringRef evidenceText(Evidence evidence);
/// How spans of a rank, of its device or its host, show the times of steps.
Evidence evidenceOf(const RecordedRank &rank, bool isDevice);

/// Durations in nanoseconds, or sizes in bytes, that were seen for one figure.
struct Samples {
  std::vector<int64_t> all;
  /// The samples of steps that did not wait.
  std::vector<int64_t> unwaited;
  Evidence evidence = Evidence::LowerQuartile;

  /// The value of the figure: the median, or the lower quartile where `all` has
  /// waits inside. Sorts `all`; if enough samples did not wait, it drops the
  /// others first.
  int64_t typical();
};

/// The element with a share of `numerator` / 4 below it; of two in the middle
/// the smaller one.
int64_t quartile(llvm::ArrayRef<int64_t> sorted, unsigned numerator);

/// The durations of the compute steps and collectives of a recording.
struct MeasuredSteps {
  using Key = std::pair<Figure, Place>;
  /// By figure and stage, and by rank.
  std::map<Key, std::map<unsigned, Samples>> steps;
  std::vector<StepSpan> overlaps;
  /// Collectives whose spans show only when they start.
  std::set<StepKind> hostCollectives;
};

MeasuredSteps measureSteps(const Recording &recording, const Clocks &clocks);

/// The bytes that steps allocate, by figure and stage, sorted: of forwards,
/// gradients of inputs, and receives. What the other kinds release follows from
/// these. Empty if the traces have no allocations.
std::map<MeasuredSteps::Key, std::vector<int64_t>>
measureMemory(const Recording &recording);

} // namespace pipec
