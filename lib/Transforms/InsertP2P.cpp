//===- InsertP2P.cpp - Adding sends and receives --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An order determines the positions of transfers between the computes; each
// order has its own file (P2POrders.h). Both lists are in memory.
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

static FailureOr<std::vector<StepList>>
placeP2P(const Schedule &schedule, const InsertP2POptions &options,
         DiagEngine &diags) {
  switch (options.order) {
  case P2POrder::Simulate:
    return placeP2PInRounds(schedule, diags);
  case P2POrder::Column:
    return placeP2PInColumns(schedule, diags);
  case P2POrder::Timed:
    return options.model == WaitModel::BlockingSends
               ? placeP2PForBlockingSends(schedule, diags)
               : placeP2PInTime(schedule, options, diags);
  }
  llvm_unreachable("every order has its function");
}

LogicalResult runInsertP2P(Schedule &schedule, const InsertP2POptions &options,
                           DiagEngine &diags) {
  if (schedule.hasP2P())
    return options.existing == IfThere::Keep
               ? success()
               : checkNone(schedule, Stream::Link, "insert-p2p", diags);
  if (failed(checkEnoughSteps(schedule, "insert-p2p", diags)))
    return failure();
  FailureOr<std::vector<StepList>> lists = placeP2P(schedule, options, diags);
  if (failed(lists))
    return failure();
  schedule.ranks = std::move(*lists);
  schedule.times.clear();
  return success();
}

} // namespace pipec
