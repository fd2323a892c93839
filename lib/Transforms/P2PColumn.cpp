//===- P2PColumn.cpp - Transfers slot by slot -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of HyperParallel's `add_send_recv`. Position t of every list is
// time slot t; the lists are processed slot by slot:
//
//   1. the step of every rank in this slot is appended to its new list,
//   2. the transfers of the even ranks' steps are appended to both of their
//   lists,
//   3. then the transfers of the odd ranks' steps.
//
// An overlap takes one slot per member: it is appended in the first slot, and
// the transfers of its k-th member in the k-th. Bubbles take a slot and are
// kept. FSDP actions take none, so that they do not shift the slots of one rank
// relative to another.
//
// A transfer is at the end of its slot, so its consumer must be in a later
// slot. A step that is not is reported, since its receive would follow it.
//
//===----------------------------------------------------------------------===//

#include "IR/StepPlaces.h"
#include "Transforms/P2POrders.h"

#include "Support/Diagnostics/PassesDiags.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

namespace {

class ColumnScan {
public:
  ColumnScan(const Schedule &schedule, DiagEngine &diags)
      : schedule(schedule), diags(diags), flow(schedule), there(flow.size()),
        lists(listsForP2P(schedule, /*keepBubbles=*/true)),
        states(schedule.numRanks) {}

  FailureOr<std::vector<StepList>> run() {
    bool good = true;
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
      if (!schedule.ranks[rank].empty())
        active.push_back(rank);
    for (size_t slot = 0; !active.empty(); ++slot) {
      for (unsigned rank : active)
        good &= takeStep(rank, slot);
      for (unsigned parity : {0, 1})
        for (unsigned rank : active)
          if (rank % 2 == parity)
            give(rank);
      erase_if(active, [&](unsigned rank) {
        const RankState &state = states[rank];
        return state.at == schedule.ranks[rank].size() && !state.inOverlap;
      });
      if (!good)
        return failure();
    }
    return std::move(lists);
  }

private:
  struct RankState {
    /// The index after the last step that was read.
    size_t at = 0;
    /// The compute step of this slot; null for a bubble.
    const Step *step = nullptr;
    /// True if the member after `step` has the next slot.
    bool inOverlap = false;
    /// The phase of the last step read, which receives share.
    uint8_t phase = 0;
  };

  /// Advances the rank to the next slot. Returns false if an input of its step
  /// is not available.
  bool takeStep(unsigned rank, size_t slot) {
    RankState &state = states[rank];
    const StepList &list = schedule.ranks[rank];
    StepList &out = lists[rank];
    if (state.inOverlap) {
      ++state.step;
      state.inOverlap = state.step->joined();
      return true;
    }
    state.step = nullptr;
    while (state.at != list.size() &&
           (isPosted(list[state.at].kind()) || isWait(list[state.at].kind())))
      out.push_back(list[state.at++]);
    if (state.at == list.size())
      return true;
    state.phase = list[state.at].phase();
    if (list[state.at].kind() == StepKind::Bubble) {
      out.push_back(list[state.at++]);
      return true;
    }
    size_t end = Schedule::groupEnd(list, state.at);
    state.step = &list[state.at];
    state.inOverlap = state.step->joined();
    bool good = true;
    for (; state.at != end; ++state.at) {
      out.push_back(list[state.at]);
      good &= checkArrived(list[state.at], rank, slot);
    }
    return good;
  }

  bool checkArrived(Step step, unsigned rank, size_t slot) {
    for (const DataFlow::Port &input : flow.inputs(step)) {
      if (there[flow.datum(input, step.unit())])
        continue;
      Step producer = DataFlow::partner(input, step.unit());
      (void)diags.report(step.source(), diag::ColumnNotAligned,
                         stepText(schedule, step), slot, rank,
                         stepText(schedule, producer), input.rank);
      return false;
    }
    return true;
  }

  /// Appends the transfers of the results of the rank's step in this slot.
  void give(unsigned rank) {
    const Step *step = states[rank].step;
    if (!step)
      return;
    for (const auto &[port, output] : enumerate(flow.outputs(*step))) {
      there[flow.datum(output, step->unit())] = true;
      if (!output.transfers)
        continue;
      lists[rank].push_back(sendOf(*step, port));
      lists[output.rank].push_back(
          recvOf(*step, output, states[output.rank].phase));
    }
  }

  const Schedule &schedule;
  DiagEngine &diags;
  DataFlow flow;
  /// The data that has been produced.
  std::vector<bool> there;
  std::vector<StepList> lists;
  std::vector<RankState> states;
  /// The ranks that have not reached the end of their lists, in ascending
  /// order.
  std::vector<unsigned> active;
};

} // namespace

FailureOr<std::vector<StepList>> placeP2PInColumns(const Schedule &schedule,
                                                   DiagEngine &diags) {
  return ColumnScan(schedule, diags).run();
}

} // namespace pipec
