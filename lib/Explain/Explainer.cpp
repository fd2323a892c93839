//===- Explainer.cpp - Explaining why a rank waits ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Explain/Explainer.h"

#include "Support/Diagnostics/AnalysisDiags.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <limits>

using namespace llvm;

namespace pipec {

/// The maximum number of links of a chain, and of open transfers, that are
/// shown.
static constexpr size_t maxLinks = 64;
static constexpr size_t maxTransfers = 8;

int64_t Explainer::tickOf(Rational at) const {
  std::optional<Rational> ticks =
      Rational::mul(at, Rational(run.costs().perUnit()));
  return ticks ? ticks->floor() : std::numeric_limits<int64_t>::max();
}

std::string Explainer::text(uint32_t step) const {
  StepRef at = run.numbers().at(step);
  return places.eventText(at.rank, at.index);
}

//===----------------------------------------------------------------------===//
// Notes
//===----------------------------------------------------------------------===//

/// Prints when a step runs or a transfer is sent, and its last wait.
void Explainer::printLink(const PathStep &link) {
  StepRef at = run.numbers().at(link.step);
  SourceLoc source = stepAt(link.step).source();
  StepPlace place = places.name(at.rank, at.index);
  place.step = text(link.step);
  bool computes = isCompute(stepAt(link.step).kind());
  std::string when = computes ? "runs" : "goes";
  if (link.start == link.end)
    when = "starts at " + time(link.start);
  else
    when += " from " + time(link.start) + " to " + time(link.end);
  std::string before;
  unsigned beforeRank = 0;
  if (link.before != StepNumbers::none) {
    before = text(link.before);
    beforeRank = run.numbers().rankOf(link.before);
  }
  switch (link.reason) {
  case Reason::First:
    return note(source, diag::NoteRunsFirst, place, when);
  case Reason::Order:
    return note(source, diag::NoteRunsOrder, place, when, before);
  case Reason::Data:
    return note(source, diag::NoteRunsData, place, when, before, beforeRank,
                "has arrived");
  case Reason::Receive:
  case Reason::Gather:
  case Reason::Copy:
    return note(source, diag::NoteRunsOnce, place, when, before);
  case Reason::Post:
    return note(source, diag::NoteGoesPosted, place, when, before);
  case Reason::Queue:
    return note(source, diag::NoteGoesQueue, place, when, before,
                "in its queue");
  case Reason::Edge:
    if (computes)
      return note(source, diag::NoteRunsData, place, when, before, beforeRank,
                  run.costs().hasPorts()
                      ? "has passed its edge and ports and arrived"
                      : "and the transfers after it on the edge have arrived");
    return note(source, diag::NoteGoesQueue, place, when, before,
                "on its edge");
  case Reason::Share:
    if (before.empty())
      return note(source, diag::NoteGoesPorts, place, when);
    return note(source, diag::NoteGoesQueue, place, when, before,
                "of rank " + Twine(beforeRank) + " on what they share");
  case Reason::Peer:
    return note(source, diag::NoteGoesPeer, place, when, beforeRank, before);
  case Reason::Batch:
    return note(source, diag::NoteGoesBatch, place, time(link.end), before);
  case Reason::Wait:
    return note(source, diag::NoteRunsWait, place, when, before);
  }
}

/// Prints a chain, latest link first.
void Explainer::printChain(const PathSteps &chain) {
  size_t shown = 0;
  for (const PathStep &link : reverse(chain)) {
    if (shown++ == maxLinks) {
      os << "... " << chain.size() - maxLinks << " more steps, until "
         << time(chain.front().start) << '\n';
      return;
    }
    printLink(link);
  }
}

/// Prints a step that could have filled a gap.
void Explainer::printReady(const IdleGap &gap) {
  if (!gap.ready)
    return;
  StepPlace place = places.name(gap.rank, gap.ready->index);
  SourceLoc source = schedule.ranks[gap.rank][gap.ready->index].source();
  if (gap.overLimit)
    note(source, diag::NoteReadyOverLimit, place,
         decimalText(memory.size(gap.held)),
         decimalText(*schedule.memory.limit(gap.rank)));
  else
    note(source, diag::NoteReadyBehind, place);
}

//===----------------------------------------------------------------------===//
// Queues
//===----------------------------------------------------------------------===//

/// If a P2P step, or the last receive of a compute step, waits in its queue:
/// prints the transfer at the head of the queue when it is posted.
void Explainer::printQueue(StepRef at) {
  if (!causes.transfers())
    return;
  const TransferTimes &transfers = *causes.transfers();
  uint32_t step = run.numbers().of(at);
  if (isCompute(stepAt(step).kind())) {
    const StepList &list = schedule.ranks[at.rank];
    uint32_t last = StepNumbers::none;
    for (size_t i = groupBegin(list, at.index),
                end = Schedule::groupEnd(list, at.index);
         i != end; ++i)
      for (uint32_t receive : transfers.receives(run.numbers().of(at.rank, i)))
        if (last == StepNumbers::none ||
            transfers.batchEnd(receive) > transfers.batchEnd(last))
          last = receive;
    if (last == StepNumbers::none)
      return;
    step = last;
  }
  if (!isP2P(stepAt(step).kind()))
    return;
  int64_t posted = causes.posted(run.numbers().at(step)).first;
  uint32_t head = StepNumbers::none;
  for (uint32_t before = transfers.before(step);
       before != StepNumbers::none && transfers.batchEnd(before) > posted;
       before = transfers.before(before))
    head = before;
  if (head == StepNumbers::none)
    return;
  StepRef own = run.numbers().at(step);
  note(stepAt(step).source(), diag::NoteInQueue,
       places.name(own.rank, own.index), time(posted), time(run.start(step)));
  printHead(head, posted);
}

/// Prints the transfer at the head of a queue, and why it is not complete.
void Explainer::printHead(uint32_t head, int64_t since) {
  const TransferTimes &transfers = *causes.transfers();
  StepRef at = run.numbers().at(head);
  note(stepAt(head).source(), diag::NoteAtHead, places.name(at.rank, at.index),
       time(transfers.batchEnd(head)));
  uint32_t other = transfers.other(head);
  if (other == StepNumbers::none)
    return;
  StepRef end = run.numbers().at(other);
  SourceLoc source = stepAt(other).source();
  StepPlace place = places.name(end.rank, end.index);
  int64_t start = std::max(run.start(head), run.start(other));
  auto [reached, before] = causes.posted(end);
  if (start <= since || start == run.start(head))
    note(source, diag::NoteHeadMoves, place, time(start),
         time(transfers.end(head)));
  else if (reached > since && before != StepNumbers::none)
    note(source, diag::NoteHeadReach, place, time(reached), text(before));
  else
    note(source, diag::NoteHeadBehind, place, time(start));
}

//===----------------------------------------------------------------------===//
// The memory of a rank, and its pending operations
//===----------------------------------------------------------------------===//

void Explainer::printMemory(unsigned rank, int64_t time) {
  MemoryLevel at;
  memory.curve(run, rank, [&](int64_t from, const MemoryLevel &level) {
    if (from <= time)
      at = level;
  });
  MemoryPeaks peaks = memory.peaks(rank);
  os << "memory: activations " << decimalText(memory.size(at.activations))
     << " (peak " << decimalText(peaks.activations) << ')';
  if (peaks.receiveCount) {
    os << ", receive buffers " << at.receiveCount;
    if (!peaks.receives.isZero())
      os << " of " << decimalText(memory.size(at.receives));
    os << " (peak " << peaks.receiveCount << ')';
  }
  if (!peaks.parameters.isZero())
    os << ", parameters " << decimalText(memory.size(at.parameters))
       << " (peak " << decimalText(peaks.parameters) << ')';
  if (!peaks.receives.isZero() || !peaks.parameters.isZero())
    os << ", together " << decimalText(memory.size(at.total())) << " (peak "
       << decimalText(peaks.total) << ')';
  if (std::optional<Rational> limit = schedule.memory.limit(rank))
    os << ", limit " << decimalText(*limit);
  if (!peaks.host.isZero())
    os << "; on the host " << decimalText(memory.size(at.host)) << " (peak "
       << decimalText(peaks.host) << ')';
  os << '\n';
}

/// Prints the transfers and collectives that the rank has reached and that are
/// not complete.
void Explainer::printTransfers(unsigned rank, int64_t time) {
  const StepList &list = schedule.ranks[rank];
  int64_t now = run.begin();
  std::vector<PathStep> open;
  for (size_t i = 0; i != list.size() && now <= time; ++i) {
    if (causes.isOwn(list[i]))
      now = run.start(rank, i) > time ? run.start(rank, i) : run.end(rank, i);
    else if (isWait(list[i].kind()))
      now = std::max(now, run.start(rank, i));
    else if ((run.model() || !isP2P(list[i].kind())) && run.end(rank, i) > time)
      open.push_back(causes.link(run.numbers().of(rank, i)));
  }
  if (open.empty())
    return;
  os << "posted and not complete: " << open.size() << '\n';
  for (const PathStep &link : ArrayRef(open).take_front(maxTransfers))
    printLink(link);
  if (open.size() > maxTransfers)
    os << "... " << open.size() - maxTransfers << " more\n";
}

//===----------------------------------------------------------------------===//
// Answers
//===----------------------------------------------------------------------===//

void Explainer::printParts(const WaitParts &parts) {
  SmallVector<std::string, 4> words;
  auto add = [&](int64_t ticks, StringRef what) {
    if (ticks)
      words.push_back((time(ticks) + " " + what).str());
  };
  add(parts.dependency, schedule.streams.empty()
                            ? "for other ranks to compute"
                            : "for other ranks and streams to compute");
  add(parts.latency, "for the input to arrive");
  add(parts.queue, "for transfers that wait for each other");
  bool holds = run.model() &&
               waitModelInfo(run.model()->kind()).holds != WaitHolds::None;
  add(parts.wait, holds ? "for its own transfers and reductions"
                        : "for its own sends and reductions");
  add(parts.gather, "for parameters");
  add(parts.copy, "for copies to and from the host");
  os << "waits: " << join(words, ", ") << '\n';
}

/// Explains a gap of `rank`: the chain of causes of the step after it, back to
/// `since`.
void Explainer::explainGap(unsigned rank, int64_t from, int64_t to, size_t next,
                           int64_t since) {
  IdleGap gap;
  gap.rank = rank;
  gap.start = from;
  gap.end = to;
  gap.before = StepRef{rank, uint32_t(next)};
  pipec::explainGap(gap, causes, memory);
  printParts(gap.parts);
  printChain(causeChain(causes, run.numbers().of(gap.before), since));
  printReady(gap);
}

void Explainer::explainTime(unsigned rank, Rational at) {
  os << "rank " << rank << " at " << decimalText(at) << ": ";
  const StepList &list = schedule.ranks[rank];
  int64_t tick = tickOf(at);
  int64_t free = run.begin();
  size_t begin = 0;
  for (size_t end = 0; begin != list.size(); begin = end) {
    end = Schedule::groupEnd(list, begin);
    if (!causes.isOwn(list[begin]))
      continue;
    int64_t start = run.start(rank, begin), stop = run.end(rank, begin);
    if (tick < start) {
      os << "idle from " << time(free) << " to " << time(start) << ", before `"
         << places.groupText(rank, begin) << "`\n";
      explainGap(rank, free, start, begin, tick);
      break;
    }
    if (tick < stop) {
      os << "runs `" << places.groupText(rank, begin) << "` from "
         << time(start) << " to " << time(stop) << '\n';
      if (free < start)
        explainGap(rank, free, start, begin, free);
      else
        printLink(causes.link(run.numbers().of(rank, begin)));
      break;
    }
    free = stop;
  }
  if (begin == list.size()) {
    os << "idle since " << time(free)
       << ", with all its steps done; the schedule ends at "
       << time(run.begin() + run.makespan()) << '\n';
  }
  printMemory(rank, tick);
  printTransfers(rank, tick);
}

void Explainer::explainStep(StepRef step) {
  const StepList &list = schedule.ranks[step.rank];
  uint32_t number = run.numbers().of(step);
  PathStep link = causes.link(number);
  bool computes = isCompute(list[step.index].kind());
  os << "rank " << step.rank << ": `" << text(number)
     << (computes ? "` runs from " : "` goes from ") << time(link.start)
     << " to " << time(link.end) << '\n';
  int64_t free = run.begin();
  unsigned stream = computes ? schedule.streams.of(list[step.index]) : 0;
  for (size_t i = 0; i != step.index; ++i)
    if (isCompute(list[i].kind()) && !list[i].joined() &&
        schedule.streams.of(list[i]) == stream)
      free = run.end(step.rank, i);
  if (computes && free < link.start)
    explainGap(step.rank, free, link.start, run.numbers().at(link.step).index,
               free);
  else
    printChain(causeChain(causes, number, std::min(free, link.start)));
  if (!computes || free < link.start)
    printQueue(step);
  printMemory(step.rank, link.start);
}

} // namespace pipec
