//===- SharedRun.cpp - Runs with shared streams and ports -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every rank runs its list as far as it can. Posted steps and transfers become
// requests, which are served in the order of time: no later step of a rank can
// lead to an earlier request.
//
//===----------------------------------------------------------------------===//

#include "Simulation/SharedRun.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

SharedRun::SharedRun(const Schedule &schedule, const TickCosts &costs,
                     const StepNumbers &numbers, std::vector<int64_t> &starts)
    : schedule(schedule), costs(costs), numbers(numbers), starts(starts),
      flow(schedule), arrivals(flow.size(), pending), ranks(schedule.numRanks) {
  if (!schedule.streams.empty())
    sides.emplace(schedule);
  if (TiedSums::isNeeded(schedule))
    sums.emplace(schedule);
  size_t next = 0;
  for (unsigned kind = 0; kind != numKinds; ++kind) {
    firstResource[kind] = next;
    ranksPerResource[kind] = 1;
    orders[kind] = kind;
    next += schedule.numRanks;
  }
  for (const CostSettings::Share &share : schedule.costs.shares) {
    auto use = [&](unsigned kind, size_t order) {
      firstResource[kind] = next;
      ranksPerResource[kind] = share.ranks;
      orders[kind] = order;
    };
    for (auto [i, stream] : enumerate(share.streams)) {
      if (stream == Stream::Link) {
        use(outgoing, i);
        use(incoming, i);
      } else {
        use(queueOf(stream), i);
      }
    }
    next += (schedule.numRanks - 1) / share.ranks + 1;
  }
  resources.resize(next);
}

bool SharedRun::run() {
  for (unsigned rank = 0; rank != ranks.size(); ++rank)
    advance(rank);
  while (!requests.empty()) {
    Request request = requests.top();
    requests.pop();
    if (request.kind < numQueues)
      serveStep(request);
    else
      serveTransfer(request);
  }
  for (unsigned rank = 0; rank != ranks.size(); ++rank)
    if (ranks[rank].at != schedule.ranks[rank].size())
      return false;
  return true;
}

std::pair<uint64_t, unsigned> SharedRun::keyOf(unsigned rank, Step step) {
  Object object = objectOf(stateBefore(step.kind()));
  if (object == Object::Copy)
    return {unitKey(step), ~0u};
  return {uint64_t(step.stage()) << 1 | (object == Object::Gradients), rank};
}

void SharedRun::request(int64_t time, unsigned rank, unsigned kind, unsigned to,
                        size_t datum, Step maker) {
  requests.push({time, rank, orders[kind], uint8_t(kind), numRequests++, to,
                 datum, maker});
}

void SharedRun::advance(unsigned rank) {
  const StepList &list = schedule.ranks[rank];
  Rank &self = ranks[rank];
  while (self.at != list.size()) {
    size_t begin = self.at, end = Schedule::groupEnd(list, begin);
    StepKind kind = list[begin].kind();
    if (isCompute(kind)) {
      if (!passCompute(rank, begin, end))
        return;
    } else if (isPosted(kind)) {
      post(rank, begin);
    } else {
      if (isWait(kind) && !isSendWait(kind)) {
        int64_t until = ends.lookup(keyOf(rank, list[begin]));
        if (until == pending)
          return;
        self.now = std::max(self.now, until);
      }
      for (size_t i = begin; i != end; ++i)
        starts[numbers.of(rank, i)] = self.now;
    }
    self.at = end;
  }
}

/// Runs a group of compute steps; false if it has to wait for a request.
bool SharedRun::passCompute(unsigned rank, size_t begin, size_t end) {
  const StepList &list = schedule.ranks[rank];
  int64_t start = ranks[rank].now;
  auto needs = [&](int64_t time) {
    start = std::max(start, time);
    return time != pending;
  };
  for (size_t i = begin; i != end; ++i) {
    Step step = list[i];
    for (const DataFlow::Port &input : flow.inputs(step))
      if (!needs(arrivals[flow.datum(input, step.unit())]))
        return false;
    bool update = step.kind() == StepKind::Update;
    auto reached = [&](StepKind kind, unsigned unit) {
      return needs(ends.lookup(keyOf(rank, Step(kind, step.stage(), unit))));
    };
    if (sides)
      start = std::max(start, sides->needs(rank, step));
    if (sums && update &&
        !needs(sums->end(rank, step.stage()).value_or(pending)))
      return false;
    if (!reached(update ? StepKind::ReduceGrad : StepKind::Unshard, 0) ||
        (!update && !reached(StepKind::Reload, step.unit())))
      return false;
  }
  int64_t duration = costs.duration(list, begin, end);
  bool posts = sides && sides->of(list, begin);
  if (posts)
    start = sides->run(rank, begin, end, start, duration);
  int64_t stop = start + duration;
  if (!posts)
    ranks[rank].now = stop;
  for (size_t i = begin; i != end; ++i) {
    starts[numbers.of(rank, i)] = start;
    for (const DataFlow::Port &output : flow.outputs(list[i])) {
      size_t datum = flow.datum(output, list[i].unit());
      if (output.transfers)
        request(stop, rank, outgoing, output.rank, datum, list[i]);
      else
        arrivals[datum] = stop;
    }
  }
  return true;
}

void SharedRun::post(unsigned rank, size_t index) {
  Step step = schedule.ranks[rank][index];
  if (step.stream() != Stream::Tied)
    ends[keyOf(rank, step)] = pending;
  unsigned queue = queueOf(step.stream());
  std::deque<Posted> &steps = ranks[rank].queues[queue].steps;
  int64_t from = sides ? sides->needs(rank, step) : 0;
  steps.push_back({uint32_t(index), std::max(from, ranks[rank].now)});
  if (steps.size() == 1)
    pushHead(rank, queue);
}

void SharedRun::pushHead(unsigned rank, unsigned queue) {
  const Queue &self = ranks[rank].queues[queue];
  request(std::max(self.steps.front().time, self.end), rank, queue);
}

void SharedRun::serveStep(const Request &request) {
  unsigned rank = request.rank;
  Queue &queue = ranks[rank].queues[request.kind];
  uint32_t index = queue.steps.front().index;
  queue.steps.pop_front();
  Step step = schedule.ranks[rank][index];
  int64_t start = request.time;
  if (step.stream() != Stream::Tied) {
    int64_t &free = resource(request.kind, rank);
    start = std::max(start, free);
    free = queue.end = start + costs.posted(rank, step);
    ends[keyOf(rank, step)] = queue.end;
  } else if (sums) {
    sums->post(rank, step.stage(), start, costs.reduceTied());
  }
  starts[numbers.of(rank, index)] = start;
  if (!queue.steps.empty())
    pushHead(rank, request.kind);
  advance(rank);
  if (sums)
    for (unsigned released : sums->takeReleased())
      advance(released);
}

void SharedRun::serveTransfer(const Request &request) {
  EdgeTicks edge = costs.edge(request.rank, request.to);
  int64_t &free = edges[{request.rank, request.to}];
  int64_t &from = resource(outgoing, request.rank);
  int64_t &to = resource(incoming, request.to);
  int64_t start = std::max({request.time, free, from, to});
  free = start + edge.occupancy;
  from = to = start + edge.port;
  arrivals[request.datum] =
      start + costs.hop(request.rank, request.to, request.maker);
  advance(request.to);
}

} // namespace pipec
