//===- TransferShop.cpp - The transfers of a schedule as a job shop -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Search/TransferShop.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace llvm;

namespace pipec::search {

namespace {

/// Numbers the queues: each rank has one per communicator, and a communicator
/// of two ranks has one for both.
class QueueNumbers {
public:
  QueueNumbers(const DataFlow &flow, TransferShop::Communicator communicator)
      : edges(flow), numbers(edges.size()) {
    std::map<uint64_t, std::vector<uint32_t>> members;
    for (uint32_t edge = 0; edge != edges.size(); ++edge) {
      auto [from, to] = edges.ranks(edge);
      members[communicator(from, to)].push_back(edge);
    }
    for (const auto &[id, own] : members) {
      std::map<uint32_t, uint32_t> queueOf;
      for (uint32_t edge : own)
        for (uint32_t rank :
             {edges.ranks(edge).first, edges.ranks(edge).second})
          queueOf.try_emplace(rank, 0);
      bool one = queueOf.size() == 2;
      for (auto &[rank, queue] : queueOf)
        queue = one ? count : count++;
      count += one;
      for (uint32_t edge : own) {
        auto [from, to] = edges.ranks(edge);
        numbers[edge] = {queueOf[from], one ? TransferShop::none : queueOf[to]};
      }
    }
  }

  std::pair<uint32_t, uint32_t> of(unsigned from, unsigned to) const {
    return numbers[edges.find(from, to)];
  }
  uint32_t size() const { return count; }

private:
  EdgeNumbers edges;
  std::vector<std::pair<uint32_t, uint32_t>> numbers;
  uint32_t count = 0;
};

} // namespace

TransferShop::TransferShop(const Schedule &schedule, const TickCosts &costs,
                           Communicator communicator) {
  DataFlow flow(schedule);
  QueueNumbers queues(flow, communicator);
  queueCount = queues.size();

  nodesByDatum.assign(flow.size(), none);
  rankBegins.push_back(0);
  for (const auto &[rank, list] : enumerate(schedule.ranks)) {
    for (size_t begin = 0, end; begin != list.size(); begin = end) {
      end = Schedule::groupEnd(list, begin);
      if (!isCompute(list[begin].kind()))
        continue;
      uint32_t node = uint32_t(times.size());
      times.push_back(costs.duration(list, begin, end));
      groupBegins.push_back(uint32_t(begin));
      groupEnds.push_back(uint32_t(end));
      auto transferOf = [&](const DataFlow::Port &port,
                            Step step) -> ShopTransfer & {
        uint32_t &number = nodesByDatum[flow.datum(port, step.unit())];
        if (number == none) {
          number = uint32_t(transfers.size());
          transfers.emplace_back();
        }
        return transfers[number];
      };
      for (size_t i = begin; i != end; ++i) {
        for (const auto &[index, port] : enumerate(flow.outputs(list[i]))) {
          if (!port.transfers)
            continue;
          ShopTransfer &own = transferOf(port, list[i]);
          own.producer = node;
          own.made = uint32_t(i);
          own.output = uint16_t(index);
          own.from = uint16_t(rank);
          own.to = port.rank;
          std::tie(own.queues[0], own.queues[1]) = queues.of(rank, port.rank);
        }
        for (const auto &[index, port] : enumerate(flow.inputs(list[i]))) {
          if (!port.transfers)
            continue;
          ShopTransfer &own = transferOf(port, list[i]);
          own.consumer = node;
          own.used = uint32_t(i);
          own.input = uint16_t(index);
        }
      }
    }
    rankBegins.push_back(uint32_t(times.size()));
  }
  for (uint32_t &number : nodesByDatum)
    if (number != none)
      number += numComputes();
  for (const ShopTransfer &transfer : transfers)
    times.push_back(costs.hop(transfer.from, transfer.to));
  index();
}

/// Sets the members that follow from the transfers and the durations.
void TransferShop::index() {
  uint32_t computes = numComputes();
  firstComputes.assign(computes + 1, false);
  for (uint32_t begin : rankBegins)
    firstComputes[begin] = true;

  receivedBegins.assign(computes + 1, 0);
  sentBegins.assign(computes + 1, 0);
  for (const ShopTransfer &transfer : transfers) {
    ++receivedBegins[transfer.consumer + 1];
    ++sentBegins[transfer.producer + 1];
  }
  for (uint32_t i = 0; i != computes; ++i) {
    receivedBegins[i + 1] += receivedBegins[i];
    sentBegins[i + 1] += sentBegins[i];
  }
  received.resize(transfers.size());
  sent.resize(transfers.size());
  std::vector<uint32_t> nextReceived = receivedBegins, nextSent = sentBegins;
  for (const auto &[number, transfer] : enumerate(transfers)) {
    received[nextReceived[transfer.consumer]++] = computes + uint32_t(number);
    sent[nextSent[transfer.producer]++] = computes + uint32_t(number);
  }

  std::vector<uint32_t> open(computes);
  sequence.clear();
  sequence.reserve(numNodes());
  for (uint32_t i = 0; i != computes; ++i) {
    open[i] = uint32_t(receives(i).size()) + !isFirst(i);
    if (open[i] == 0)
      sequence.push_back(i);
  }
  auto close = [&](uint32_t compute) {
    if (--open[compute] == 0)
      sequence.push_back(compute);
  };
  for (size_t at = 0; at != sequence.size(); ++at) {
    uint32_t node = sequence[at];
    if (isTransfer(node)) {
      close(transfer(node).consumer);
      continue;
    }
    append_range(sequence, sends(node));
    if (!isLast(node))
      close(node + 1);
  }
  assert(sequence.size() == numNodes() && "the computes run in their order");
}

TransferShop TransferShop::mirrored() const {
  TransferShop other;
  other.queueCount = queueCount;
  uint32_t computes = numComputes();
  for (uint32_t begin : reverse(rankBegins))
    other.rankBegins.push_back(computes - begin);
  other.times.assign(times.rbegin() + transfers.size(), times.rend());
  other.times.insert(other.times.end(), times.begin() + computes, times.end());
  other.transfers = transfers;
  for (ShopTransfer &transfer : other.transfers) {
    uint32_t producer = transfer.producer;
    transfer.producer = mirror(transfer.consumer);
    transfer.consumer = mirror(producer);
  }
  other.index();
  return other;
}

std::vector<int64_t> TransferShop::freeStarts() const {
  std::vector<int64_t> starts(numNodes());
  for (uint32_t node : sequence) {
    int64_t end = starts[node] + times[node];
    if (isTransfer(node)) {
      int64_t &start = starts[transfer(node).consumer];
      start = std::max(start, end);
      continue;
    }
    for (uint32_t send : sends(node))
      starts[send] = end;
    if (!isLast(node))
      starts[node + 1] = std::max(starts[node + 1], end);
  }
  return starts;
}

} // namespace pipec::search
