//===- WaitingSearch.cpp - All interleavings of a small schedule ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Waiting/WaitingSearch.h"
#include "IR/StagePeers.h"

#include <map>
#include <unordered_set>

namespace pipec::test {

namespace {

/// One P2P step.
struct Op {
  unsigned rank;
  unsigned index;
  unsigned peer;
  bool send;
  Step step;
  /// The ops that are posted together, including this one.
  std::vector<unsigned> batch;
  /// The op at the other end; -1 if there is none.
  int other = -1;
};

/// Up to 8 bits per rank and one bit per op.
struct State {
  uint64_t at = 0;
  uint64_t met = 0;
  friend bool operator==(const State &, const State &) = default;
};
struct StateHash {
  size_t operator()(const State &s) const {
    return s.at * 0x9e3779b97f4a7c15ull ^ (s.met + (s.met << 17)) * 31;
  }
};

class Search {
public:
  Search(const Schedule &schedule, WaitModel model)
      : schedule(schedule), model(model) {
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
      const StepList &list = schedule.ranks[rank];
      for (unsigned i = 0; i != list.size(); ++i)
        if (isP2P(list[i].kind()) && test::hasPeer(schedule, list[i])) {
          opAt[{rank, i}] = ops.size();
          ops.push_back({rank,
                         i,
                         test::peerOf(schedule, list[i]),
                         isSend(list[i].kind()),
                         list[i],
                         {},
                         -1});
        }
    }
    for (Op &op : ops) {
      const StepList &list = schedule.ranks[op.rank];
      unsigned begin = op.index;
      while (begin != 0 && list[begin - 1].joined())
        --begin;
      for (unsigned i = begin; i != Schedule::groupEnd(list, begin); ++i)
        op.batch.push_back(opAt[{op.rank, i}]);
    }
    // The k-th send of an edge matches the k-th receive.
    std::map<std::tuple<unsigned, unsigned, bool>, std::vector<unsigned>>
        byEdge;
    for (unsigned i = 0; i != ops.size(); ++i)
      byEdge[{ops[i].send ? ops[i].rank : ops[i].peer,
              ops[i].send ? ops[i].peer : ops[i].rank, ops[i].send}]
          .push_back(i);
    for (auto &[key, sends] : byEdge) {
      auto [from, to, send] = key;
      if (!send)
        continue;
      const auto &receives = byEdge[{from, to, false}];
      for (size_t k = 0; k < std::min(sends.size(), receives.size()); ++k) {
        ops[sends[k]].other = int(receives[k]);
        ops[receives[k]].other = int(sends[k]);
      }
    }
  }

  std::optional<std::set<Rest>> run(size_t limit) {
    std::set<Rest> outcomes;
    std::unordered_set<State, StateHash> seen = {State()};
    std::vector<State> open = {State()};
    while (!open.empty()) {
      State state = open.back();
      open.pop_back();
      std::vector<State> next = successors(state);
      if (next.empty())
        outcomes.insert(rest(state));
      for (State s : next)
        if (seen.insert(s).second)
          open.push_back(s);
      if (seen.size() > limit)
        return std::nullopt;
    }
    return outcomes;
  }

private:
  static unsigned at(State s, unsigned rank) {
    return unsigned(s.at >> (8 * rank)) & 255;
  }
  bool posted(State s, unsigned op) const {
    // A rank that waits at its transfers has posted them.
    unsigned passed = at(s, ops[op].rank);
    return passed > ops[op].index ||
           (passed == ops[ops[op].batch[0]].index && holds(op));
  }
  bool holds(unsigned op) const {
    return model == WaitModel::BlockingSends ||
           (model == WaitModel::Blocking &&
            (!ops[op].send || ops[op].batch.size() > 1));
  }
  bool met(State s, unsigned op) const { return s.met >> op & 1; }
  bool complete(State s, unsigned op) const {
    for (unsigned member : ops[op].batch)
      if (!met(s, member))
        return false;
    return true;
  }
  bool sameQueue(const Op &a, const Op &b) const {
    if (a.rank != b.rank)
      return false;
    switch (model) {
    case WaitModel::Stream:
      return true;
    case WaitModel::Pair:
      return a.peer == b.peer;
    default:
      return a.peer == b.peer && a.send == b.send;
    }
  }
  bool started(State s, unsigned op) const {
    if (!posted(s, op))
      return false;
    for (unsigned member : ops[op].batch)
      for (unsigned other = 0; other != ops.size(); ++other)
        if (sameQueue(ops[member], ops[other]) &&
            ops[other].index < ops[ops[op].batch[0]].index &&
            !complete(s, other))
          return false;
    return true;
  }

  bool canRun(State s, unsigned rank, unsigned index) const {
    Step step = schedule.ranks[rank][index];
    if (auto op = opAt.find({rank, index}); op != opAt.end())
      return !holds(op->second) || complete(s, op->second);
    if (isSendWait(step.kind()))
      return isOver(s, rank, step);
    if (!isCompute(step.kind()) || step.kind() == StepKind::W)
      return true;
    StepKind wanted =
        step.kind() == StepKind::F ? StepKind::RecvF : StepKind::RecvB;
    for (unsigned i = 0; i != ops.size(); ++i)
      if (ops[i].rank == rank && ops[i].step.kind() == wanted &&
          ops[i].step.stage() == step.stage() &&
          ops[i].step.unit() == step.unit())
        return posted(s, i) && complete(s, i);
    return true;
  }

  /// True if a rank may pass `wait`.
  bool isOver(State s, unsigned rank, Step wait) const {
    for (unsigned i = 0; i != ops.size(); ++i) {
      const Op &op = ops[i];
      if (op.rank != rank || op.step.kind() != sendOfWait(wait.kind()) ||
          op.step.stage() != wait.stage() || op.step.unit() != wait.unit())
        continue;
      if (!posted(s, i) || !complete(s, i))
        return false;
      if (model == WaitModel::Buffered)
        for (unsigned member : op.batch)
          if (ops[member].send && (ops[member].other < 0 ||
                                   !posted(s, unsigned(ops[member].other))))
            return false;
      return true;
    }
    return true;
  }

  std::vector<State> successors(State s) const {
    std::vector<State> next;
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
      const StepList &list = schedule.ranks[rank];
      unsigned index = at(s, rank);
      if (index == list.size() || !canRun(s, rank, index))
        continue;
      size_t end = isP2P(list[index].kind()) ? Schedule::groupEnd(list, index)
                                             : index + 1;
      State n = s;
      n.at += uint64_t(end - index) << (8 * rank);
      next.push_back(n);
    }
    for (unsigned op = 0; op != ops.size(); ++op) {
      if (met(s, op) || !started(s, op))
        continue;
      State n = s;
      if (model == WaitModel::Buffered && ops[op].send) {
        n.met |= 1ull << op;
        next.push_back(n);
        continue;
      }
      if (ops[op].other < 0 || !started(s, ops[op].other))
        continue;
      n.met |= 1ull << op;
      if (model != WaitModel::Buffered)
        n.met |= 1ull << ops[op].other;
      next.push_back(n);
    }
    return next;
  }

  Rest rest(State s) const {
    Rest result;
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
      result.at.push_back(at(s, rank));
      bool blocked = at(s, rank) != schedule.ranks[rank].size();
      for (unsigned op = 0; op != ops.size(); ++op)
        blocked |= ops[op].rank == rank && posted(s, op) && !complete(s, op);
      if (blocked)
        result.blocked.push_back(rank);
    }
    return result;
  }

  const Schedule &schedule;
  WaitModel model;
  std::vector<Op> ops;
  std::map<std::pair<unsigned, unsigned>, unsigned> opAt;
};

} // namespace

std::optional<std::set<Rest>> allOutcomes(const Schedule &schedule,
                                          WaitModel model, size_t limit) {
  return Search(schedule, model).run(limit);
}

} // namespace pipec::test
