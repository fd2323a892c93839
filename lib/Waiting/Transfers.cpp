//===- Transfers.cpp - Matching sends and receives ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sends of a directed edge form a linked list in the order of posting,
// stored in the array that will hold their partners: while a send is unmatched,
// its entry is the next send of the edge. A second walk, over the receives,
// removes sends from the front. The remaining sends are unmatched.
//
// Edges are looked up in a hash table once per pair of communicating ranks;
// within a rank, an array indexed by peer is used.
//
//===----------------------------------------------------------------------===//

#include "Waiting/Transfers.h"

#include "Waiting/ActionTable.h"

#include "llvm/ADT/DenseMap.h"

using namespace llvm;

namespace pipec {

namespace {

/// The sends of one directed edge that are still unmatched.
struct Chain {
  uint32_t first = Transfers::none;
  uint32_t last = Transfers::none;
};

/// The chains of all directed edges.
class Chains {
public:
  explicit Chains(unsigned numRanks) : local(numRanks, none) {}

  /// Must be called before the steps of each rank.
  void startRank() {
    for (uint32_t peer : peers)
      local[peer] = none;
    peers.clear();
  }
  /// The chain from `from` to `to`; the current rank is one of them, `peer` the
  /// other.
  Chain &get(unsigned from, unsigned to, unsigned peer) {
    if (local[peer] == none) {
      peers.push_back(peer);
      auto [it, isNew] =
          edges.try_emplace((uint64_t(from) << 32) | to, uint32_t(all.size()));
      if (isNew)
        all.emplace_back();
      local[peer] = it->second;
    }
    return all[local[peer]];
  }

  std::vector<Chain> all;

private:
  static constexpr uint32_t none = Transfers::none;
  DenseMap<uint64_t, uint32_t> edges;
  std::vector<uint32_t> local;
  std::vector<uint32_t> peers;
};

} // namespace

Transfers::Transfers(const Schedule &schedule, DataFlow flow)
    : dataFlow(std::move(flow)), stepNumbers(schedule) {
  others.assign(stepNumbers.size(), none);
  matchSends(schedule);
  findInputs(schedule);
  findSends(schedule);
  sort(unmatchedSteps);
}

void Transfers::matchSends(const Schedule &schedule) {
  Chains chains(schedule.numRanks);
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
    chains.startRank();
    uint32_t number = stepNumbers.begin(rank);
    for (Step step : schedule.ranks[rank]) {
      uint32_t self = number++;
      if (!isP2P(step.kind()))
        continue;
      const DataFlow::Port *port = dataFlow.transfer(step);
      if (!port) {
        unmatchedSteps.push_back(self);
        continue;
      }
      if (!isSend(step.kind()))
        continue;
      Chain &chain = chains.get(rank, port->rank, port->rank);
      if (chain.first == none)
        chain.first = self;
      else
        others[chain.last] = self;
      chain.last = self;
    }
  }

  for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
    chains.startRank();
    uint32_t number = stepNumbers.begin(rank);
    for (Step step : schedule.ranks[rank]) {
      uint32_t self = number++;
      const DataFlow::Port *port =
          isRecv(step.kind()) ? dataFlow.transfer(step) : nullptr;
      if (!port)
        continue;
      unsigned peer = port->rank;
      Chain &chain = chains.get(peer, rank, peer);
      uint32_t sender = chain.first;
      if (sender == none) {
        unmatchedSteps.push_back(self);
        continue;
      }
      chain.first = others[sender];
      others[sender] = self;
      others[self] = sender;
      Step send = schedule.ranks[peer][sender - stepNumbers.begin(peer)];
      // Groups do not affect the match.
      send.setJoined(false);
      if (!send.sameAction(DataFlow::otherEnd(step, *port)))
        anyCrossed = true;
    }
  }

  for (const Chain &chain : chains.all)
    for (uint32_t send = chain.first; send != none;) {
      uint32_t next = others[send];
      others[send] = none;
      unmatchedSteps.push_back(send);
      send = next;
    }
}

void Transfers::findInputs(const Schedule &schedule) {
  ActionTable receives(schedule);
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
    const StepList &list = schedule.ranks[rank];
    if (none_of(list, [](Step step) { return isRecv(step.kind()); }))
      continue;
    receives.startRank(rank);
    uint32_t number = stepNumbers.begin(rank);
    for (Step step : list) {
      if (isRecv(step.kind()) && dataFlow.transfer(step))
        receives.insert(step.stage(), step.unit(),
                        dataKind(step.kind()) == DataKind::Gradient, number,
                        step.port());
      ++number;
    }
    number = stepNumbers.begin(rank);
    for (Step step : list) {
      if (makesData(step.kind())) {
        bool backward = dataKind(step.kind()) == DataKind::Gradient;
        others[number] = receives.find(step.stage(), step.unit(), backward);
        size_t inputs = dataFlow.inputs(step).size();
        for (size_t port = 0; inputs > 1 && port != inputs; ++port)
          if (uint32_t receive =
                  receives.find(step.stage(), step.unit(), backward, port);
              receive != none)
            joins[number].push_back(receive);
      }
      ++number;
    }
  }
}

void Transfers::findSends(const Schedule &schedule) {
  ActionTable sends(schedule);
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
    const StepList &list = schedule.ranks[rank];
    if (none_of(list, [](Step step) { return isSendWait(step.kind()); }))
      continue;
    anySendWaits = true;
    sends.startRank(rank);
    uint32_t number = stepNumbers.begin(rank);
    for (Step step : list) {
      if (isSend(step.kind()))
        sends.insert(step.stage(), step.unit(),
                     dataKind(step.kind()) == DataKind::Gradient, number,
                     step.port());
      ++number;
    }
    number = stepNumbers.begin(rank);
    for (Step step : list) {
      if (isSendWait(step.kind()))
        others[number] = sends.find(step.stage(), step.unit(),
                                    dataKind(step.kind()) == DataKind::Gradient,
                                    step.port());
      ++number;
    }
  }
}

} // namespace pipec
