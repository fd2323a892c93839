//===- P2PSimulate.cpp - Transfers in rounds over the ranks ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of PyTorch's `_add_send_recv`. The lists are run in rounds: in each
// round every rank, in ascending order, runs its next step (or overlap) if its
// inputs have arrived, and the resulting sends and receives are immediately
// appended to the two new lists.
//
// A rank whose step becomes ready during a round runs it in the same round if
// the rank comes later in the order, and in the next round otherwise:
//
//   round 1   rank 0: F s0 m0, SEND_F     its RECV_F goes to rank 1, so
//             rank 1: F s1 m0, SEND_F     this runs in round 1 too
//   round 2   rank 0: F s0 m1 ...
//
// Checking every rank in every round would cost (ranks x rounds), which is
// quadratic if few ranks can run at a time. Instead, bit sets contain the ranks
// that can run in this round and in the next one. A rank that cannot run
// records its first missing input, and the producer of that input sets the bit.
// A rank waits for one input at a time, so each step is checked once, plus once
// per input.
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

  /// All data for one step of a rank, in one cache line.
  struct alignas(64) RankState {
    /// The next step of the rank's list, and the end of the list.
    const Step *head = nullptr;
    const Step *end = nullptr;
    StepList out;
    /// The missing input of the head.
    size_t missing = nothing;
    /// The phase of the last step, which receives share.
    uint8_t phase = 0;
  };

  static void set(std::vector<uint64_t> &bits, unsigned rank) {
    bits[rank / 64] |= uint64_t(1) << (rank % 64);
  }

  /// Runs one step on every rank that can run; returns false if there is none.
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

  /// All members are appended before the first of their transfers.
  void takeOverlap(RankState &state, unsigned rank) {
    const Step *begin = state.head;
    do
      state.out.push_back(*state.head);
    while (state.head++->joined());
    for (const Step *step = begin; step != state.head; ++step)
      give(state, rank, *step);
  }

  /// Appends the transfers of the results of `step`, and marks the ranks that
  /// wait for them as runnable.
  void give(RankState &state, unsigned rank, Step step) {
    if (!flow.takesOrMakes(step.kind()))
      return;
    unsigned port = 0;
    for (const DataFlow::Port &output : flow.outputs(step)) {
      size_t number = flow.datum(output, step.unit());
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

  /// True if the rank has a next step and its inputs are available; otherwise
  /// records the first missing input.
  bool isReady(RankState &state) {
    state.missing = nothing;
    if (state.head == state.end)
      return false;
    for (const Step *step = state.head;; ++step) {
      if (const DataFlow::Port *input = missingInput(*step)) {
        state.missing = flow.datum(*input, step->unit());
        __builtin_prefetch(state.head + 8);
        return false;
      }
      if (!step->joined())
        return true;
    }
  }

  /// The first input of `step` that has not been produced; null if there is
  /// none.
  const DataFlow::Port *missingInput(Step step) const {
    if (!flow.takesOrMakes(step.kind()))
      return nullptr;
    for (const DataFlow::Port &input : flow.inputs(step))
      if (!there[flow.datum(input, step.unit())])
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
          schedule, flow, heads, [&](Step step) { return missingInput(step); },
          diags);
    std::vector<StepList> lists;
    lists.reserve(states.size());
    for (RankState &state : states)
      lists.push_back(std::move(state.out));
    return lists;
  }

  const Schedule &schedule;
  DataFlow flow;
  /// Indexed by number, the data that has been produced. Bytes instead of bits,
  /// so that a store needs no load.
  std::vector<uint8_t> there;
  std::vector<RankState> states;
  /// The ranks that can run in this round, and in the next one.
  std::vector<uint64_t> current, next;
};

} // namespace

FailureOr<std::vector<StepList>> placeP2PInRounds(const Schedule &schedule,
                                                  DiagEngine &diags) {
  return RoundSimulation(schedule).run(diags);
}

} // namespace pipec
