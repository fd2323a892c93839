//===- WaitState.cpp - State of a run of the communication model ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Waiting/WaitState.h"

using namespace llvm;

namespace pipec {

/// Builds the queues and the batches.
class WaitState::Chainer {
public:
  Chainer(WaitState &state, const Transfers &transfers, const CommModel &model,
          size_t numQueues)
      : state(state), transfers(transfers), model(model),
        last(numQueues, none) {}

  void chain(unsigned ofRank, const StepList &list, uint32_t base) {
    rank = ofRank;
    for (uint32_t queue : used)
      last[queue] = none;
    used.clear();
    for (size_t begin = 0, end = 0; begin != list.size(); begin = end) {
      end = Schedule::groupEnd(list, begin);
      if (isP2P(list[begin].kind()))
        chain(list, base, begin, end);
    }
  }

private:
  void chain(const StepList &list, uint32_t base, size_t begin, size_t end) {
    Batch *group = nullptr;
    if (end - begin > 1) {
      if (state.batchOf.empty())
        state.batchOf.assign(state.flags.size(), none);
      state.batches.push_back(
          {base + uint32_t(begin), base + uint32_t(end), 1, 0});
      group = &state.batches.back();
    }
    for (size_t i = begin; i != end; ++i) {
      uint32_t self = base + uint32_t(i);
      if (group)
        state.batchOf[self] = uint32_t(state.batches.size() - 1);
      const DataFlow::Port *port = transfers.flow().transfer(list[i]);
      if (!port) {
        // A step without another end cannot wait; the verifier reports it.
        state.flags[self] = Complete;
        continue;
      }
      ++state.incomplete;
      unsigned queue = queueOf(model, rank, list[i], *port);
      uint32_t before = last[queue];
      if (before == none)
        used.push_back(queue);
      last[queue] = self;
      if (group && before != none && before >= group->begin) {
        // The batch is in this queue already: only extend the chain.
        ++group->open;
        state.next[before] = self;
        continue;
      }
      state.flags[self] = Entry;
      if (before == none)
        state.flags[self] |= AtHead;
      else
        state.next[before] = self;
      if (group) {
        ++group->open;
        group->behind += before != none;
      }
    }
  }

  WaitState &state;
  const Transfers &transfers;
  const CommModel &model;
  unsigned rank = 0;
  /// The last step of each queue of the current rank, and the queues in use.
  std::vector<uint32_t> last;
  std::vector<uint32_t> used;
};

WaitState::WaitState(const Schedule &schedule, const Transfers &transfers,
                     const CommModel &model)
    : flags(transfers.numbers().size()), next(transfers.numbers().size(), none),
      at(schedule.numRanks) {
  Chainer chainer(*this, transfers, model, maxQueues(schedule, model));
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
    chainer.chain(rank, schedule.ranks[rank], transfers.numbers().begin(rank));
}

} // namespace pipec
