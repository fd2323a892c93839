//===- RankWaits.h - The waits for sends of one rank ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "IR/DataFlow.h"
#include "Transforms/Checks.h"
#include "Transforms/Passes.h"
#include "Waiting/ActionTable.h"

#include "llvm/ADT/STLExtras.h"

#include <optional>
#include <vector>

namespace pipec {

/// Determines the places of the waits of one rank, group by group.
class RankWaits {
public:
  RankWaits(const Schedule &schedule, const DataFlow &flow, unsigned rank,
            const InsertWaitsOptions &options)
      : flow(flow), list(schedule.ranks[rank]), options(options) {
    if (options.sends != WaitPlace::Backward)
      return;
    byBackward.emplace(schedule);
    byBackward->startRank(rank);
  }

  /// Called when the rank reaches the group at `at`. Inserts the waits that are
  /// due there. `isOver(index)` tells whether the send at this index is
  /// complete. If a send that is due is not complete, returns false, which
  /// means that the rank should stop. With `mustPass`, the rank passes; the
  /// wait remains due but the rank no longer stops for it.
  template <typename IsOver>
  bool reach(size_t at, bool mustPass, IsOver isOver) {
    passGroups(at);
    // Waits that the rank has passed without: insert them as soon as possible.
    llvm::erase_if(late, [&](size_t send) {
      if (!waits[send] && isOver(send))
        place(at, send);
      return bool(waits[send]);
    });
    for (; firstDue != due.size(); ++firstDue) {
      size_t send = due[firstDue];
      if (waits[send])
        continue;
      if (isOver(send))
        place(at, send);
      else if (mustPass)
        late.push_back(send);
      else
        return stay(send);
    }
    return !options.budget || keepBudget(at, mustPass, isOver);
  }

  /// Called instead of a run: leaves all waits to the end, and records where
  /// that exceeds the budget.
  void finishWithoutRun() {
    if (!options.budget)
      return;
    size_t posted = 0;
    for (size_t at = 0, end; at != list.size() && !excess; at = end) {
      end = Schedule::groupEnd(list, at);
      size_t more = countSends(at, end);
      posted += more;
      if (more && posted > options.budget->value)
        noteExcess(ExcessCause::NoEnd, at, more, posted);
    }
  }

  /// Inserts the remaining waits at the end of the list.
  void finish() {
    passGroups(list.size());
    for (size_t send : sends)
      if (!waits[send])
        place(list.size(), send);
  }

  llvm::ArrayRef<AddedStep> placed() const { return result; }
  /// The send that the rank stops for, as an index into its list.
  size_t awaited() const { return awaitedSend; }
  /// Why the budget is exceeded at a send.
  enum class ExcessCause {
    /// A wait for an older send would deadlock there.
    WouldDeadlock,
    /// The batch of the send has more sends than the budget.
    Batch,
    /// The list finishes under no model.
    NoEnd,
  };
  /// The first send that is posted above the budget: the first of its batch.
  struct Excess {
    ExcessCause cause;
    size_t send;
    /// The number of outstanding sends when it is posted; for `Batch`, the
    /// number of sends of the batch.
    size_t sends;
    /// For `WouldDeadlock`, the send without a wait.
    size_t oldest = 0;
  };
  std::optional<Excess> excess;

private:
  /// Records the sends of the groups before `at` and the waits that become due.
  void passGroups(size_t at) {
    if (waits.empty())
      waits.resize(list.size());
    for (; passed != at; ++passed) {
      Step step = list[passed];
      if (isSend(step.kind())) {
        sends.push_back(passed);
        ++outstanding;
        if (byBackward && dataKind(step.kind()) == DataKind::Activation)
          byBackward->insert(step.stage(), step.unit(),
                             /*backward=*/false, uint32_t(passed), step.port());
      } else if (byBackward && makesInputGradient(step.kind())) {
        Step forward(StepKind::F, step.stage(), step.unit());
        for (unsigned port = 0; port != flow.outputs(forward).size(); ++port) {
          uint32_t send = byBackward->find(step.stage(), step.unit(),
                                           /*backward=*/false, port);
          if (send != ActionTable::none)
            due.push_back(send);
        }
      }
    }
  }

  template <typename IsOver>
  bool keepBudget(size_t at, bool mustPass, IsOver isOver) {
    if (!isP2P(list[at].kind()))
      return true;
    size_t more = countSends(at, Schedule::groupEnd(list, at));
    while (more && outstanding && outstanding + more > options.budget->value) {
      while (waits[sends[oldest]])
        ++oldest;
      size_t send = sends[oldest];
      if (isOver(send)) {
        place(at, send);
        continue;
      }
      if (!mustPass)
        return stay(send);
      late.push_back(send);
      noteExcess(ExcessCause::WouldDeadlock, at, more, outstanding + more,
                 send);
      return true;
    }
    if (more > options.budget->value)
      noteExcess(ExcessCause::Batch, at, more, more);
    return true;
  }

  /// The number of sends of the group [at, end).
  size_t countSends(size_t at, size_t end) const {
    return llvm::count_if(llvm::ArrayRef(list).slice(at, end - at),
                          [](Step step) { return isSend(step.kind()); });
  }

  /// Records that the group at `at` with `more` sends exceeds the budget when
  /// `posted` of them are outstanding. Waits cannot help if the group alone
  /// exceeds the budget.
  void noteExcess(ExcessCause cause, size_t at, size_t more, size_t posted,
                  size_t oldestSend = 0) {
    if (excess)
      return;
    if (more > options.budget->value)
      cause = ExcessCause::Batch;
    while (!isSend(list[at].kind()))
      ++at;
    excess = {cause, at, cause == ExcessCause::Batch ? more : posted,
              oldestSend};
  }

  bool stay(size_t send) {
    awaitedSend = send;
    return false;
  }

  void place(size_t before, size_t send) {
    Step step = list[send];
    Step like = before != 0 ? list[before - 1] : step;
    Step wait(waitOfSend(step.kind()), step.stage(), step.unit(), like.phase(),
              like.source());
    wait.setPort(step.port());
    result.push_back({before, wait});
    waits[send] = true;
    --outstanding;
  }

  const DataFlow &flow;
  const StepList &list;
  const InsertWaitsOptions &options;

  size_t passed = 0;
  /// The indices of the sends so far, and which of all steps have a wait.
  std::vector<size_t> sends;
  std::vector<bool> waits;
  size_t oldest = 0;
  size_t outstanding = 0;
  /// The SEND_F of each activation, for `sends=backward`.
  std::optional<ActionTable> byBackward;
  std::vector<size_t> due;
  size_t firstDue = 0;
  std::vector<size_t> late;
  size_t awaitedSend = 0;
  std::vector<AddedStep> result;
};

} // namespace pipec
