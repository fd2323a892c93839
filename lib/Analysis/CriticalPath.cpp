//===- CriticalPath.cpp - Why every step starts when it does ----===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A step asks all that it may have waited for in a fixed order, and takes the
// first one that ended at its own start. What stands before a step in its list
// is found by walking back over the steps that do not compute; a chain walks
// over each step of a list at most once, since whatever it comes to next on
// that rank stands before where it left it.
//
//===----------------------------------------------------------------------===//

#include "Analysis/CriticalPath.h"

#include "llvm/Support/ErrorHandling.h"

#include <algorithm>

using namespace llvm;

namespace pipec {

StringRef reasonName(Reason reason) {
  switch (reason) {
#define PIPEC_REASON(Id, Name, Text)                                           \
  case Reason::Id:                                                             \
    return Name;
#include "Analysis/Reasons.def"
  }
  llvm_unreachable("every reason has a name");
}

StringRef reasonText(Reason reason) {
  switch (reason) {
#define PIPEC_REASON(Id, Name, Text)                                           \
  case Reason::Id:                                                             \
    return Text;
#include "Analysis/Reasons.def"
  }
  llvm_unreachable("every reason has a text");
}

static constexpr uint32_t none = StepNumbers::none;

/// A link of a step of whose other figures nothing is known yet.
static PathStep linkFor(uint32_t step, int64_t start, int64_t end) {
  PathStep link;
  link.step = step;
  link.start = start;
  link.end = end;
  return link;
}

struct Causes::Impl {
  Impl(const Schedule &schedule, const Simulation &run)
      : schedule(schedule), run(run), numbers(run.numbers()),
        model(run.model()) {
    findProducers();
    if (model) {
      transfers.emplace(schedule);
      chainQueues();
    }
  }

  void findProducers();
  void chainQueues();

  PathStep linkOf(uint32_t step) const;
  PathStep linkOfCompute(StepRef at) const;
  PathStep linkOfTransfer(uint32_t step) const;
  PathStep linkOfOther(StepRef at) const;
  void findStart(PathStep &link, uint32_t step) const;
  PathSteps walk(uint32_t step, int64_t since, size_t maxLinks) const;

  size_t result(unsigned stage, unsigned microbatch, bool gradient) const {
    return (size_t(gradient) * schedule.numStages + stage) *
               schedule.numMicrobatches +
           microbatch;
  }
  const Step &stepAt(uint32_t step) const {
    StepRef at = numbers.at(step);
    return schedule.ranks[at.rank][at.index];
  }
  size_t groupBegin(StepRef at) const {
    const StepList &list = schedule.ranks[at.rank];
    size_t begin = at.index;
    while (begin && list[begin - 1].joined())
      --begin;
    return begin;
  }
  int64_t endOfCompute(StepRef at) const {
    const StepList &list = schedule.ranks[at.rank];
    size_t begin = groupBegin(at);
    return run.start(numbers.of(at)) +
           run.costs().duration(list, begin, Schedule::groupEnd(list, begin));
  }
  /// The compute step before `index` on its rank, the first of its group.
  uint32_t computeBefore(unsigned rank, size_t index) const {
    const StepList &list = schedule.ranks[rank];
    while (index && !isCompute(list[index - 1].kind()))
      --index;
    if (!index)
      return none;
    return numbers.of(rank, groupBegin({rank, uint32_t(index - 1)}));
  }

  uint32_t producerOf(Step step) const;
  int64_t transferEnd(uint32_t step) const;
  int64_t endOfP2P(uint32_t step) const;

  const Schedule &schedule;
  const Simulation &run;
  const StepNumbers &numbers;
  std::optional<WaitModel> model;
  /// The number of the step that makes each result.
  std::vector<uint32_t> producers;
  std::optional<Transfers> transfers;
  /// Of a P2P step that stands for itself or its batch in a queue, the step
  /// before it there.
  std::vector<uint32_t> behind;
};

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

void Causes::Impl::findProducers() {
  producers.assign(2 * size_t(schedule.numStages) * schedule.numMicrobatches,
                   none);
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
    uint32_t number = numbers.begin(rank);
    for (Step step : schedule.ranks[rank]) {
      if (step.kind() == StepKind::F || makesInputGradient(step.kind()))
        producers[result(step.stage(), step.microbatch(),
                         step.kind() != StepKind::F)] = number;
      ++number;
    }
  }
}

/// Which queue of its rank a P2P step stands in.
static unsigned queueOf(const Schedule &schedule, WaitModel model, Step step) {
  if (model == WaitModel::Stream)
    return 0;
  unsigned peer = schedule.peerOf(step);
  return model == WaitModel::Pair ? peer : 2 * peer + isSend(step.kind());
}

void Causes::Impl::chainQueues() {
  behind.assign(numbers.size(), none);
  std::vector<uint32_t> last(2 * size_t(schedule.numRanks), none);
  std::vector<unsigned> used;
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
    const StepList &list = schedule.ranks[rank];
    for (unsigned queue : used)
      last[queue] = none;
    used.clear();
    for (size_t begin = 0; begin != list.size();) {
      size_t end = Schedule::groupEnd(list, begin);
      for (size_t i = begin; i != end && isP2P(list[i].kind()); ++i) {
        if (!schedule.hasPeer(list[i]))
          continue;
        uint32_t &before = last[queueOf(schedule, *model, list[i])];
        if (before == none)
          used.push_back(queueOf(schedule, *model, list[i]));
        // Members of one batch do not wait for each other.
        else if (before < numbers.of(rank, begin))
          behind[numbers.of(rank, i)] = before;
        before = numbers.of(rank, i);
      }
      begin = end;
    }
  }
}

//===----------------------------------------------------------------------===//
// Times
//===----------------------------------------------------------------------===//

uint32_t Causes::Impl::producerOf(Step step) const {
  if (step.kind() == StepKind::F && step.stage() != 0)
    return producers[result(step.stage() - 1, step.microbatch(), false)];
  if (makesInputGradient(step.kind()) && !schedule.isLastStage(step.stage()))
    return producers[result(step.stage() + 1, step.microbatch(), true)];
  return none;
}

/// When the transfer of a P2P step is over for its rank.
int64_t Causes::Impl::transferEnd(uint32_t step) const {
  StepRef at = numbers.at(step);
  Step self = schedule.ranks[at.rank][at.index];
  int64_t own = run.start(step);
  uint32_t other = transfers->other(step);
  if (!schedule.hasPeer(self) || other == none)
    return own;
  if (model == WaitModel::Buffered && isSend(self.kind()))
    return own;
  int64_t hop = run.costs().hop(at.rank, schedule.peerOf(self));
  if (model == WaitModel::Buffered)
    return std::max(own, run.start(other) + hop);
  return std::max(own, run.start(other)) + hop;
}

/// When a P2P step, or the whole of its batch, is complete.
int64_t Causes::Impl::endOfP2P(uint32_t step) const {
  StepRef at = numbers.at(step);
  const StepList &list = schedule.ranks[at.rank];
  size_t begin = groupBegin(at), end = Schedule::groupEnd(list, begin);
  int64_t last = transferEnd(step);
  for (size_t i = begin; i != end; ++i)
    last = std::max(last, transferEnd(numbers.of(at.rank, i)));
  return last;
}

//===----------------------------------------------------------------------===//
// Links
//===----------------------------------------------------------------------===//

PathStep Causes::Impl::linkOf(uint32_t step) const {
  StepRef at = numbers.at(step);
  StepKind kind = schedule.ranks[at.rank][at.index].kind();
  if (isCompute(kind))
    return linkOfCompute(at);
  if (isP2P(kind) && model)
    return linkOfTransfer(step);
  return linkOfOther(at);
}

/// A step that takes no time and happens when its rank comes to it.
PathStep Causes::Impl::linkOfOther(StepRef at) const {
  int64_t start = run.start(numbers.of(at));
  PathStep link = linkFor(numbers.of(at), start, start);
  link.before = computeBefore(at.rank, at.index);
  if (link.before != none)
    link.reason = Reason::Post;
  return link;
}

PathStep Causes::Impl::linkOfCompute(StepRef at) const {
  const StepList &list = schedule.ranks[at.rank];
  size_t begin = groupBegin(at), end = Schedule::groupEnd(list, begin);
  uint32_t self = numbers.of(at.rank, begin);
  int64_t start = run.start(self);
  PathStep link =
      linkFor(self, start, start + run.costs().duration(list, begin, end));
  uint32_t before = computeBefore(at.rank, begin);
  if (before != none && endOfCompute(numbers.at(before)) == start) {
    link.reason = Reason::Order;
    link.before = before;
    return link;
  }
  for (size_t i = begin; i != end; ++i) {
    if (model) {
      uint32_t receive = transfers->other(numbers.of(at.rank, i));
      if (receive == none || endOfP2P(receive) != start)
        continue;
      link.reason = Reason::Receive;
      link.before = receive;
      return link;
    }
    uint32_t producer = producerOf(list[i]);
    if (producer == none)
      continue;
    StepRef made = numbers.at(producer);
    int64_t hop = run.costs().hop(made.rank, at.rank);
    if (endOfCompute(made) + hop != start)
      continue;
    link.reason = Reason::Data;
    link.latency = hop;
    link.before = producer;
    return link;
  }
  return link;
}

/// Why a P2P step starts when it does: its queue, or its rank.
void Causes::Impl::findStart(PathStep &link, uint32_t step) const {
  StepRef at = numbers.at(step);
  const StepList &list = schedule.ranks[at.rank];
  size_t begin = groupBegin(at), end = Schedule::groupEnd(list, begin);
  int64_t start = run.start(step);
  for (size_t i = begin; i != end; ++i) {
    uint32_t before = behind[numbers.of(at.rank, i)];
    if (before == none || endOfP2P(before) != start)
      continue;
    link.reason = Reason::Queue;
    link.before = before;
    return;
  }
  uint32_t before = computeBefore(at.rank, begin);
  link.reason = before == none ? Reason::First : Reason::Post;
  link.before = before;
}

PathStep Causes::Impl::linkOfTransfer(uint32_t step) const {
  int64_t end = endOfP2P(step);
  if (transferEnd(step) != end) {
    // Another member of the batch is the last.
    StepRef at = numbers.at(step);
    size_t i = groupBegin(at);
    while (transferEnd(numbers.of(at.rank, i)) != end)
      ++i;
    PathStep link = linkFor(step, end, end);
    link.reason = Reason::Batch;
    link.before = numbers.of(at.rank, i);
    return link;
  }
  int64_t own = run.start(step);
  PathStep link = linkFor(step, own, end);
  uint32_t other = transfers->other(step);
  bool late = model == WaitModel::Buffered
                  ? end != own
                  : other != none && run.start(other) > own;
  if (late) {
    link.reason = Reason::Peer;
    link.start = run.start(other);
    link.before = other;
    return link;
  }
  findStart(link, step);
  return link;
}

//===----------------------------------------------------------------------===//
// Chains
//===----------------------------------------------------------------------===//

PathSteps Causes::Impl::walk(uint32_t step, int64_t since,
                             size_t maxLinks) const {
  PathSteps chain = {linkOf(step)};
  while (true) {
    const PathStep last = chain.back();
    if (last.before == none || last.start <= since || chain.size() == maxLinks)
      break;
    if (last.reason != Reason::Peer) {
      chain.push_back(linkOf(last.before));
      continue;
    }
    // It waited for that step to start, not to end.
    int64_t start = run.start(last.before);
    chain.push_back(linkFor(last.before, start, start));
    findStart(chain.back(), last.before);
  }
  std::reverse(chain.begin(), chain.end());
  return chain;
}

WaitParts &WaitParts::operator+=(const WaitParts &other) {
  dependency += other.dependency;
  latency += other.latency;
  queue += other.queue;
  gather += other.gather;
  return *this;
}

Causes::Causes(const Schedule &schedule, const Simulation &simulation)
    : theSchedule(schedule), run(simulation),
      impl(std::make_unique<Impl>(schedule, simulation)) {}

Causes::~Causes() = default;

LogicalResult Causes::check(const Schedule &schedule, DiagEngine &diags) {
  size_t steps = schedule.numSteps();
  if (size_t(schedule.numStages) * schedule.numMicrobatches <= steps)
    return success();
  return diags.report(schedule.source, diag::TooFewSteps, steps,
                      schedule.numStages, schedule.numMicrobatches);
}

PathStep Causes::link(uint32_t step) const { return impl->linkOf(step); }

PathSteps Causes::chain(uint32_t step, int64_t since, size_t maxLinks) const {
  return impl->walk(step, since, maxLinks);
}

PathSteps Causes::criticalPath() const {
  std::optional<unsigned> latest;
  for (unsigned rank = 0; rank != theSchedule.numRanks; ++rank)
    if (impl->computeBefore(rank, theSchedule.ranks[rank].size()) != none &&
        (!latest || run.ranks()[rank].end > run.ranks()[*latest].end))
      latest = rank;
  if (!latest)
    return {};
  return impl->walk(
      impl->computeBefore(*latest, theSchedule.ranks[*latest].size()),
      std::numeric_limits<int64_t>::min(), 0);
}

uint32_t Causes::maker(unsigned stage, unsigned microbatch,
                       bool gradient) const {
  return impl->producers[impl->result(stage, microbatch, gradient)];
}

std::optional<Causes::Input> Causes::input(unsigned rank, Step step) const {
  uint32_t producer = impl->producerOf(step);
  if (producer == none)
    return std::nullopt;
  StepRef made = impl->numbers.at(producer);
  int64_t end = impl->endOfCompute(made);
  return Input{end, end + run.costs().hop(made.rank, rank)};
}

WaitParts Causes::wait(unsigned rank, size_t begin, int64_t since) const {
  const StepList &list = theSchedule.ranks[rank];
  WaitParts parts;
  int64_t start = run.start(impl->numbers.of(rank, begin));
  if (start <= since)
    return parts;
  int64_t made = since, there = since, arrived = since;
  for (size_t i = begin, end = Schedule::groupEnd(list, begin); i != end; ++i) {
    if (std::optional<Input> needs = input(rank, list[i])) {
      made = std::max(made, needs->made);
      there = std::max(there, needs->there);
    }
    if (!impl->model)
      continue;
    uint32_t receive = impl->transfers->other(impl->numbers.of(rank, i));
    if (receive != none)
      arrived = std::max(arrived, impl->endOfP2P(receive));
  }
  made = std::min(made, start);
  there = std::clamp(there, made, start);
  arrived = std::clamp(arrived, there, start);
  parts.dependency = made - since;
  parts.latency = there - made;
  parts.queue = arrived - there;
  parts.gather = start - arrived;
  return parts;
}

} // namespace pipec
