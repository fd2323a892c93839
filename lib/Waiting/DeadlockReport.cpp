//===- DeadlockReport.cpp - Reporting a deadlock --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Waiting/DeadlockReport.h"

#include "IR/StepPlaces.h"
#include "Support/Diagnostics/AnalysisDiags.h"
#include "Support/Diagnostics/PassesDiags.h"
#include "Waiting/Waiting.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec {

/// The maximum number of notes; longer cycles occur with thousands of ranks.
static constexpr size_t maxNotes = 64;

namespace {

/// Describes waits in messages.
class WaitDescriber {
public:
  explicit WaitDescriber(const Waiting &waiting)
      : waiting(waiting), places(waiting.schedule()) {}

  SourceLoc source(uint32_t step) const { return waiting.step(step).source(); }
  StepPlace place(uint32_t step) {
    StepRef at = waiting.numbers().at(step);
    return places.name(at.rank, at.index);
  }

  void note(InFlightDiagnostic &diagnostic, const WaitEdge &edge) {
    SourceLoc at = source(edge.step);
    StepPlace self = place(edge.step);
    std::string what = places.text(waiting.step(edge.what));
    unsigned whatRank = waiting.numbers().rankOf(edge.what);
    switch (edge.reason) {
    case WaitReason::Input:
      diagnostic.note(at, diag::NoteWaitInput, self, what);
      return;
    case WaitReason::Later:
      diagnostic.note(at, diag::NoteWaitLater, self, what);
      return;
    case WaitReason::Queue:
      diagnostic.note(at, diag::NoteWaitQueue, self, what);
      return;
    case WaitReason::Reach:
      diagnostic.note(at, diag::NoteWaitReach, self, whatRank, what);
      return;
    case WaitReason::Start:
      diagnostic.note(at, diag::NoteWaitStart, self, whatRank, what);
      return;
    case WaitReason::Batch:
      diagnostic.note(at, diag::NoteWaitBatch, self, what);
      return;
    case WaitReason::Send:
      diagnostic.note(at, diag::NoteWaitSend, self, what);
      return;
    case WaitReason::Post:
      diagnostic.note(at, diag::NoteWaitPost, self, whatRank, what);
      return;
    }
  }

  void notes(InFlightDiagnostic &diagnostic, ArrayRef<WaitEdge> edges) {
    for (const WaitEdge &edge : edges.take_front(maxNotes))
      note(diagnostic, edge);
    if (edges.size() > maxNotes)
      diagnostic.note(source(edges[maxNotes].step), diag::NoteMoreWaiting,
                      edges.size() - maxNotes);
  }

private:
  const Waiting &waiting;
  StepPlaces places;
};

} // namespace

static std::string modelNames(const WaitOutcomes &safe) {
  SmallVector<StringRef, 4> names;
  for (WaitModel model : mainWaitModels())
    if (safe[model])
      names.push_back(waitModelName(model));
  return names.empty() ? "none" : join(names, ", ");
}

/// Adds a note for each rank that waits, up to a limit.
static void noteHeads(InFlightDiagnostic &diagnostic, const Waiting &waiting) {
  constexpr size_t maxHeads = 16;
  std::vector<unsigned> ranks = waiting.blockedRanks();
  for (unsigned rank : ArrayRef(ranks).take_front(maxHeads)) {
    unsigned at = waiting.standsAt(rank);
    const Schedule &schedule = waiting.schedule();
    const StepList &list = schedule.ranks[rank];
    if (at == list.size()) {
      unsigned open = 0;
      const Step *last = nullptr;
      for (uint32_t step = waiting.numbers().begin(rank);
           step != waiting.numbers().end(rank); ++step)
        if (waiting.open(step)) {
          ++open;
          last = &list[step - waiting.numbers().begin(rank)];
        }
      diagnostic.note(last->source(), diag::NoteBlockedEnd, rank, open);
      continue;
    }
    Step head = list[at];
    Step awaited;
    if (isP2P(head.kind())) {
      // The member of a batch that it waits for.
      waiting.forEachWait(waiting.numbers().of(rank, at),
                          [&](const WaitEdge &edge) {
                            if (edge.reason == WaitReason::Batch)
                              at = edge.target - waiting.numbers().begin(rank);
                          });
      head = list[at];
      awaited = DataFlow::otherEnd(head, *waiting.flow().transfer(head));
    } else if (head.kind() == StepKind::Update) {
      waiting.forEachWait(
          waiting.numbers().of(rank, at),
          [&](const WaitEdge &edge) { awaited = waiting.step(edge.what); });
    } else {
      StepKind kind = isSendWait(head.kind()) ? sendOfWait(head.kind())
                                              : recvKind(dataKind(head.kind()));
      awaited = Step(kind, head.stage(), head.unit());
    }
    diagnostic.note(head.source(), diag::NoteBlockedHead, rank, at,
                    stepText(schedule, head), stepText(schedule, awaited));
  }
  if (ranks.size() > maxHeads)
    diagnostic.note(DiagLoc(), diag::NoteMoreBlockedRanks,
                    ranks.size() - maxHeads);
}

void reportDeadlock(const Waiting &waiting, Severity severity,
                    const WaitOutcomes *safe, DiagEngine &diags, bool heads) {
  WaitDescriber narrator(waiting);
  std::string model = waiting.model().phrase();
  auto finish = [&](InFlightDiagnostic diagnostic, uint32_t step,
                    ArrayRef<WaitEdge> edges) {
    narrator.notes(diagnostic, edges);
    if (safe)
      diagnostic.note(narrator.source(step), diag::NoteSafeUnder,
                      modelNames(*safe));
    if (heads)
      noteHeads(diagnostic, waiting);
  };

  std::vector<WaitEdge> cycle = findShortestCycle(waiting);
  if (!cycle.empty()) {
    uint32_t first = cycle.front().step;
    SourceLoc at = narrator.source(first);
    InFlightDiagnostic diagnostic =
        cycle.size() > 1
            ? diags.reportAs(severity, at, diag::Deadlock, model, cycle.size())
            : diags.reportAs(severity, at, diag::DeadlockAlone, model);
    diagnostic.at(narrator.place(first));
    return finish(std::move(diagnostic), first, cycle);
  }
  std::vector<WaitEdge> chain = findDeadEnd(waiting);
  uint32_t end = chain.back().step;
  finish(diags.reportAs(severity, narrator.source(end), diag::NeverMet,
                        narrator.place(end), model),
         end, ArrayRef(chain).drop_back());
}

WaitOutcomes checkDeadlock(const Schedule &schedule, const Transfers &transfers,
                           WaitModel require, DiagEngine &diags) {
  WaitOutcomes safe = endsUnder(schedule, transfers);
  if (safe[WaitModel::Stream])
    return safe;
  // Show the required model if it fails, otherwise the mildest model that does,
  // since its deadlock occurs under the stricter ones too.
  WaitModel shown = require;
  if (safe[shown])
    for (WaitModel model : mainWaitModels())
      if (!safe[model])
        shown = model;
  reportDeadlock(Waiting(schedule, transfers, shown),
                 safe[require] ? Severity::Warning : Severity::Error, &safe,
                 diags);
  return safe;
}

} // namespace pipec
