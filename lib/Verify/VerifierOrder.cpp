//===- VerifierOrder.cpp - The level compute: the order can run -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each rank runs its list in order and waits at a step whose inputs are
// missing. The outcome does not depend on the interleaving of the ranks, so one
// `OrderWalk` decides.
//
// If the walk ends early, every rank that has not finished waits for a step of
// another such rank. Following these edges leads to a cycle; the shortest cycle
// is reported.
//
//===----------------------------------------------------------------------===//

#include "IR/OrderWalk.h"
#include "Support/Diagnostics/VerifierDiags.h"
#include "Verify/VerifierDetail.h"

using namespace llvm;

namespace pipec {

namespace {

/// The lists of all ranks.
struct WholeLists {};
/// Those of some ranks: the pairs of stage and micro-batch may be far more than
/// the steps.
struct SomeLists {
  static constexpr bool unverified = true;
};

/// A walk that determines whether all lists finish, and where the other ranks
/// block.
template <typename Lists> class Replay : public Lists {
public:
  struct Datum {
    bool made = false;
  };
  static bool isThere(Datum datum) { return datum.made; }
  void take(unsigned, Datum) {}
  void visit(unsigned, size_t, size_t) {}
  Datum give(unsigned, size_t, const DataFlow::Port &) { return {true}; }

  explicit Replay(const Schedule &schedule)
      : schedule(schedule), walk(schedule, *this) {}

  bool run() { return walk.run(); }
  /// Produces the data that the lists receive from other ranks.
  void makeInputs(const PresentRanks &present) {
    for (const StepList &list : schedule.ranks)
      for (Step step : list)
        if (makesData(step.kind()))
          for (const DataFlow::Port &input : walk.flow().inputs(step))
            if (!present.contains(input.rank))
              walk.datum(walk.flow().datum(input, step.unit())) = {true};
  }
  void reportStuck(DiagEngine &diags);

private:
  bool isStuck(unsigned rank) const {
    return walk.group(rank) != schedule.ranks[rank].size();
  }
  /// The step at which a blocked rank waits.
  Step headOf(unsigned rank) const {
    return schedule.ranks[rank][walk.member(rank)];
  }
  /// The missing input of that step.
  const DataFlow::Port &inputOf(unsigned rank) const {
    return *walk.missingInput(headOf(rank));
  }
  std::vector<unsigned> shortestCycle() const;
  StepRef findProducer(unsigned rank) const;

  const Schedule &schedule;
  OrderWalk<Replay> walk;
};

} // namespace

// Every blocked rank waits for one other rank, so each path ends in a cycle or
// in ranks of an earlier path.
template <typename Lists>
std::vector<unsigned> Replay<Lists>::shortestCycle() const {
  std::vector<unsigned> walkOf(schedule.ranks.size(), 0);
  std::vector<unsigned> best;
  for (unsigned start = 0; start != schedule.ranks.size(); ++start) {
    if (!isStuck(start) || walkOf[start])
      continue;
    unsigned rank = start;
    for (; !walkOf[rank]; rank = inputOf(rank).rank)
      walkOf[rank] = start + 1;
    if (walkOf[rank] != start + 1)
      continue;
    std::vector<unsigned> cycle;
    unsigned first = rank;
    do {
      cycle.push_back(rank);
      rank = inputOf(rank).rank;
    } while (rank != first);
    if (best.empty() || cycle.size() < best.size())
      best = std::move(cycle);
  }
  std::rotate(best.begin(), std::min_element(best.begin(), best.end()),
              best.end());
  return best;
}

/// The producer of the input that `rank` waits for, in the rest of the
/// producer's list.
template <typename Lists>
StepRef Replay<Lists>::findProducer(unsigned rank) const {
  const DataFlow::Port &input = inputOf(rank);
  const StepList &list = schedule.ranks[input.rank];
  for (size_t i = walk.group(input.rank); i != list.size(); ++i)
    if (isCompute(list[i].kind()) && list[i].stage() == input.stage &&
        list[i].unit() == headOf(rank).unit() &&
        dataKind(list[i].kind()) == dataKind(input.kind))
      return {input.rank, uint32_t(i)};
  llvm_unreachable("the list has every step");
}

template <typename Lists> void Replay<Lists>::reportStuck(DiagEngine &diags) {
  constexpr size_t shownWaits = 16;
  std::vector<unsigned> cycle = shortestCycle();
  StepReporter reporter(schedule, diags);
  auto head = [&](unsigned rank) {
    return StepRef{rank, uint32_t(walk.member(rank))};
  };
  auto build = [&]() -> InFlightDiagnostic {
    if (cycle.size() == 1)
      return reporter.report(
          head(cycle[0]), diag::OrderStuckAlone,
          reporter.text(reporter.step(findProducer(cycle[0]))));
    return diags.report(reporter.step(head(cycle[0])).source(),
                        diag::OrderStuck, cycle.size());
  };
  InFlightDiagnostic diagnostic = build();
  if (cycle.size() == 1)
    reporter.noteHere(diagnostic, findProducer(cycle[0]));
  else
    for (size_t i = 0; i != std::min(cycle.size(), shownWaits); ++i) {
      StepRef wanted = findProducer(cycle[i]);
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

template <typename Lists>
static ComputeVerdict verdictOf(Replay<Lists> &replay, DiagEngine &diags) {
  if (replay.run())
    return ComputeVerdict::Good;
  replay.reportStuck(diags);
  return ComputeVerdict::Stuck;
}

ComputeVerdict verifyOrder(const Schedule &schedule, DiagEngine &diags,
                           const PresentRanks &present) {
  if (present.all()) {
    assert(Cells(schedule).isDense() &&
           "this level is for lists that have every step");
    Replay<WholeLists> replay(schedule);
    return verdictOf(replay, diags);
  }
  Replay<SomeLists> replay(schedule);
  replay.makeInputs(present);
  return verdictOf(replay, diags);
}

} // namespace pipec
