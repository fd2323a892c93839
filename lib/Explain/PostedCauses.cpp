//===- PostedCauses.cpp - The causes of the starts of posted steps --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Posted steps wait for their rank, for the steps before them in their stream,
// and for what the stream shares with others.
//
//===----------------------------------------------------------------------===//

#include "Explain/Causes.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace llvm;

namespace pipec {

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

void Causes::findPosted() {
  for (unsigned rank = 0; rank != theSchedule.numRanks; ++rank)
    for (auto [i, step] : enumerate(theSchedule.ranks[rank]))
      if (isPosted(step.kind())) {
        hasGathers |= step.stream() == Stream::Gather;
        if (isCopy(step.kind()))
          copies[unitKey(step)].push_back(numbers.of(rank, i));
      }
}

uint32_t Causes::copyBefore(StepRef at) const {
  Step step = theSchedule.ranks[at.rank][at.index];
  auto own = hasUnit(step.kind()) ? copies.find(unitKey(step)) : copies.end();
  if (own == copies.end())
    return none;
  auto after = lower_bound(own->second, numbers.of(at));
  return after == own->second.begin() ? uint32_t(none) : *std::prev(after);
}

uint32_t Causes::reductionBefore(StepRef at) const {
  Step step = theSchedule.ranks[at.rank][at.index];
  if (step.kind() != StepKind::Update)
    return none;
  // One of the sums that it waits for, if it ends last.
  for (StepRef tied : meetings.stepsOf(at.rank)) {
    unsigned group = theSchedule.ranks[at.rank][tied.index].stage();
    if (is_contained(theSchedule.ties[group], step.stage()) &&
        endsAt(numbers.of(tied), run.start(at.rank, at.index)))
      return numbers.of(tied);
  }
  return lastBefore(at, [&](Step before) {
    return before.kind() == StepKind::ReduceGrad &&
           before.stage() == step.stage();
  });
}

/// The share that a stream has, if it has one.
static std::optional<size_t> shareOf(const Schedule &schedule, Stream stream) {
  for (auto [i, share] : enumerate(schedule.costs.shares))
    if (is_contained(share.streams, stream))
      return i;
  return std::nullopt;
}

void Causes::findShared() {
  if (theSchedule.costs.shares.empty())
    return;
  for (unsigned rank = 0; rank != theSchedule.numRanks; ++rank)
    for (auto [i, step] : enumerate(theSchedule.ranks[rank])) {
      if (!isPosted(step.kind()))
        continue;
      std::optional<size_t> share = shareOf(theSchedule, step.stream());
      int64_t end = run.end(rank, i);
      if (share && end > run.start(rank, i))
        shared[{*share, rank / theSchedule.costs.shares[*share].ranks}]
            .push_back({end, numbers.of(rank, i)});
    }
  for (auto &[resource, ends] : shared)
    llvm::sort(ends, [](const SharedEnd &a, const SharedEnd &b) {
      return a.end < b.end;
    });
}

/// True if a posted step starts when another step, or a transfer, leaves what
/// its stream shares with it.
bool Causes::findShare(PathStep &link, StepRef at) const {
  std::optional<size_t> share =
      shareOf(theSchedule, theSchedule.ranks[at.rank][at.index].stream());
  if (!share)
    return false;
  const CostSettings::Share &what = theSchedule.costs.shares[*share];
  auto found = shared.find({*share, at.rank / what.ranks});
  if (found != shared.end()) {
    auto last = partition_point(found->second, [&](const SharedEnd &before) {
      return before.end < link.start;
    });
    if (last != found->second.end() && last->end == link.start) {
      link.because(Reason::Share, last->step);
      return true;
    }
  }
  if (!run.costs().hasPorts() || !is_contained(what.streams, Stream::Link))
    return false;
  link.because(Reason::Share, none);
  return true;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// The step before `at` in a stream of its rank.
uint32_t Causes::streamBefore(StepRef at, Stream stream) const {
  return lastBefore(at, [=](Step step) { return step.stream() == stream; });
}

uint32_t Causes::lastStep(unsigned rank) const {
  StepRef end = {rank, uint32_t(theSchedule.ranks[rank].size())};
  for (StepRef tied : reverse(meetings.stepsOf(rank)))
    if (run.costs().reduceTied() != 0 &&
        run.end(rank, tied.index) == run.ranks()[rank].end)
      return numbers.of(tied);
  uint32_t compute = computeBefore(end);
  if (endsAt(compute, run.ranks()[rank].end))
    return compute;
  for (size_t i = sideBefore.empty() ? 0 : end.index; i-- != 0;)
    if (isCompute(theSchedule.ranks[rank][i].kind()) &&
        run.end(rank, i) == run.ranks()[rank].end)
      return numbers.of(rank, groupBegin(theSchedule.ranks[rank], i));
  for (Stream stream : {Stream::Out, Stream::In})
    if (uint32_t copy = streamBefore(end, stream);
        endsAt(copy, run.ranks()[rank].end))
      return copy;
  uint32_t collective = streamBefore(end, Stream::Gather);
  return collective == none ? compute : collective;
}

/// For a REDUCE_TIED, which starts when the last rank of its group has posted
/// it and has ended its earlier collectives.
PathStep Causes::linkOfTied(StepRef at) const {
  int64_t start = run.start(at.rank, at.index);
  PathStep link{.step = numbers.of(at),
                .start = start,
                .end = run.end(at.rank, at.index)};
  unsigned group = theSchedule.ranks[at.rank][at.index].stage();
  for (StepRef member : meetings.steps(group))
    if (uint32_t before = computeBefore(member); endsAt(before, start))
      return link.because(Reason::Post, before);
  for (StepRef member : meetings.steps(group)) {
    for (StepRef tied : meetings.stepsOf(member.rank))
      if (tied.index < member.index && endsAt(numbers.of(tied), start))
        return link.because(Reason::Queue, numbers.of(tied));
    if (uint32_t before = streamBefore(member, Stream::Gather);
        endsAt(before, start))
      return link.because(Reason::Queue, before);
  }
  findWait(link, at);
  return link;
}

/// For a step that its rank posts, or one without a duration.
PathStep Causes::linkOfOther(StepRef at) const {
  int64_t start = run.start(at.rank, at.index);
  PathStep link{.step = numbers.of(at),
                .start = start,
                .end = run.end(at.rank, at.index)};
  link.before = computeBefore(at);
  if (link.before != none)
    link.reason = Reason::Post;
  int64_t posted = link.before == none ? 0 : run.end(link.before);
  if (posted != start && findWait(link, at))
    return link;
  Step step = theSchedule.ranks[at.rank][at.index];
  if (posted == start || !isPosted(step.kind()))
    return link;
  uint32_t before = streamBefore(at, step.stream());
  if (!endsAt(before, start) && findShare(link, at))
    return link;
  if (before != none)
    link.because(Reason::Queue, before);
  return link;
}

} // namespace pipec
