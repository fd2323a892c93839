//===- VerifierOrder.cpp - The order as a whole can run ----===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each rank runs its list in order and waits at a step whose data is not there.
// Nothing here is a choice, so one run decides: the ranks are run one after the
// other, each until it waits. The data that one step makes for another stage
// has exactly one user, so a rank that waits needs no queue: whoever makes the
// data looks whether the user's rank waits for just this, and if so that rank
// goes on later. Each step is passed once; each member of an overlap is looked
// at once more for every time its rank was woken there.
//
// When the run ends early, every rank that has not ended waits for a step of a
// rank that has not ended either. Following these leads into a cycle; the
// shortest one is reported.
//
//===----------------------------------------------------------------------===//

#include "IR/VerifierDetail.h"

using namespace llvm;

namespace pipec {

namespace {

class Replay {
public:
  explicit Replay(const Schedule &schedule)
      : schedule(schedule), home(schedule), cells(schedule), done(cells.size()),
        states(schedule.ranks.size()) {}

  bool run() {
    // A stack; at first rank 0 is on top.
    for (unsigned rank = schedule.ranks.size(); rank-- != 0;)
      ready.push_back(rank);
    while (!ready.empty()) {
      unsigned rank = ready.back();
      ready.pop_back();
      runRank(rank);
    }
    for (unsigned rank = 0; rank != schedule.ranks.size(); ++rank)
      if (states[rank].at != schedule.ranks[rank].size())
        return false;
    return true;
  }

  void reportStuck(DiagEngine &diags);

private:
  static constexpr uint8_t forwardDone = 1;
  static constexpr uint8_t backwardDone = 2;
  static constexpr size_t nothing = ~size_t(0);
  /// About the steps of one line of the cache.
  static constexpr size_t linesAhead = 64 / sizeof(Step);

  struct State {
    /// First step of the line at which the rank stands, and the member that it
    /// looks at.
    size_t at = 0;
    size_t member = 0;
    /// The data it waits for: twice the pair's number, one more for a
    /// gradient.
    size_t waitsFor = nothing;
  };

  /// The data from another stage that `step` uses.
  size_t needOf(const Step &step) const {
    if (step.kind() == StepKind::F)
      return step.stage() == 0
                 ? nothing
                 : cells.index(step.stage() - 1, step.microbatch()) * 2;
    if (makesInputGradient(step.kind()))
      return schedule.isLastStage(step.stage())
                 ? nothing
                 : cells.index(step.stage() + 1, step.microbatch()) * 2 + 1;
    return nothing;
  }
  bool isDone(size_t data) const {
    return done[data / 2] & (data % 2 ? backwardDone : forwardDone);
  }

  void runRank(unsigned rank) {
    const StepList &list = schedule.ranks[rank];
    State &state = states[rank];
    size_t i = state.at;
    size_t k = std::max(state.member, i);
    for (; i != list.size(); k = i) {
      if (!isCompute(list[i].kind())) {
        ++i;
        continue;
      }
      for (;; ++k) {
        size_t need = needOf(list[k]);
        if (need != nothing && !isDone(need)) {
          state = {i, k, need};
          // Other ranks come first: by then what follows will be there.
          __builtin_prefetch(list.data() + i + linesAhead);
          __builtin_prefetch(list.data() + i + 2 * linesAhead);
          return;
        }
        if (!list[k].joined() || k + 1 == list.size())
          break;
      }
      for (; i <= k; ++i)
        finish(list[i]);
    }
    state = {i, i, nothing};
  }

  void finish(const Step &step) {
    unsigned user = 0;
    size_t data = cells.index(step) * 2;
    if (step.kind() == StepKind::F) {
      done[data / 2] |= forwardDone;
      if (schedule.isLastStage(step.stage()))
        return;
      user = home.of(step.stage() + 1, step.microbatch());
    } else if (makesInputGradient(step.kind())) {
      done[data / 2] |= backwardDone;
      if (step.stage() == 0)
        return;
      user = home.of(step.stage() - 1, step.microbatch());
      ++data;
    } else {
      return;
    }
    if (states[user].waitsFor == data) {
      states[user].waitsFor = nothing;
      ready.push_back(user);
    }
  }

  /// The step that makes what the rank waits for: its kind is B where the
  /// list has a B or an I.
  Step producerOf(unsigned rank) const {
    Step step = schedule.ranks[rank][states[rank].member];
    return step.kind() == StepKind::F
               ? Step(StepKind::F, step.stage() - 1, step.microbatch())
               : Step(StepKind::B, step.stage() + 1, step.microbatch());
  }
  unsigned rankOf(Step step) const {
    return schedule.rankOf(step.stage(), step.microbatch());
  }
  bool isStuck(unsigned rank) const {
    return states[rank].at != schedule.ranks[rank].size();
  }
  std::vector<unsigned> shortestCycle() const;

  const Schedule &schedule;
  HomeRanks home;
  Cells cells;
  std::vector<uint8_t> done;
  std::vector<State> states;
  std::vector<unsigned> ready;
};

} // namespace

// Every stuck rank waits for one other, so each walk ends in a cycle or in
// ranks that an earlier walk has passed.
std::vector<unsigned> Replay::shortestCycle() const {
  std::vector<unsigned> walkOf(states.size(), 0);
  std::vector<unsigned> best;
  for (unsigned start = 0; start != states.size(); ++start) {
    if (!isStuck(start) || walkOf[start])
      continue;
    unsigned rank = start;
    for (; !walkOf[rank]; rank = rankOf(producerOf(rank)))
      walkOf[rank] = start + 1;
    if (walkOf[rank] != start + 1)
      continue;
    std::vector<unsigned> cycle;
    unsigned first = rank;
    do {
      cycle.push_back(rank);
      rank = rankOf(producerOf(rank));
    } while (rank != first);
    if (best.empty() || cycle.size() < best.size())
      best = std::move(cycle);
  }
  std::rotate(best.begin(), std::min_element(best.begin(), best.end()),
              best.end());
  return best;
}

void Replay::reportStuck(DiagEngine &diags) {
  constexpr size_t shownWaits = 16;
  std::vector<unsigned> cycle = shortestCycle();
  StepReporter reporter(schedule, diags);
  auto head = [&](unsigned rank) {
    return StepRef{rank, uint32_t(states[rank].member)};
  };
  // Where the awaited step stands in the rest of its rank's list.
  auto producer = [&](unsigned rank) {
    Step wanted = producerOf(rank);
    unsigned maker = rankOf(wanted);
    const StepList &list = schedule.ranks[maker];
    for (size_t i = states[maker].at; i != list.size(); ++i)
      if (list[i].stage() == wanted.stage() &&
          list[i].microbatch() == wanted.microbatch() &&
          (list[i].kind() == wanted.kind() ||
           (wanted.kind() == StepKind::B && list[i].kind() == StepKind::I)))
        return StepRef{maker, uint32_t(i)};
    llvm_unreachable("the list has every step");
  };
  auto build = [&]() -> InFlightDiagnostic {
    if (cycle.size() == 1)
      return reporter.report(head(cycle[0]), diag::OrderStuckAlone,
                             reporter.text(reporter.step(producer(cycle[0]))));
    return diags.report(reporter.step(head(cycle[0])).source(),
                        diag::OrderStuck, cycle.size());
  };
  InFlightDiagnostic diagnostic = build();
  if (cycle.size() == 1)
    reporter.noteHere(diagnostic, producer(cycle[0]));
  else
    for (size_t i = 0; i != std::min(cycle.size(), shownWaits); ++i) {
      StepRef wanted = producer(cycle[i]);
      diagnostic.note(reporter.step(head(cycle[i])).source(),
                      diag::NoteWaitsFor, reporter.name(head(cycle[i])),
                      reporter.text(reporter.step(wanted)), wanted.rank,
                      reporter.position(wanted));
    }
  if (cycle.size() > shownWaits)
    diagnostic.note(SourceLoc(), diag::NoteMoreWaits,
                    cycle.size() - shownWaits);
  size_t stuck = 0;
  for (unsigned rank = 0; rank != states.size(); ++rank)
    stuck += isStuck(rank);
  if (stuck > cycle.size())
    diagnostic.note(SourceLoc(), diag::NoteRanksBehind, stuck - cycle.size());
}

ComputeVerdict verifyOrder(const Schedule &schedule, DiagEngine &diags) {
  Replay replay(schedule);
  if (replay.run())
    return ComputeVerdict::Good;
  replay.reportStuck(diags);
  return ComputeVerdict::Stuck;
}

} // namespace pipec
