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

#include "IR/StepPrefetch.h"
#include "Verify/VerifierDetail.h"

using namespace llvm;

namespace pipec {

namespace {

class Replay {
public:
  explicit Replay(const Schedule &schedule)
      : schedule(schedule), directions(schedule.placement.numDirections()),
        turn(directions == 2 ? schedule.numMicrobatches / 2 : maxMicrobatches),
        rules(size_t(directions) * schedule.numStages * numKinds),
        there(2 * numCells(schedule)), states(schedule.ranks.size() + 1) {
    auto rule = rules.begin();
    for (unsigned d = 0; d != directions; ++d)
      for (unsigned stage = 0; stage != schedule.numStages; ++stage)
        for (unsigned kind = 0; kind != numKinds; ++kind)
          *rule++ = makeRule(StepKind(kind), stage, d);
  }

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
      if (isStuck(rank))
        return false;
    return true;
  }

  void reportStuck(DiagEngine &diags);

private:
  static constexpr unsigned numKinds = unsigned(StepKind::Bubble) + 1;
  static constexpr size_t nothing = ~size_t(0);

  /// What a step of one kind, on one stage and in one direction, needs and
  /// makes.
  struct Rule {
    /// Runs once its data is there.
    bool waits = false;
    /// Takes and makes gradients; else activations.
    bool gradient = false;
    /// From the step's pair to the one that uses what it makes: 1, 0 or -1
    /// stages.
    int8_t way = 0;
    /// The rank of that pair; behind all ranks if nobody uses it.
    uint32_t user;
  };

  struct State {
    /// First step of the line at which the rank stands, and the member that it
    /// looks at.
    uint32_t at = 0;
    uint32_t member = 0;
    /// The data it waits for.
    size_t waitsFor = nothing;
  };

  Rule makeRule(StepKind kind, unsigned stage, unsigned direction) const {
    Rule rule;
    rule.user = schedule.ranks.size();
    rule.gradient = makesInputGradient(kind);
    if (!rule.gradient && kind != StepKind::F)
      return rule;
    bool isFirst = stage == 0, isLast = schedule.isLastStage(stage);
    rule.waits = !(rule.gradient ? isLast : isFirst);
    if (rule.gradient ? isFirst : isLast)
      return rule;
    rule.way = rule.gradient ? -1 : 1;
    rule.user = schedule.placement.rankOf(stage + rule.way, direction);
    return rule;
  }
  const Rule &ruleOf(Step step) const {
    size_t row = step.stage();
    if (step.microbatch() >= turn)
      row += schedule.numStages;
    return rules[row * numKinds + unsigned(step.kind())];
  }
  /// The number of (stage, micro-batch) pairs, which `dataOf` counts densely.
  static size_t numCells(const Schedule &schedule) {
    Cells cells(schedule);
    assert(cells.isDense() && "this level is for lists that have every step");
    return cells.size();
  }
  /// The number of the data that `step` uses, or of what a step uses that is
  /// so many stages away.
  size_t dataOf(Step step, const Rule &rule, int way = 0) const {
    return ((step.stage() + ptrdiff_t(way)) * schedule.numMicrobatches +
            step.microbatch()) *
               2 +
           rule.gradient;
  }

  void runRank(unsigned rank) {
    const StepList &list = schedule.ranks[rank];
    const Step *begin = list.data(), *end = begin + list.size();
    State &state = states[rank];
    const Step *at = begin + state.at;
    const Step *member = begin + std::max(state.at, state.member);
    for (; at != end; member = at) {
      if (!isCompute(at->kind())) {
        ++at;
        continue;
      }
      for (;; ++member) {
        const Rule &rule = ruleOf(*member);
        size_t data = dataOf(*member, rule);
        if (rule.waits && !there[data]) {
          state = {uint32_t(at - begin), uint32_t(member - begin), data};
          prefetchSteps(at);
          return;
        }
        if (!member->joined() || member + 1 == end)
          break;
      }
      for (; at <= member; ++at)
        finish(*at);
    }
    state = {uint32_t(list.size()), uint32_t(list.size()), nothing};
  }

  void finish(Step step) {
    const Rule &rule = ruleOf(step);
    // What nobody uses is written to the step's own pair, which has been used.
    size_t data = dataOf(step, rule, rule.way);
    there[data] = true;
    State &user = states[rule.user];
    if (user.waitsFor == data) {
      user.waitsFor = nothing;
      ready.push_back(rule.user);
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
  unsigned directions;
  /// The first micro-batch of direction 1.
  unsigned turn;
  /// By direction, stage and kind.
  std::vector<Rule> rules;
  /// By stage and micro-batch, an activation and a gradient: whether it has
  /// come from the stage beside. Bytes, so that nothing is read to write one.
  std::vector<uint8_t> there;
  /// By rank; the last one is nobody's, and waits for nothing.
  std::vector<State> states;
  std::vector<unsigned> ready;
};

} // namespace

// Every stuck rank waits for one other, so each walk ends in a cycle or in
// ranks that an earlier walk has passed.
std::vector<unsigned> Replay::shortestCycle() const {
  std::vector<unsigned> walkOf(schedule.ranks.size(), 0);
  std::vector<unsigned> best;
  for (unsigned start = 0; start != schedule.ranks.size(); ++start) {
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
  for (unsigned rank = 0; rank != schedule.ranks.size(); ++rank)
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
