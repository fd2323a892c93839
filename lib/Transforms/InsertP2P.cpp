//===- InsertP2P.cpp - Adding sends and receives --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An order determines the positions of transfers between the computes; each
// order has its own file (P2POrders.h). Both lists are in memory.
//
//===----------------------------------------------------------------------===//

#include "IR/DataFlow.h"
#include "Support/Diagnostics/PassesDiags.h"
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
         std::optional<PlacedTransfers> &placed, DiagEngine &diags) {
  FailureOr<CommModel> model =
      readModel(options.model.value_or(modelOption(WaitModel::Stream)), diags);
  if (failed(model))
    return failure();
  switch (options.order) {
  case P2POrder::Simulate:
    return placeP2PInRounds(schedule, diags);
  case P2POrder::Column:
    return placeP2PInColumns(schedule, diags);
  case P2POrder::Timed:
    return *model == WaitModel::BlockingSends
               ? placeP2PForBlockingSends(schedule, diags)
               : placeP2PInTime(schedule, options, *model, diags);
  case P2POrder::Search:
    return placeP2PBySearch(schedule, options, *model, placed, diags);
  }
  llvm_unreachable("every order has its function");
}

/// Reports an option that has no effect with the order.
static LogicalResult checkOptions(const InsertP2POptions &options,
                                  DiagEngine &diags) {
  bool timed = options.order == P2POrder::Timed;
  bool search = options.order == P2POrder::Search;
  struct Row {
    bool isGiven;
    bool hasEffect;
    StringRef name;
    StringRef orders;
  };
  for (const Row &row : {
           Row{options.at.has_value(), timed, "at", "order=timed"},
           {options.favor.has_value(), timed, "favor", "order=timed"},
           {options.rounds.has_value(), timed, "rounds", "order=timed"},
           {options.model.has_value(), timed || search, "model",
            "order=timed` and `order=search"},
           {options.effort.has_value(), search, "effort", "order=search"},
           {options.seed.has_value(), search, "seed", "order=search"},
           {options.post.has_value(), search, "post", "order=search"},
       })
    if (row.isGiven && !row.hasEffect)
      return diags.report(SourceLoc(), diag::P2POptionOrder, row.name,
                          row.orders,
                          PassOptionType<P2POrder>::print(options.order));
  return success();
}

LogicalResult runInsertP2P(Schedule &schedule, const InsertP2POptions &options,
                           DiagEngine &diags) {
  if (failed(checkOptions(options, diags)))
    return failure();
  if (schedule.hasP2P())
    return options.existing == IfThere::Keep
               ? success()
               : checkNone(schedule, Stream::Link, "insert-p2p", diags);
  if (failed(checkEnoughSteps(schedule, "insert-p2p", diags)))
    return failure();
  std::optional<PlacedTransfers> placed;
  FailureOr<std::vector<StepList>> lists =
      placeP2P(schedule, options, placed, diags);
  if (failed(lists))
    return failure();
  schedule.ranks = std::move(*lists);
  schedule.times.clear();
  if (placed)
    placed->digest = schedule.orderDigest();
  schedule.placedTransfers = std::move(placed);
  return success();
}

} // namespace pipec
