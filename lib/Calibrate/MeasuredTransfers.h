//===- MeasuredTransfers.h - Sends with their receives ----------*- C++ -*-===//
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

#include <map>

namespace pipec {

/// A transfer of one training step whose end was seen. Times are in the clocks
/// of their ranks.
struct MeasuredTransfer {
  unsigned from;
  unsigned to;
  /// When the send was posted, and when the data was seen to be there.
  int64_t sent;
  int64_t arrived;
  /// When the receive was posted, and since when the rank (of a device: its
  /// stream) waited for it.
  int64_t posted;
  int64_t waitedFrom;
  /// The index of the training step.
  unsigned step;
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

} // namespace pipec
