//===- InsertWaits.cpp - Adding waits for sends and reductions ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each send gets a wait later in its list:
//
//   sends=backward         sends=end              sends=end,budget=1
//   SEND_F s0 m0           SEND_F s0 m0           SEND_F s0 m0
//   SEND_F s0 m1           SEND_F s0 m1           WAIT_SEND_F s0 m0
//   B s0 m0                B s0 m0                SEND_F s0 m1
//   WAIT_SEND_F s0 m0      B s0 m1                B s0 m0
//   B s0 m1                WAIT_SEND_F s0 m0      B s0 m1
//   WAIT_SEND_F s0 m1      WAIT_SEND_F s0 m1      WAIT_SEND_F s0 m1
//
// A wait is due at a certain place: after the backward of its activation,
// before the send that would exceed the budget, or at the end. A list that
// finishes with blocking transfers (`endsWithBlockingTransfers`) finishes with
// waits anywhere after their sends, because in that run no rank passes a send
// before it is complete. Its waits are inserted where they are due.
//
// Any other list is run under the strictest communication model under which it
// finishes. A rank that reaches a place where a wait is due stops there until
// the send is complete. When no rank can continue, one of these ranks passes
// without the wait, which is then inserted at the next place that the rank
// reaches after the completion of the send. This run is a run of the resulting
// list, so that list also finishes, under this model and every milder one.
//
//===----------------------------------------------------------------------===//

#include "IR/StepPlaces.h"
#include "Support/Diagnostics/PassesDiags.h"
#include "Transforms/Checks.h"
#include "Transforms/RankWaits.h"
#include "Transforms/Reductions.h"
#include "Waiting/WaitEngine.h"
#include "Waiting/Waiting.h"

#include "llvm/ADT/STLExtras.h"

#include <utility>

using namespace llvm;

namespace pipec {

namespace {

/// Stops the ranks of a run of `WaitEngine` where waits are due.
class WaitGate {
public:
  static constexpr bool gates = true;

  WaitGate(const StepNumbers &numbers, std::vector<RankWaits> &ranks)
      : numbers(numbers), ranks(ranks),
        awaited(ranks.size(), StepNumbers::none), pass(ranks.size()) {}

  template <typename IsOver>
  bool mayPass(unsigned rank, size_t at, IsOver isOver) {
    bool passes = ranks[rank].reach(at, pass[rank], [&](size_t send) {
      return isOver(numbers.of(rank, send));
    });
    pass[rank] = false;
    if (passes) {
      awaited[rank] = StepNumbers::none;
      return true;
    }
    awaited[rank] = numbers.of(rank, ranks[rank].awaited());
    staying.push_back(rank);
    return false;
  }

  /// The send that `rank` stops for; `none` if there is none.
  uint32_t awaits(unsigned rank) const { return awaited[rank]; }

  /// A stopped rank that may pass now, if there is one.
  std::optional<unsigned> letPass() {
    while (!staying.empty()) {
      unsigned rank = staying.back();
      staying.pop_back();
      if (awaited[rank] == StepNumbers::none)
        continue;
      pass[rank] = true;
      return rank;
    }
    return std::nullopt;
  }

private:
  const StepNumbers &numbers;
  std::vector<RankWaits> &ranks;
  std::vector<uint32_t> awaited;
  std::vector<bool> pass;
  /// Ranks that have stopped; some of them may have continued since.
  std::vector<unsigned> staying;
};

} // namespace

/// Runs the ranks concurrently, each stopped where a wait is due.
static void placeSafely(const Schedule &schedule,
                        std::vector<RankWaits> &ranks) {
  Transfers transfers(schedule);
  ArrayRef<WaitModel> models = mainWaitModels();
  const WaitModel *model = find_if(models, [&](WaitModel model) {
    return Waiting(schedule, transfers, model).ends();
  });
  // If it finishes under no model, the waits go to the end.
  if (model == models.end()) {
    for (RankWaits &rank : ranks)
      rank.finishWithoutRun();
    return;
  }
  NoTime time;
  WaitGate gate(transfers.numbers(), ranks);
  WaitEngine<NoTime, WaitGate> engine(schedule, transfers, *model, time, gate);
  engine.start();
  while (std::optional<unsigned> rank = gate.letPass())
    engine.resume(*rank);
}

static void warnOfExcess(const Schedule &schedule, unsigned rank,
                         uint64_t budget, const RankWaits::Excess &excess,
                         DiagEngine &diags) {
  using Cause = RankWaits::ExcessCause;
  const StepList &list = schedule.ranks[rank];
  SourceLoc at = list[excess.send].source();
  StepPlace send = StepPlaces(schedule).name(rank, excess.send);
  switch (excess.cause) {
  case Cause::WouldDeadlock:
    (void)diags.report(at, diag::SendBudget, send, excess.sends, budget,
                       stepText(schedule, list[excess.oldest]));
    return;
  case Cause::Batch:
    (void)diags.report(at, diag::SendBudgetBatch, send, excess.sends, budget);
    return;
  case Cause::NoEnd:
    (void)diags.report(at, diag::SendBudgetNoEnd, send, excess.sends, budget);
    return;
  }
  llvm_unreachable("every cause is listed");
}

static void placeSendWaits(Schedule &schedule,
                           const InsertWaitsOptions &options,
                           DiagEngine &diags) {
  DataFlow flow(schedule);
  std::vector<RankWaits> ranks;
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
    ranks.emplace_back(schedule, flow, rank, options);
  if (endsWithBlockingTransfers(schedule)) {
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
      const StepList &list = schedule.ranks[rank];
      for (size_t at = 0; at != list.size(); at = Schedule::groupEnd(list, at))
        (void)ranks[rank].reach(at, /*mustPass=*/false,
                                [](size_t) { return true; });
    }
  } else {
    placeSafely(schedule, ranks);
  }
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
    ranks[rank].finish();
    if (ranks[rank].excess)
      warnOfExcess(schedule, rank, options.budget->value, *ranks[rank].excess,
                   diags);
  }
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
    insertSteps(schedule, rank, ranks[rank].placed());
}

static void placeReduceWaits(Schedule &schedule, ReduceWait mode) {
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
    const StepList &list = schedule.ranks[rank];
    std::vector<AddedStep> added;
    Reductions reductions(mode, added);
    for (size_t i = 0; i != list.size(); ++i) {
      if (list[i].kind() != StepKind::ReduceGrad)
        continue;
      reductions.wait(i);
      reductions.pass(i + 1, list[i]);
    }
    reductions.wait(list.size());
    insertSteps(schedule, rank, added);
  }
}

LogicalResult runInsertWaits(Schedule &schedule,
                             const InsertWaitsOptions &options,
                             DiagEngine &diags) {
  for (const auto &[rank, list] : enumerate(schedule.ranks))
    for (Step step : list)
      if (options.existing != IfThere::Keep && isSendWait(step.kind()))
        return diags.report(step.source(), diag::PassMeetsWaits,
                            stepText(schedule, step), rank, "insert-waits");
  if (options.reduce != ReduceWait::None && !schedule.hasReduceWaits())
    placeReduceWaits(schedule, options.reduce);
  if (!schedule.hasSendWaits())
    placeSendWaits(schedule, options, diags);
  return success();
}

} // namespace pipec
