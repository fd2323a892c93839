//===- P2PPlaces.h - Where timed transfers are inserted ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Transforms/Passes.h"

#include <vector>

namespace pipec {

/// One end of a transfer on its rank: the index in the list of its producer or
/// consumer, and the other rank.
struct TransferEnd {
  uint32_t index;
  uint32_t peer;
  bool isReceive;
};

/// Decides where the ends of transfers, which are in the order of time, are
/// inserted into the list of a rank (docs/Rationale/TimeOrderedP2P.md). Linear
/// in the steps of the list.
class P2PPlaces {
public:
  /// An end of a transfer, by its number in the order of time, and the index of
  /// the step before which it is inserted.
  struct Place {
    uint32_t before;
    uint32_t end;
  };

  explicit P2PPlaces(unsigned numRanks) : bounds(numRanks, none) {}

  /// All ends stay in their order: each send is as early and each receive as
  /// late as it permits, and those that `favor` names are placed first.
  llvm::ArrayRef<Place> inOneOrder(const StepList &list,
                                   llvm::ArrayRef<TransferEnd> ends,
                                   P2PFavor favor);

  /// The ends of each directed edge stay in their order: each send is as early
  /// and each receive as late as its edge permits. Between two steps of the
  /// list, sends come first.
  llvm::ArrayRef<Place> byEdge(const StepList &list,
                               llvm::ArrayRef<TransferEnd> ends);

private:
  static constexpr uint32_t none = ~uint32_t(0);

  void start(const StepList &list, size_t numEnds);
  uint32_t earliest(const StepList &list, const TransferEnd &send) const;
  uint32_t latest(const TransferEnd &receive) const;
  uint32_t &boundOf(uint32_t peer, uint32_t initial);
  void clearEdges();

  std::vector<Place> places, sorted;
  /// The start of the overlap of each step; empty without overlaps.
  std::vector<uint32_t> groupBegins;
  /// By peer, the bound of the next place on its edge, and the peers that have
  /// one.
  std::vector<uint32_t> bounds, usedEdges;
};

} // namespace pipec
