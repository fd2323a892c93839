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
    if (!model && run.costs().hasOccupancy())
      findDepartures();
    if (model) {
      transfers.emplace(schedule);
      chainQueues();
    }
  }

  void findProducers();
  void findDepartures();
  void chainQueues();

  PathStep linkOf(uint32_t step) const;
  PathStep linkOfCompute(StepRef at) const;
  PathStep linkOfTransfer(uint32_t step) const;
  PathStep linkOfOther(StepRef at) const;
  PathStep linkOnEdge(uint32_t step) const;
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

  /// The FSDP step before `index` on its rank; with a stage, its UNSHARD.
  uint32_t collectiveBefore(unsigned rank, size_t index,
                            std::optional<unsigned> unshardOf) const;
  /// The rank that another rank's result goes to; nothing when it stays.
  std::optional<unsigned> receiverOf(unsigned rank, Step step) const;
  /// When the result of a compute step is put on its way.
  int64_t departure(uint32_t producer) const;
  uint32_t firstOfBusyEdge(uint32_t producer) const;
  uint32_t sendBefore(uint32_t step) const;
  int64_t transferStart(uint32_t send) const;

  /// The step with which the rank ends; `none` without any.
  uint32_t lastStep(unsigned rank) const {
    size_t size = schedule.ranks[rank].size();
    uint32_t compute = computeBefore(rank, size);
    if (compute != none &&
        endOfCompute(numbers.at(compute)) == run.ranks()[rank].end)
      return compute;
    uint32_t collective = collectiveBefore(rank, size, std::nullopt);
    return collective == none ? compute : collective;
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
  /// When each result is put on its edge, where that can be later than it is
  /// made: under free arrival, with edges that a transfer occupies.
  std::vector<int64_t> departures;
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

void Causes::Impl::findDepartures() {
  departures.assign(producers.size(), 0);
  DenseMap<unsigned, int64_t> free;
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
    const StepList &list = schedule.ranks[rank];
    free.clear();
    for (size_t begin = 0, end = 0; begin != list.size(); begin = end) {
      end = Schedule::groupEnd(list, begin);
      if (!isCompute(list[begin].kind()))
        continue;
      int64_t made = run.end(rank, begin);
      for (size_t i = begin; i != end; ++i) {
        std::optional<unsigned> to = receiverOf(rank, list[i]);
        if (!to)
          continue;
        int64_t &edge = free[*to];
        int64_t start = std::max(made, edge);
        edge = start + run.costs().edge(rank, *to).occupancy;
        departures[result(list[i].stage(), list[i].microbatch(),
                          list[i].kind() != StepKind::F)] = start;
      }
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

std::optional<unsigned> Causes::Impl::receiverOf(unsigned rank,
                                                 Step step) const {
  int user;
  if (step.kind() == StepKind::F)
    user = int(step.stage()) + 1;
  else if (makesInputGradient(step.kind()))
    user = int(step.stage()) - 1;
  else
    return std::nullopt;
  if (user < 0 || unsigned(user) == schedule.numStages)
    return std::nullopt;
  unsigned to = schedule.rankOf(user, step.microbatch());
  return to == rank ? std::nullopt : std::optional(to);
}

int64_t Causes::Impl::departure(uint32_t producer) const {
  StepRef at = numbers.at(producer);
  Step step = schedule.ranks[at.rank][at.index];
  if (departures.empty() || !receiverOf(at.rank, step))
    return endOfCompute(at);
  return departures[result(step.stage(), step.microbatch(),
                           step.kind() != StepKind::F)];
}

/// The compute step whose result has kept an edge busy, with others behind it,
/// until the result of `producer` was put on it.
uint32_t Causes::Impl::firstOfBusyEdge(uint32_t producer) const {
  StepRef at = numbers.at(producer);
  const StepList &list = schedule.ranks[at.rank];
  std::optional<unsigned> to = receiverOf(at.rank, list[at.index]);
  size_t first = at.index;
  for (size_t i = at.index + 1; i-- != 0;) {
    if (!isCompute(list[i].kind()) || receiverOf(at.rank, list[i]) != to)
      continue;
    first = i;
    uint32_t number = numbers.of(at.rank, i);
    if (departure(number) == endOfCompute(numbers.at(number)))
      break;
  }
  return numbers.of(at.rank, first);
}

uint32_t
Causes::Impl::collectiveBefore(unsigned rank, size_t index,
                               std::optional<unsigned> unshardOf) const {
  const StepList &list = schedule.ranks[rank];
  while (index-- != 0)
    if (isFsdp(list[index].kind()) &&
        (!unshardOf || (list[index].kind() == StepKind::Unshard &&
                        list[index].stage() == *unshardOf)))
      return numbers.of(rank, index);
  return none;
}

/// The send before `step` on the same edge.
uint32_t Causes::Impl::sendBefore(uint32_t step) const {
  StepRef at = numbers.at(step);
  const StepList &list = schedule.ranks[at.rank];
  unsigned peer = schedule.peerOf(list[at.index]);
  for (size_t i = at.index; i-- != 0;)
    if (isSend(list[i].kind()) && schedule.hasPeer(list[i]) &&
        schedule.peerOf(list[i]) == peer)
      return numbers.of(at.rank, i);
  return none;
}

/// When the transfer of a send is put on its edge.
int64_t Causes::Impl::transferStart(uint32_t send) const {
  uint32_t other = transfers->other(send);
  if (model == WaitModel::Buffered || other == none)
    return run.start(send);
  return std::max(run.start(send), run.start(other));
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
  unsigned peer = schedule.peerOf(self);
  int64_t hop = isSend(self.kind()) ? run.costs().hop(at.rank, peer)
                                    : run.costs().hop(peer, at.rank);
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

/// An FSDP step, which waits for its rank and then for those before it; or one
/// that takes no time.
PathStep Causes::Impl::linkOfOther(StepRef at) const {
  int64_t start = run.start(numbers.of(at));
  PathStep link = linkFor(numbers.of(at), start, run.end(at.rank, at.index));
  link.before = computeBefore(at.rank, at.index);
  if (link.before != none)
    link.reason = Reason::Post;
  int64_t posted =
      link.before == none ? 0 : endOfCompute(numbers.at(link.before));
  if (posted == start || !isFsdp(schedule.ranks[at.rank][at.index].kind()))
    return link;
  uint32_t before = collectiveBefore(at.rank, at.index, std::nullopt);
  if (before != none) {
    link.reason = Reason::Queue;
    link.before = before;
  }
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
    int64_t leaves = departure(producer);
    if (leaves + hop != start)
      continue;
    bool waited = leaves != endOfCompute(made);
    link.reason = waited ? Reason::Edge : Reason::Data;
    link.before = waited ? firstOfBusyEdge(producer) : producer;
    link.latency = start - endOfCompute(numbers.at(link.before));
    return link;
  }
  for (size_t i = begin; i != end && schedule.hasFsdp(); ++i) {
    uint32_t unshard = collectiveBefore(at.rank, begin, list[i].stage());
    if (unshard == none || run.end(at.rank, numbers.at(unshard).index) != start)
      continue;
    link.reason = Reason::Gather;
    link.before = unshard;
    return link;
  }
  return link;
}

/// Why a P2P step starts when it does: its queue, its edge, or its rank.
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
  if (run.costs().hasOccupancy() && isSend(list[at.index].kind())) {
    uint32_t before = sendBefore(step);
    if (before != none &&
        transferStart(before) +
                run.costs()
                    .edge(at.rank, schedule.peerOf(list[at.index]))
                    .occupancy ==
            start) {
      link.reason = Reason::Edge;
      link.before = before;
      return;
    }
  }
  link.before = computeBefore(at.rank, begin);
  link.reason = link.before == none ? Reason::First : Reason::Post;
}

/// A transfer until its edge is free for the next one.
PathStep Causes::Impl::linkOnEdge(uint32_t send) const {
  StepRef at = numbers.at(send);
  unsigned peer = schedule.peerOf(schedule.ranks[at.rank][at.index]);
  int64_t start = transferStart(send);
  PathStep link =
      linkFor(send, start, start + run.costs().edge(at.rank, peer).occupancy);
  if (start != run.start(send)) {
    link.reason = Reason::Peer;
    link.before = transfers->other(send);
    return link;
  }
  findStart(link, send);
  return link;
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
    if (last.reason == Reason::Edge && last.latency == 0) {
      chain.push_back(linkOnEdge(last.before));
      continue;
    }
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
    if (impl->lastStep(rank) != none &&
        (!latest || run.ranks()[rank].end > run.ranks()[*latest].end))
      latest = rank;
  if (!latest)
    return {};
  return impl->walk(impl->lastStep(*latest),
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
  int64_t hop = run.costs().hop(made.rank, rank);
  return Input{end, end + hop, impl->departure(producer) + hop};
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
      if (!impl->model)
        arrived = std::max(arrived, needs->arrived);
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
