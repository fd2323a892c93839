//===- InsertP2P.cpp - Adding sends and receives --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For every F, B and I whose neighbor stage is on another rank, the pass adds a
// send after the producer and a receive before the consumer:
//
//   rank 0    rank 1                 rank 0                 rank 1
//   F s0 m0   F s1 m0                F s0 m0                RECV_F s1 m0 <- r0
//   B s0 m0   B s1 m0      ->        SEND_F s0 m0 -> r1     F s1 m0
//                                    RECV_B s0 m0 <- r1     B s1 m0
//                                    B s0 m0                SEND_B s1 m0 -> r0
//
// An order determines their positions between the computes; each order has its
// own file (P2POrders.h).
//
// Needs: level compute, no P2P steps. Ensures: level placed; the schedule
// finishes with one in-order stream per rank. Cost: linear in the steps; both
// lists are in memory.
//
//===----------------------------------------------------------------------===//

#include "IR/DataFlow.h"
#include "Transforms/Checks.h"
#include "Transforms/P2POrders.h"
#include "Transforms/Passes.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

std::vector<StepList> listsForP2P(const Schedule &schedule, bool keepBubbles) {
  DataFlow flow(schedule);
  std::vector<size_t> sizes(schedule.numRanks);
  for (const auto &[rank, list] : enumerate(schedule.ranks))
    for (Step step : list) {
      sizes[rank] += keepBubbles || step.kind() != StepKind::Bubble;
      for (const DataFlow::Port &output : flow.outputs(step))
        if (output.transfers) {
          ++sizes[rank];
          ++sizes[output.rank];
        }
    }
  std::vector<StepList> lists(schedule.numRanks);
  for (auto [list, size] : zip_equal(lists, sizes))
    list.reserve(size);
  return lists;
}

namespace {

class InsertP2P : public Pass {
public:
  explicit InsertP2P(const InsertP2POptions &options) : options(options) {}

  LogicalResult run(Schedule &schedule, DiagEngine &diags) override {
    if (schedule.hasP2P())
      return options.existing == IfThere::Keep
                 ? success()
                 : checkNoP2P(schedule, "insert-p2p", diags);
    if (failed(checkEnoughSteps(schedule, "insert-p2p", diags)))
      return failure();
    FailureOr<std::vector<StepList>> lists = place(schedule, diags);
    if (failed(lists))
      return failure();
    schedule.ranks = std::move(*lists);
    schedule.times.clear();
    return success();
  }
  bool usesCosts() const override { return options.order == P2POrder::Timed; }

private:
  FailureOr<std::vector<StepList>> place(const Schedule &schedule,
                                         DiagEngine &diags) const {
    switch (options.order) {
    case P2POrder::Simulate:
      return placeP2PInRounds(schedule, diags);
    case P2POrder::Column:
      return placeP2PInColumns(schedule, diags);
    case P2POrder::Timed:
      return placeP2PInTime(
          schedule, {options.at, options.favor, options.rounds, options.model},
          diags);
    }
    llvm_unreachable("every order has its function");
  }

  InsertP2POptions options;
};

} // namespace

std::unique_ptr<Pass> makeInsertP2P(const InsertP2POptions &options) {
  return std::make_unique<InsertP2P>(options);
}

} // namespace pipec
