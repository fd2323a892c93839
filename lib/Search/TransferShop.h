//===- TransferShop.h - Transfers as a job shop -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The computes of each rank run in a fixed order. What remains to be decided is
// the order of the transfers in each queue, where each transfer is in one queue
// at either end:
//
//   start(compute)  = max(end of the compute before it on its rank,
//                         ends of the transfers that it receives)
//   start(transfer) = max(end of its producer,
//                         end of the transfer before it in each of its queues)
//
// docs/Rationale/SearchedTransfers.md explains why nothing else matters if each
// P2P step is as early in the list of its rank as its queue permits.
//
// Nodes are the groups of compute steps, rank by rank in the order of the
// lists, and after them the transfers.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "IR/DataFlow.h"
#include "Simulation/TickCosts.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace pipec::search {

/// One transfer: its ends as steps of the lists, and its place in the shop.
struct ShopTransfer {
  static constexpr uint32_t none = ~0u;

  /// The nodes that make and use the data.
  uint32_t producer = none;
  uint32_t consumer = none;
  /// The queues that it occupies; the second one is `none` if both ends are in
  /// the same queue.
  uint32_t queues[2] = {none, none};
  /// The index of the producing and of the consuming step in the list of its
  /// rank, and which output and input of it.
  uint32_t made = 0;
  uint32_t used = 0;
  uint16_t from = 0;
  uint16_t to = 0;
  uint16_t output = 0;
  uint16_t input = 0;
};

class TransferShop {
public:
  static constexpr uint32_t none = ShopTransfer::none;

  /// The communicator of a directed edge. In each communicator, every rank has
  /// one queue.
  using Communicator = llvm::function_ref<uint64_t(unsigned from, unsigned to)>;

  /// The shop of a schedule of level compute; P2P steps, posted steps and
  /// bubbles are left out. `costs` are those of the schedule.
  TransferShop(const Schedule &schedule, const TickCosts &costs,
               Communicator communicator);

  uint32_t numNodes() const { return uint32_t(times.size()); }
  uint32_t numComputes() const { return rankBegins.back(); }
  uint32_t numTransfers() const { return uint32_t(transfers.size()); }
  uint32_t numQueues() const { return queueCount; }
  uint32_t numRanks() const { return uint32_t(rankBegins.size()) - 1; }
  bool isTransfer(uint32_t node) const { return node >= numComputes(); }
  const ShopTransfer &transfer(uint32_t node) const {
    return transfers[node - numComputes()];
  }
  llvm::ArrayRef<ShopTransfer> allTransfers() const { return transfers; }
  /// The computes of a rank are [first, end).
  uint32_t firstOf(unsigned rank) const { return rankBegins[rank]; }
  uint32_t endOf(unsigned rank) const { return rankBegins[rank + 1]; }
  /// True if the compute is the first (last) of its rank.
  bool isFirst(uint32_t compute) const { return firstComputes[compute]; }
  bool isLast(uint32_t compute) const { return firstComputes[compute + 1]; }
  /// The duration of a node, in ticks.
  int64_t time(uint32_t node) const { return times[node]; }
  /// The nodes of the transfers that a compute receives (sends).
  llvm::ArrayRef<uint32_t> receives(uint32_t compute) const {
    return part(received, receivedBegins, compute);
  }
  llvm::ArrayRef<uint32_t> sends(uint32_t compute) const {
    return part(sent, sentBegins, compute);
  }
  /// The index in the list of its rank after the last step of a compute, and of
  /// its first step.
  uint32_t stepsEnd(uint32_t compute) const { return groupEnds[compute]; }
  uint32_t stepsBegin(uint32_t compute) const { return groupBegins[compute]; }
  /// The number of a transfer by its datum (`DataFlow::datum`); `none` if the
  /// data stay on their rank.
  uint32_t nodeOf(size_t datum) const { return nodesByDatum[datum]; }

  /// The shop in which time runs backwards; node n becomes `mirror(n)`.
  TransferShop mirrored() const;
  uint32_t mirror(uint32_t node) const {
    return isTransfer(node) ? node : numComputes() - 1 - node;
  }

  /// The earliest starts of all nodes if queues are ignored.
  std::vector<int64_t> freeStarts() const;
  /// An order of all nodes in which each is after those it waits for, with
  /// queues ignored.
  llvm::ArrayRef<uint32_t> freeSequence() const { return sequence; }

private:
  TransferShop() = default;
  void index();
  static llvm::ArrayRef<uint32_t> part(const std::vector<uint32_t> &all,
                                       const std::vector<uint32_t> &begins,
                                       uint32_t compute) {
    return llvm::ArrayRef(all).slice(begins[compute],
                                     begins[compute + 1] - begins[compute]);
  }

  std::vector<uint32_t> rankBegins;
  std::vector<bool> firstComputes;
  std::vector<uint32_t> groupBegins, groupEnds;
  std::vector<int64_t> times;
  std::vector<ShopTransfer> transfers;
  std::vector<uint32_t> received, receivedBegins, sent, sentBegins;
  std::vector<uint32_t> nodesByDatum;
  std::vector<uint32_t> sequence;
  uint32_t queueCount = 0;
};

} // namespace pipec::search
