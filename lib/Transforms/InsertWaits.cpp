//===- InsertWaits.cpp - Adding waits for sends and reductions ------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
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
// A wait is due at a place: after the backward of its activation, before the
// send that would exceed the budget, or at the end. A list that ends when every
// transfer blocks (Waiting/BlockingRun.h) ends with waits anywhere after their
// sends: in that run no rank passes a send before it is complete. Its waits go
// where they are due.
//
// Any other list is run under the strictest model of waiting under which it
// ends, and a rank that comes to a place where a wait is due stays there until
// the send is complete. When nothing can go on, one of these ranks passes
// without the wait, which then goes to the next place that the rank reaches
// with the send complete. The run is a run of the list that results, so that
// list ends too, under that model and every later one.
//
// A list that ends under no model gets its waits at the end. Where the budget
// is not kept, a warning says why: a wait would deadlock, one batch has more
// sends than the budget, or the list does not end anyway.
//
// Needs: level placed. Ensures: level placed, and sharded where reductions got
// waits; ends under the models of waiting under which it did before. Cost:
// linear in the steps; both lists are in memory.
//
//===----------------------------------------------------------------------===//

#include "IR/StepPlaces.h"
#include "Support/Diagnostics/PassesDiags.h"
#include "Transforms/Checks.h"
#include "Transforms/Passes.h"
#include "Waiting/ActionTable.h"
#include "Waiting/BlockingRun.h"
#include "Waiting/WaitEngine.h"
#include "Waiting/Waiting.h"

#include "llvm/ADT/STLExtras.h"

#include <utility>

using namespace llvm;

namespace pipec {

namespace {

/// A wait in its place: before the step of that index of the old list.
struct PlacedWait {
  size_t before;
  Step wait;
};

/// Decides where the waits of one rank go, from group to group of its list.
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

  /// The rank has come to the group at `at`. Places the waits that are due
  /// there. `isOver(index)` tells whether the send of that index is complete;
  /// when one that is due is not, the rank should stay (false), unless
  /// `mustPass`: then its wait stays due, and the rank waits for it no more.
  template <typename IsOver>
  bool reach(size_t at, bool mustPass, IsOver isOver) {
    passGroups(at);
    // Those that the rank passed without: at the first chance.
    erase_if(late, [&](size_t send) {
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

  /// Instead of a run: leaves all waits to the end, and notes where that
  /// exceeds the budget.
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

  /// Places what is left at the end of the list.
  void finish() {
    passGroups(list.size());
    for (size_t send : sends)
      if (!waits[send])
        place(list.size(), send);
  }

  ArrayRef<PlacedWait> placed() const { return result; }
  /// The send that the rank stays for, an index into its list.
  size_t awaited() const { return awaitedSend; }
  /// Why the budget is not kept at a send.
  enum class ExcessCause {
    /// A wait for an older send would deadlock there.
    WouldDeadlock,
    /// The batch of the send has more sends than the budget.
    Batch,
    /// The list ends under no model.
    NoEnd,
  };
  /// The first send that is posted above the budget: the first of its batch.
  struct Excess {
    ExcessCause cause;
    size_t send;
    /// Outstanding when it is posted; for `Batch` the sends of the batch.
    size_t sends;
    /// With `WouldDeadlock`, the send that is not waited for.
    size_t oldest = 0;
  };
  std::optional<Excess> excess;

private:
  /// Notes what the groups before `at` post and make due.
  void passGroups(size_t at) {
    if (waits.empty())
      waits.resize(list.size());
    for (; passed != at; ++passed) {
      Step step = list[passed];
      if (isSend(step.kind())) {
        sends.push_back(passed);
        ++outstanding;
        if (byBackward && dataKind(step.kind()) == DataKind::Activation)
          byBackward->insert(step.stage(), step.microbatch(),
                             /*backward=*/false, uint32_t(passed),
                             step.port());
      } else if (byBackward && makesInputGradient(step.kind())) {
        Step forward(StepKind::F, step.stage(), step.microbatch());
        for (unsigned port = 0; port != flow.outputs(forward).size(); ++port) {
          uint32_t send = byBackward->find(step.stage(), step.microbatch(),
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

  /// The sends of the group from `at` to `end`.
  size_t countSends(size_t at, size_t end) const {
    return count_if(ArrayRef(list).slice(at, end - at),
                    [](Step step) { return isSend(step.kind()); });
  }

  /// Notes that the group at `at`, which has `more` sends, exceeds the budget
  /// with `posted` of them outstanding. No wait helps a batch that exceeds it
  /// alone.
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
    Step wait(waitOfSend(step.kind()), step.stage(), step.microbatch(),
              like.phase(), like.source());
    wait.setPort(step.port());
    result.push_back({before, wait});
    waits[send] = true;
    --outstanding;
  }

  const DataFlow &flow;
  const StepList &list;
  const InsertWaitsOptions &options;

  size_t passed = 0;
  /// The sends so far, as indices; which of all steps have got their waits.
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
  std::vector<PlacedWait> result;
};

/// Holds the ranks of a run of `WaitEngine` where waits are due.
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

  /// The send that `rank` stays for; `none` when it does not.
  uint32_t awaits(unsigned rank) const { return awaited[rank]; }

  /// A rank that stays, which may pass now; nothing when there is none.
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
  /// Ranks that stayed somewhere; some have gone on since.
  std::vector<unsigned> staying;
};

class InsertWaits : public Pass {
public:
  explicit InsertWaits(const InsertWaitsOptions &options) : options(options) {}

  LogicalResult run(Schedule &schedule, DiagEngine &diags) override;

private:
  void placeSendWaits(Schedule &schedule, DiagEngine &diags) const;
  void warnOfExcess(const Schedule &schedule, unsigned rank,
                    const RankWaits::Excess &excess, DiagEngine &diags) const;
  void placeReduceWaits(Schedule &schedule) const;
  static void insert(Schedule &schedule, unsigned rank,
                     ArrayRef<PlacedWait> placed);

  InsertWaitsOptions options;
};

} // namespace

/// Runs the ranks side by side, each held where a wait is due.
static void placeSafely(const Schedule &schedule,
                        std::vector<RankWaits> &ranks) {
  Transfers transfers(schedule);
  std::array<bool, 4> ends = endsUnder(schedule, transfers);
  auto model = find_if(allWaitModels,
                       [&](WaitModel model) { return ends[unsigned(model)]; });
  // Where it ends under no model all the same: the waits go to the end.
  if (model == std::end(allWaitModels)) {
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

void InsertWaits::warnOfExcess(const Schedule &schedule, unsigned rank,
                               const RankWaits::Excess &excess,
                               DiagEngine &diags) const {
  using Cause = RankWaits::ExcessCause;
  const StepList &list = schedule.ranks[rank];
  SourceLoc at = list[excess.send].source();
  StepPlace send = StepPlaces(schedule).name(rank, excess.send);
  uint64_t budget = options.budget->value;
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

void InsertWaits::placeSendWaits(Schedule &schedule, DiagEngine &diags) const {
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
      warnOfExcess(schedule, rank, *ranks[rank].excess, diags);
  }
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
    insert(schedule, rank, ranks[rank].placed());
}

void InsertWaits::placeReduceWaits(Schedule &schedule) const {
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
    const StepList &list = schedule.ranks[rank];
    std::vector<PlacedWait> placed;
    // The reduction that no wait follows yet; a bubble without one.
    Step pending;
    auto place = [&](size_t before) {
      if (pending.kind() == StepKind::Bubble)
        return;
      pending.setKind(StepKind::WaitReduceGrad);
      placed.push_back({before, std::exchange(pending, Step())});
    };
    for (size_t i = 0; i != list.size(); ++i) {
      if (list[i].kind() != StepKind::ReduceGrad)
        continue;
      place(i);
      pending = list[i];
      if (options.reduce == ReduceWait::AtOnce)
        place(i + 1);
    }
    place(list.size());
    insert(schedule, rank, placed);
  }
}

void InsertWaits::insert(Schedule &schedule, unsigned rank,
                         ArrayRef<PlacedWait> placed) {
  if (placed.empty())
    return;
  auto merge = [&](auto &old, auto make) {
    std::decay_t<decltype(old)> merged;
    merged.reserve(old.size() + placed.size());
    size_t next = 0;
    for (const PlacedWait &one : placed) {
      merged.insert(merged.end(), old.begin() + next, old.begin() + one.before);
      next = one.before;
      merged.push_back(make(one));
    }
    merged.insert(merged.end(), old.begin() + next, old.end());
    old = std::move(merged);
  };
  merge(schedule.ranks[rank], [](const PlacedWait &one) { return one.wait; });
  if (!schedule.times.empty())
    merge(schedule.times[rank],
          [](const PlacedWait &) -> std::optional<Rational> { return {}; });
}

LogicalResult InsertWaits::run(Schedule &schedule, DiagEngine &diags) {
  bool keep = options.existing == IfThere::Keep;
  if (!keep && failed(checkNoSendWaits(schedule, "insert-waits", diags)))
    return failure();
  if (options.reduce != ReduceWait::None && !schedule.hasReduceWaits())
    placeReduceWaits(schedule);
  if (!schedule.hasSendWaits())
    placeSendWaits(schedule, diags);
  return success();
}

std::unique_ptr<Pass> makeInsertWaits(const InsertWaitsOptions &options) {
  return std::make_unique<InsertWaits>(options);
}

} // namespace pipec
