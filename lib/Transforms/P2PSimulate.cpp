//===- P2PSimulate.cpp - Transfers in rounds over the ranks ---------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The order of PyTorch's `_add_send_recv`. The lists are run in rounds: in each
// round every rank, in ascending order, takes its next step (an overlap is one)
// if the results that it needs have arrived, and the sends and receives that
// follow from it go to the ends of the two new lists in the same moment.
//
// A rank whose step becomes ready in a round still takes it in that round if
// its turn is yet to come, and in the next round otherwise:
//
//   round 1   rank 0: F s0 m0, SEND_F     its RECV_F goes to rank 1, so
//             rank 1: F s1 m0, SEND_F     this runs in round 1 too
//   round 2   rank 0: F s0 m1 ...
//
// Looking at every rank in every round would cost (ranks x rounds), which is
// quadratic when few ranks can run at a time. Instead the ranks that can run
// are kept as bits, for this round and for the next one. A rank that cannot run
// notes the result that it waits for, and whoever makes that result sets the
// bit. A rank waits for one result at a time, so each step is looked at once
// for itself and once for each result that it takes.
//
//===----------------------------------------------------------------------===//

#include "Simulation/Blocked.h"
#include "Transforms/P2POrders.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

using namespace llvm;

namespace pipec {

namespace {

class RoundSimulation {
public:
  explicit RoundSimulation(const Schedule &schedule)
      : schedule(schedule), flow(schedule), there(flow.size()),
        states(schedule.numRanks), current((schedule.numRanks + 63) / 64),
        next(current.size()) {
    std::vector<StepList> lists = listsForP2P(schedule, /*keepBubbles=*/false);
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
      RankState &state = states[rank];
      const StepList &list = schedule.ranks[rank];
      state.head = list.data();
      state.end = list.data() + list.size();
      state.out = std::move(lists[rank]);
      state.phase = list.empty() ? 0 : list.front().phase();
      if (isReady(state))
        set(next, rank);
    }
  }

  FailureOr<std::vector<StepList>> run(DiagEngine &diags) {
    do {
      std::swap(current, next);
    } while (runRound());
    return finish(diags);
  }

private:
  static constexpr size_t nothing = ~size_t(0);

  /// All that one step of a rank touches, in one line of the cache.
  struct alignas(64) RankState {
    /// The next step of the rank's list, and the end of the list.
    const Step *head = nullptr;
    const Step *end = nullptr;
    StepList out;
    /// What the head waits for.
    size_t missing = nothing;
    /// The phase of the last step taken, which receives share.
    uint8_t phase = 0;
  };

  static void set(std::vector<uint64_t> &bits, unsigned rank) {
    bits[rank / 64] |= uint64_t(1) << (rank % 64);
  }

  /// Takes one step on every rank that can run; false when none could.
  bool runRound() {
    bool progress = false;
    for (size_t word = 0; word != current.size(); ++word)
      while (current[word]) {
        unsigned bit = llvm::countr_zero(current[word]);
        current[word] &= current[word] - 1;
        takeStep(word * 64 + bit);
        progress = true;
      }
    return progress;
  }

  void takeStep(unsigned rank) {
    RankState &state = states[rank];
    const Step *step = state.head;
    state.phase = step->phase();
    if (!step->joined()) {
      state.head = step + 1;
      if (step->kind() != StepKind::Bubble)
        state.out.push_back(*step);
      give(state, rank, *step);
    } else {
      takeOverlap(state, rank);
    }
    if (isReady(state))
      set(next, rank);
  }

  /// All members go to the list before the first of their transfers.
  void takeOverlap(RankState &state, unsigned rank) {
    const Step *begin = state.head;
    do
      state.out.push_back(*state.head);
    while (state.head++->joined());
    for (const Step *step = begin; step != state.head; ++step)
      give(state, rank, *step);
  }

  /// Puts down the transfers of what `step` makes and wakes the ranks that wait
  /// for it.
  void give(RankState &state, unsigned rank, Step step) {
    unsigned port = 0;
    for (const DataFlow::Port &output : flow.outputs(step)) {
      size_t number = flow.datum(output, step.microbatch());
      there[number] = true;
      if (output.transfers) {
        RankState &consumer = states[output.rank];
        state.out.push_back(sendOf(step, port));
        consumer.out.push_back(recvOf(step, output, consumer.phase));
        __builtin_prefetch(&state.out.back() + 16, 1);
        __builtin_prefetch(&consumer.out.back() + 16, 1);
        if (consumer.missing == number && isReady(consumer))
          set(output.rank > rank ? current : next, output.rank);
      }
      ++port;
    }
  }

  /// True when the rank has a next step and the results for it are there;
  /// notes the first that is not.
  bool isReady(RankState &state) {
    state.missing = nothing;
    if (state.head == state.end)
      return false;
    for (const Step *step = state.head;; ++step) {
      if (const DataFlow::Port *input = missingInput(*step)) {
        state.missing = flow.datum(*input, step->microbatch());
        __builtin_prefetch(state.head + 8);
        return false;
      }
      if (!step->joined())
        return true;
    }
  }

  /// The first input of `step` that has not been made, null when all are there.
  const DataFlow::Port *missingInput(Step step) const {
    for (const DataFlow::Port &input : flow.inputs(step))
      if (!there[flow.datum(input, step.microbatch())])
        return &input;
    return nullptr;
  }

  FailureOr<std::vector<StepList>> finish(DiagEngine &diags) {
    std::vector<size_t> heads;
    bool done = true;
    for (const auto &[state, list] : zip_equal(states, schedule.ranks)) {
      heads.push_back(state.head - list.data());
      done &= state.head == state.end;
    }
    if (!done)
      return reportBlocked(
          schedule, flow, heads,
          [&](Step step) { return missingInput(step); }, diags);
    std::vector<StepList> lists;
    lists.reserve(states.size());
    for (RankState &state : states)
      lists.push_back(std::move(state.out));
    return lists;
  }

  const Schedule &schedule;
  DataFlow flow;
  /// By number, the data that has been made. Bytes, so that nothing is read to
  /// write one.
  std::vector<uint8_t> there;
  std::vector<RankState> states;
  /// The ranks that can run: in this round, and in the next one.
  std::vector<uint64_t> current, next;
};

} // namespace

FailureOr<std::vector<StepList>> placeP2PInRounds(const Schedule &schedule,
                                                  DiagEngine &diags) {
  return RoundSimulation(schedule).run(diags);
}

} // namespace pipec
