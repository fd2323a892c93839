//===- Replay.cpp - Times by the equations of the model -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Simulation/Replay.h"
#include "IR/StagePeers.h"

using namespace llvm;

namespace pipec::test {

static Rational plus(Rational a, Rational b) { return *Rational::add(a, b); }
static Rational later(Rational a, Rational b) { return a < b ? b : a; }

size_t Replay::groupBegin(unsigned rank, size_t index) const {
  while (index != 0 && schedule.ranks[rank][index - 1].joined())
    --index;
  return index;
}

Rational Replay::hop(unsigned from, unsigned to) const {
  return plus(schedule.costs.onEdge(Figure::P2P, from, to),
              schedule.costs.onEdge(Figure::Occupancy, from, to));
}

Rational Replay::duration(unsigned rank, size_t begin) const {
  const StepList &list = schedule.ranks[rank];
  if (!isCompute(list[begin].kind()))
    return 0;
  SmallVector<StepKind, 4> kinds;
  Rational sum = 0;
  for (size_t i = begin; i != Schedule::groupEnd(list, begin); ++i) {
    kinds.push_back(list[i].kind());
    sum = plus(sum, *schedule.costs.of(list[i].kind(), list[i].stage()));
  }
  if (kinds.size() > 1)
    if (auto cost = schedule.costs.ofOverlap(kinds))
      return *cost;
  return sum;
}

Rational Replay::reached(unsigned rank, size_t begin) {
  if (begin == 0)
    return 0;
  auto known = reaches.find({rank, begin});
  if (known != reaches.end())
    return known->second;
  size_t before = groupBegin(rank, begin - 1);
  Rational time = isCompute(schedule.ranks[rank][before].kind())
                      ? computeEnd(rank, before)
                      : reached(rank, before);
  if (isP2P(schedule.ranks[rank][before].kind()) && isHeld(rank, before))
    time = later(time, opComplete({rank, before}));
  if (isSendWait(schedule.ranks[rank][before].kind()))
    time = waitEnd(rank, before);
  reaches[{rank, begin}] = time;
  return time;
}

Rational Replay::waitEnd(unsigned rank, size_t index) {
  Rational time = reached(rank, index);
  if (!model)
    return time;
  const StepList &list = schedule.ranks[rank];
  Step wait = list[index];
  StepKind sends =
      wait.kind() == StepKind::WaitSendF ? StepKind::SendF : StepKind::SendB;
  size_t send = 0;
  while (list[send].kind() != sends || list[send].stage() != wait.stage() ||
         list[send].unit() != wait.unit() || list[send].port() != wait.port())
    ++send;
  time = later(time, opComplete({rank, send}));
  size_t begin = groupBegin(rank, send);
  for (size_t i = begin; i != Schedule::groupEnd(list, begin); ++i)
    if (model == WaitModel::Buffered && isSend(list[i].kind())) {
      Place receive = other({rank, i});
      time = later(time, reached(receive.first,
                                 groupBegin(receive.first, receive.second)));
    }
  return time;
}

Rational Replay::computeStart(unsigned rank, size_t index) {
  size_t begin = groupBegin(rank, index);
  auto known = starts.find({rank, begin});
  if (known != starts.end())
    return known->second;
  Rational time = reached(rank, begin);
  const StepList &list = schedule.ranks[rank];
  for (size_t i = begin; i != Schedule::groupEnd(list, begin); ++i)
    time = later(time, arrival(rank, list[i]));
  starts[{rank, begin}] = time;
  return time;
}

Rational Replay::computeEnd(unsigned rank, size_t index) {
  size_t begin = groupBegin(rank, index);
  return plus(computeStart(rank, begin), duration(rank, begin));
}

std::optional<Replay::Place> Replay::findStep(StepKind kind, unsigned stage,
                                              unsigned microbatch) const {
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
    for (size_t i = 0; i != schedule.ranks[rank].size(); ++i) {
      Step step = schedule.ranks[rank][i];
      if (step.kind() == kind && step.stage() == stage &&
          step.unit() == microbatch)
        return Place(rank, i);
    }
  return std::nullopt;
}

// When the inputs of a compute step have arrived on its rank.
Rational Replay::arrival(unsigned rank, Step step) {
  bool forward = step.kind() == StepKind::F;
  if (step.kind() == StepKind::W)
    return 0;
  Rational time = 0;
  if (model) {
    StepKind recv = forward ? StepKind::RecvF : StepKind::RecvB;
    const StepList &list = schedule.ranks[rank];
    for (size_t i = 0; i != list.size(); ++i)
      if (list[i].kind() == recv && list[i].stage() == step.stage() &&
          list[i].unit() == step.unit())
        time = later(time, opComplete({rank, i}));
    return time;
  }
  for (unsigned stage : producers(step)) {
    std::optional<Place> producer;
    if (forward)
      producer = findStep(StepKind::F, stage, step.unit());
    else if (!(producer = findStep(StepKind::B, stage, step.unit())))
      producer = findStep(StepKind::I, stage, step.unit());
    time = later(time, plus(computeEnd(producer->first, producer->second),
                            hop(producer->first, rank)));
  }
  return time;
}

// The stages that produce the inputs of an F, B or I.
std::vector<unsigned> Replay::producers(Step step) const {
  bool forward = step.kind() == StepKind::F;
  std::vector<unsigned> stages;
  schedule.graph.forEachEdge(schedule.numStages, [&](StageGraph::Edge edge) {
    if ((forward ? edge.to : edge.from) == step.stage())
      stages.push_back(forward ? edge.from : edge.to);
  });
  return stages;
}

// True if the rank waits at the P2P step or batch at `begin`.
bool Replay::isHeld(unsigned rank, size_t begin) const {
  Step step = schedule.ranks[rank][begin];
  return model == WaitModel::BlockingSends ||
         (model == WaitModel::Blocking &&
          (isRecv(step.kind()) || step.joined()));
}

bool Replay::sameQueue(unsigned rank, Step a, Step b) const {
  if (model == WaitModel::Stream)
    return true;
  if (test::peerOf(schedule, a) != test::peerOf(schedule, b))
    return false;
  return model == WaitModel::Pair || isSend(a.kind()) == isSend(b.kind());
}

// When a P2P step, or its batch, starts.
Rational Replay::opStart(Place op) {
  auto [rank, index] = op;
  size_t begin = groupBegin(rank, index);
  auto known = opStarts.find({rank, begin});
  if (known != opStarts.end())
    return known->second;
  const StepList &list = schedule.ranks[rank];
  Rational time = reached(rank, begin);
  for (size_t i = begin; i != Schedule::groupEnd(list, begin); ++i)
    for (size_t before = 0; before != begin; ++before)
      if (isP2P(list[before].kind()) && sameQueue(rank, list[before], list[i]))
        time = later(time, opComplete({rank, before}));
  opStarts[{rank, begin}] = time;
  return time;
}

// The partner of a P2P step: the k-th step of its edge at the other end.
Replay::Place Replay::other(Place op) const {
  Step self = schedule.ranks[op.first][op.second];
  unsigned peer = test::peerOf(schedule, self);
  unsigned nth = 0;
  for (size_t i = 0; i != op.second; ++i) {
    Step step = schedule.ranks[op.first][i];
    nth += isP2P(step.kind()) && test::peerOf(schedule, step) == peer &&
           isSend(step.kind()) == isSend(self.kind());
  }
  const StepList &list = schedule.ranks[peer];
  for (size_t i = 0; i != list.size(); ++i)
    if (isP2P(list[i].kind()) && test::peerOf(schedule, list[i]) == op.first &&
        isSend(list[i].kind()) != isSend(self.kind()) && nth-- == 0)
      return {peer, i};
  llvm_unreachable("a transfer has two sides");
}

// The send before a send on its edge.
std::optional<Replay::Place> Replay::sendBefore(Place send) const {
  auto [rank, index] = send;
  const StepList &list = schedule.ranks[rank];
  while (index-- != 0)
    if (isSend(list[index].kind()) &&
        test::peerOf(schedule, list[index]) ==
            test::peerOf(schedule, list[send.second]))
      return Place(rank, index);
  return std::nullopt;
}

Rational Replay::transferStart(unsigned rank, size_t index) {
  Rational time = opStart({rank, index});
  // An edge that transfers do not occupy is always free.
  if (isSend(schedule.ranks[rank][index].kind()) &&
      schedule.costs.general(Figure::Occupancy) != 0)
    if (std::optional<Place> before = sendBefore({rank, index}))
      time = later(time, plus(edgeStart(*before),
                              schedule.costs.general(Figure::Occupancy)));
  return time;
}

// When the transfer of a send is put on its edge.
Rational Replay::edgeStart(Place send) {
  auto known = edgeStarts.find(send);
  if (known != edgeStarts.end())
    return known->second;
  Rational time = transferStart(send.first, send.second);
  if (model != WaitModel::Buffered)
    time = later(time, opStart(other(send)));
  edgeStarts[send] = time;
  return time;
}

// When a P2P step, or its whole batch, is complete.
Rational Replay::opComplete(Place op) {
  auto [rank, index] = op;
  size_t begin = groupBegin(rank, index);
  auto known = completes.find({rank, begin});
  if (known != completes.end())
    return known->second;
  const StepList &list = schedule.ranks[rank];
  Rational time = 0;
  for (size_t i = begin; i != Schedule::groupEnd(list, begin); ++i) {
    Place self{rank, i};
    bool send = isSend(list[i].kind());
    Rational end = edgeStart(send ? self : other(self));
    if (!send || model != WaitModel::Buffered)
      end = plus(end, send ? hop(rank, other(self).first)
                           : hop(other(self).first, rank));
    end = later(end, opStart(self));
    time = later(time, end);
  }
  completes[{rank, begin}] = time;
  return time;
}

Rational Replay::makespan() {
  std::optional<Rational> first, last;
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
    for (size_t i = 0; i != schedule.ranks[rank].size(); ++i) {
      if (!isCompute(schedule.ranks[rank][i].kind()))
        continue;
      Rational start = computeStart(rank, i), end = computeEnd(rank, i);
      first = first && *first < start ? *first : start;
      last = last ? later(*last, end) : end;
    }
  return first ? *Rational::sub(*last, *first) : Rational(0);
}

} // namespace pipec::test
