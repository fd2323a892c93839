//===- Causes.cpp - The causes of start times -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cause of a step is found by checking everything that it may have waited
// for, in a fixed order, and taking the first that ended at the start of the
// step. The predecessor of a step in its list is found by walking back over
// steps that do not compute; a chain of causes visits each step of a list at
// most once, because it always continues further back on that rank.
//
//===----------------------------------------------------------------------===//

#include "Explain/Causes.h"

#include "Waiting/WaitState.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <limits>

using namespace llvm;

namespace pipec {

StringRef reasonName(Reason reason) {
  static constexpr StringLiteral names[] = {
#define PIPEC_REASON(Id, Name) Name,
#include "Explain/Reasons.def"
  };
  return names[unsigned(reason)];
}

Causes::Causes(const Schedule &schedule, const Simulation &simulation)
    : theSchedule(schedule), run(simulation), numbers(run.numbers()),
      meetings(schedule), theResults(schedule, run) {
  if (run.model())
    theTransfers.emplace(schedule, run);
  if (!schedule.streams.empty())
    findStreams();
  findPosted();
  findShared();
}

void Causes::findStreams() {
  ownBefore.assign(numbers.size(), none);
  sideBefore.assign(numbers.size(), none);
  std::vector<uint32_t> last;
  for (unsigned rank = 0; rank != theSchedule.numRanks; ++rank) {
    const StepList &list = theSchedule.ranks[rank];
    last.assign(1 + theSchedule.streams.names.size(), none);
    for (size_t begin = 0, end = 0; begin != list.size(); begin = end) {
      end = Schedule::groupEnd(list, begin);
      bool computes = isCompute(list[begin].kind());
      unsigned stream = computes ? theSchedule.streams.of(list[begin]) : 0;
      for (size_t i = begin; i != end; ++i) {
        ownBefore[numbers.of(rank, i)] = last[0];
        sideBefore[numbers.of(rank, i)] = last[stream];
      }
      if (computes)
        last[stream] = numbers.of(rank, begin);
    }
  }
}

//===----------------------------------------------------------------------===//
// Predecessors of a step in its list
//===----------------------------------------------------------------------===//

/// The last step before `at` in its list for which `is` holds; `none` if there
/// is none.
uint32_t Causes::lastBefore(StepRef at, function_ref<bool(Step)> is) const {
  const StepList &list = theSchedule.ranks[at.rank];
  for (size_t i = at.index; i-- != 0;)
    if (is(list[i]))
      return numbers.of(at.rank, i);
  return none;
}

/// The compute step before `at` that its rank runs itself; the first member of
/// a group.
uint32_t Causes::computeBefore(StepRef at) const {
  if (!ownBefore.empty() && at.index != theSchedule.ranks[at.rank].size())
    return ownBefore[numbers.of(at)];
  uint32_t step = lastBefore(at, [&](Step step) { return isOwn(step); });
  if (step == none)
    return none;
  return numbers.of(
      at.rank, groupBegin(theSchedule.ranks[at.rank], numbers.at(step).index));
}

/// The step that the rank waited for at `wait` if both ended at the same time,
/// otherwise `none`. For a buffered send, this is the step of the other rank
/// before it posted the receive.
uint32_t Causes::awaited(StepRef wait) const {
  const StepList &list = theSchedule.ranks[wait.rank];
  int64_t over = run.start(wait.rank, wait.index);
  Step step = list[wait.index];
  if (step.kind() == StepKind::WaitReduceGrad) {
    uint32_t reduce = lastBefore(wait, [&](Step before) {
      return before.kind() == StepKind::ReduceGrad &&
             before.stage() == step.stage();
    });
    return endsAt(reduce, over) ? reduce : uint32_t(none);
  }
  if (step.kind() == StepKind::WaitOffload) {
    uint32_t copy = copyBefore(wait);
    return endsAt(copy, over) ? copy : uint32_t(none);
  }
  uint32_t send =
      theTransfers ? theTransfers->other(numbers.of(wait)) : uint32_t(none);
  if (send == none)
    return none;
  if (theTransfers->batchEnd(send) == over)
    return send;
  uint32_t receive = theTransfers->other(send);
  if (run.model() != WaitModel::Buffered || receive == none)
    return none;
  uint32_t before = computeBefore(numbers.at(receive));
  return endsAt(before, over) ? before : uint32_t(none);
}

std::optional<int64_t> Causes::holdEnd(StepRef at) const {
  const StepList &list = theSchedule.ranks[at.rank];
  if (isWait(list[at.index].kind()))
    return run.start(at.rank, at.index);
  if (!isP2P(list[at.index].kind()) || !run.model() ||
      !holdsRank(waitModelInfo(run.model()->kind()).holds, list, at.index))
    return std::nullopt;
  return theTransfers->batchEnd(numbers.of(at));
}

std::pair<int64_t, uint32_t> Causes::posted(StepRef at) const {
  const StepList &list = theSchedule.ranks[at.rank];
  at.index = groupBegin(list, at.index);
  uint32_t before = computeBefore(at);
  int64_t time = before == none ? run.begin() : run.end(before);
  while (at.index != 0 && !isOwn(list[at.index - 1])) {
    --at.index;
    if (std::optional<int64_t> over = holdEnd(at))
      time = std::max(time, *over);
  }
  return {time, before};
}

/// True if the rank reaches `at` at `link.start` because of a wait, or a
/// transfer that holds it, after the previous compute step.
bool Causes::findWait(PathStep &link, StepRef at) const {
  const StepList &list = theSchedule.ranks[at.rank];
  while (at.index != 0 && !isOwn(list[at.index - 1])) {
    --at.index;
    std::optional<int64_t> over = holdEnd(at);
    if (!over)
      continue;
    if (*over != link.start)
      return false; // earlier waits ended earlier
    bool waits = isWait(list[at.index].kind());
    if (uint32_t what = waits ? awaited(at) : numbers.of(at); what != none) {
      link.because(Reason::Wait, what);
      return true;
    }
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Steps of ranks
//===----------------------------------------------------------------------===//

PathStep Causes::link(uint32_t step) const {
  StepRef at = numbers.at(step);
  StepKind kind = theSchedule.ranks[at.rank][at.index].kind();
  if (isCompute(kind))
    return linkOfCompute(at);
  if (isP2P(kind) && theTransfers)
    return linkOfTransfer(step);
  if (streamOf(kind) == Stream::Tied)
    return linkOfTied(at);
  return linkOfOther(at);
}

PathStep Causes::linkOfCompute(StepRef at) const {
  const StepList &list = theSchedule.ranks[at.rank];
  at.index = groupBegin(list, at.index);
  size_t begin = at.index, end = Schedule::groupEnd(list, begin);
  int64_t start = run.start(at.rank, begin);
  PathStep link{
      .step = numbers.of(at), .start = start, .end = run.end(at.rank, begin)};
  if (uint32_t before = computeBefore(at); endsAt(before, start))
    return link.because(Reason::Order, before);
  if (!sideBefore.empty() && findOnStreams(link, at))
    return link;
  if (findWait(link, at)) {
    for (size_t i = begin; theTransfers && i != end; ++i)
      if (is_contained(theTransfers->receives(numbers.of(at.rank, i)),
                       link.before))
        link.reason = Reason::Receive;
    return link;
  }
  for (size_t i = begin; i != end; ++i)
    if (theTransfers ? findReceive(link, numbers.of(at.rank, i))
                     : findMaker(link, at.rank, list[i]))
      return link;
  for (size_t i = begin; i != end && hasGathers; ++i) {
    uint32_t unshard = lastBefore(at, [&](Step before) {
      return before.kind() == StepKind::Unshard &&
             before.stage() == list[i].stage();
    });
    if (endsAt(unshard, start))
      return link.because(Reason::Gather, unshard);
  }
  for (size_t i = begin; i != end; ++i) {
    StepRef member = {at.rank, uint32_t(i)};
    if (uint32_t copy = copyBefore(member); endsAt(copy, start))
      return link.because(Reason::Copy, copy);
    if (uint32_t reduction = reductionBefore(member); endsAt(reduction, start))
      return link.because(Reason::Wait, reduction);
  }
  return link;
}

/// True if a compute step starts when the step before it on its stream ends, or
/// one on another stream of its rank from which it needs something.
bool Causes::findOnStreams(PathStep &link, StepRef at) const {
  const StepList &list = theSchedule.ranks[at.rank];
  if (uint32_t before = sideBefore[numbers.of(at)];
      endsAt(before, link.start)) {
    link.because(Reason::Order, before);
    return true;
  }
  for (size_t i = at.index, end = Schedule::groupEnd(list, i); i != end; ++i)
    for (const DataFlow::Port &input : theResults.inputs(list[i]))
      if (uint32_t maker = theResults.maker(input, list[i]);
          !input.transfers && endsAt(maker, link.start)) {
        link.because(Reason::Data, maker);
        return true;
      }
  // An UPDATE waits for all computes of its stage.
  for (size_t i = hasUnit(list[at.index].kind()) ? 0 : at.index; i-- != 0;)
    if (isCompute(list[i].kind()) &&
        list[i].stage() == list[at.index].stage() &&
        run.end(at.rank, i) == link.start) {
      link.because(Reason::Data, numbers.of(at.rank, groupBegin(list, i)));
      return true;
    }
  return false;
}

/// True if a compute step starts when the receive of `consumer`, which is the
/// step or one of its members, completes.
bool Causes::findReceive(PathStep &link, uint32_t consumer) const {
  for (uint32_t receive : theTransfers->receives(consumer)) {
    if (theTransfers->batchEnd(receive) != link.start)
      continue;
    link.because(Reason::Receive, receive);
    return true;
  }
  return false;
}

/// The same under free arrival: the cause is the producer of the input, or the
/// producer of the first result in the sequence that has kept the edge busy.
bool Causes::findMaker(PathStep &link, unsigned rank, Step consumer) const {
  for (const DataFlow::Port &input : theResults.inputs(consumer)) {
    uint32_t maker = theResults.maker(input, consumer);
    if (maker == none)
      continue;
    int64_t leaves = theResults.departure(input, consumer);
    if (leaves + run.costs().hop(numbers.rankOf(maker), rank) != link.start)
      continue;
    bool waited = leaves != run.end(maker);
    // With ports, transfers of other edges may have kept them busy.
    if (waited && !run.costs().hasPorts())
      maker = theResults.firstOfBusyEdge(input, consumer);
    link.because(waited ? Reason::Edge : Reason::Data, maker);
    link.latency = link.start - run.end(link.before);
    return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Transfers
//===----------------------------------------------------------------------===//

PathStep Causes::linkOfTransfer(uint32_t step) const {
  int64_t end = theTransfers->batchEnd(step);
  if (theTransfers->end(step) != end) {
    // Another member of the batch is the last one to complete.
    StepRef at = numbers.at(step);
    size_t i = groupBegin(theSchedule.ranks[at.rank], at.index);
    while (theTransfers->end(numbers.of(at.rank, i)) != end)
      ++i;
    return PathStep{.step = step, .start = end, .end = end}.because(
        Reason::Batch, numbers.of(at.rank, i));
  }
  int64_t own = run.start(step);
  PathStep link{.step = step, .start = own, .end = end};
  uint32_t other = theTransfers->other(step);
  bool late = run.model() == WaitModel::Buffered
                  ? end != own
                  : other != none && run.start(other) > own;
  if (late) {
    link.start = run.start(other);
    return link.because(Reason::Peer, other);
  }
  findStart(link);
  return link;
}

/// The link of a transfer until its edge is free for the next one.
PathStep Causes::linkOnEdge(uint32_t send) const {
  PathStep link{.step = send,
                .start = theTransfers->edgeStart(send),
                .end = theTransfers->edgeEnd(send)};
  if (link.start != run.start(send))
    return link.because(Reason::Peer, theTransfers->other(send));
  findStart(link);
  return link;
}

/// Sets the cause of the start of a P2P step: its queue, its edge, or its rank.
void Causes::findStart(PathStep &link) const {
  StepRef at = numbers.at(link.step);
  const StepList &list = theSchedule.ranks[at.rank];
  bool sends = isSend(list[at.index].kind());
  at.index = groupBegin(list, at.index);
  size_t end = Schedule::groupEnd(list, at.index);
  int64_t start = run.start(link.step);
  for (size_t i = at.index; i != end; ++i) {
    uint32_t before = theTransfers->before(numbers.of(at.rank, i));
    if (before != none && theTransfers->batchEnd(before) == start)
      return void(link.because(Reason::Queue, before));
  }
  if (run.costs().hasOccupancy() && sends) {
    uint32_t before = theTransfers->sendBefore(link.step);
    if (before != none && theTransfers->edgeEnd(before) == start)
      return void(link.because(Reason::Edge, before));
  }
  link.before = computeBefore(at);
  // A send also waits for a compute on a stream beside its rank.
  if (sends && !sideBefore.empty() && !endsAt(link.before, start)) {
    Step step = list[numbers.at(link.step).index];
    uint32_t maker =
        theResults.maker(dataKind(step.kind()), step.stage(), step.unit());
    if (endsAt(maker, start))
      return void(link.because(Reason::Post, maker));
  }
  if (!endsAt(link.before, start) && findWait(link, at))
    return;
  link.reason = link.before == none ? Reason::First : Reason::Post;
}

//===----------------------------------------------------------------------===//
// Following the chain
//===----------------------------------------------------------------------===//

std::optional<PathStep> Causes::linkBefore(const PathStep &last) const {
  if (last.before == none)
    return std::nullopt;
  if (last.reason == Reason::Edge && last.latency == 0)
    return linkOnEdge(last.before);
  if (last.reason != Reason::Peer)
    return link(last.before);
  // It waited for the start of that step, not its end.
  int64_t start = run.start(last.before);
  PathStep other{.step = last.before, .start = start, .end = start};
  findStart(other);
  return other;
}

//===----------------------------------------------------------------------===//
// Chains of causes
//===----------------------------------------------------------------------===//

PathSteps causeChain(const Causes &causes, uint32_t step, int64_t since,
                     size_t maxLinks) {
  PathSteps chain = {causes.link(step)};
  while (chain.back().start > since && chain.size() != maxLinks) {
    std::optional<PathStep> before = causes.linkBefore(chain.back());
    if (!before)
      break;
    chain.push_back(*before);
  }
  std::reverse(chain.begin(), chain.end());
  return chain;
}

PathSteps criticalPath(const Causes &causes) {
  ArrayRef<RankTimes> ranks = causes.simulation().ranks();
  std::optional<unsigned> latest;
  for (unsigned rank = 0; rank != ranks.size(); ++rank)
    if (causes.lastStep(rank) != StepNumbers::none &&
        (!latest || ranks[rank].end > ranks[*latest].end))
      latest = rank;
  if (!latest)
    return {};
  return causeChain(causes, causes.lastStep(*latest),
                    std::numeric_limits<int64_t>::min());
}

} // namespace pipec
