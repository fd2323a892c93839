//===- NaiveVerifier.cpp - The definitions, literally ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Verify/NaiveVerifier.h"
#include "IR/StagePeers.h"

#include <map>
#include <set>

using namespace llvm;

namespace pipec::test {

namespace {

struct Place {
  unsigned rank, index, line;
};

/// Every step of a schedule with its place, and lookups.
struct All {
  explicit All(const Schedule &schedule) : schedule(schedule) {
    for (unsigned rank = 0; rank != schedule.ranks.size(); ++rank) {
      unsigned line = 0;
      for (unsigned i = 0; i != schedule.ranks[rank].size(); ++i) {
        steps.push_back({schedule.ranks[rank][i], {rank, i, line}});
        line += !schedule.ranks[rank][i].joined();
      }
    }
  }
  std::vector<Place> places(StepKind kind, unsigned stage, unsigned m) const {
    std::vector<Place> result;
    for (auto &[step, place] : steps)
      if (step.kind() == kind && step.stage() == stage && step.unit() == m)
        result.push_back(place);
    return result;
  }
  /// The P2P steps of a stage whose other end is stage `peer`.
  std::vector<Place> transfers(StepKind kind, unsigned stage, unsigned peer,
                               unsigned m) const {
    std::vector<Place> result;
    for (auto &[step, place] : steps)
      if (step.kind() == kind && step.stage() == stage && step.unit() == m &&
          peerStage(schedule, step) == int(peer))
        result.push_back(place);
    return result;
  }
  unsigned count(StepKind kind, unsigned stage, unsigned m) const {
    return places(kind, stage, m).size();
  }
  const Place *one(StepKind kind, unsigned stage, unsigned m) const {
    for (auto &[step, place] : steps)
      if (step.kind() == kind && step.stage() == stage && step.unit() == m)
        return &place;
    return nullptr;
  }
  const Place *backward(unsigned stage, unsigned m) const {
    const Place *full = one(StepKind::B, stage, m);
    return full ? full : one(StepKind::I, stage, m);
  }

  const Schedule &schedule;
  std::vector<std::pair<Step, Place>> steps;
};

/// Checks the dependences of `step` with the callbacks of the caller: the data
/// of other stages, and the steps on its own rank.
template <typename ForwardDone, typename GradientDone, typename InputDone>
bool ready(const Schedule &schedule, Step step, ForwardDone f, GradientDone g,
           InputDone i) {
  unsigned s = step.stage(), m = step.unit();
  bool all = true;
  switch (step.kind()) {
  case StepKind::F:
    schedule.graph.forEachEdge(schedule.numStages, [&](StageGraph::Edge edge) {
      all &= edge.to != s || f(edge.from, m);
    });
    return all;
  case StepKind::B:
  case StepKind::I:
    schedule.graph.forEachEdge(schedule.numStages, [&](StageGraph::Edge edge) {
      all &= edge.from != s || g(edge.to, m);
    });
    return all && f(s, m);
  case StepKind::W:
    return i(s, m);
  default:
    return true;
  }
}

} // namespace

std::vector<std::pair<unsigned, size_t>> naiveRun(const Schedule &schedule) {
  std::vector<std::pair<unsigned, size_t>> run;
  std::set<std::pair<unsigned, unsigned>> forwards, gradients, inputs;
  std::vector<size_t> at(schedule.ranks.size());
  for (bool moved = true; moved;) {
    moved = false;
    for (size_t rank = 0; rank != at.size(); ++rank) {
      const StepList &list = schedule.ranks[rank];
      if (at[rank] == list.size())
        continue;
      size_t end = Schedule::groupEnd(list, at[rank]);
      bool canRun = true;
      for (size_t k = at[rank]; k != end; ++k)
        canRun &= ready(
            schedule, list[k],
            [&](unsigned s, unsigned m) {
              if (forwards.count({s, m}))
                return true;
              // An earlier member on the last stage feeds its own backward.
              for (size_t e = at[rank]; e != k; ++e)
                if (list[e].kind() == StepKind::F && list[e].stage() == s &&
                    list[e].unit() == m && list[k].stage() == s &&
                    schedule.isLastStage(s))
                  return true;
              return false;
            },
            [&](unsigned s, unsigned m) {
              return gradients.count({s, m}) != 0;
            },
            [&](unsigned s, unsigned m) { return inputs.count({s, m}) != 0; });
      if (!canRun)
        continue;
      run.push_back({rank, at[rank]});
      for (; at[rank] != end; ++at[rank]) {
        Step step = list[at[rank]];
        std::pair key{step.stage(), step.unit()};
        if (step.kind() == StepKind::F)
          forwards.insert(key);
        if (step.kind() == StepKind::B || step.kind() == StepKind::I)
          gradients.insert(key);
        if (step.kind() == StepKind::I)
          inputs.insert(key);
      }
      moved = true;
    }
  }
  return run;
}

bool naiveCounts(const Schedule &schedule) {
  All all(schedule);
  for (auto &[step, place] : all.steps) {
    if (!isCompute(step.kind()))
      continue;
    if (place.rank != schedule.rankOf(step.stage(), step.unit()))
      return false;
    if (schedule.forwardOnly && step.kind() != StepKind::F)
      return false;
  }
  for (unsigned s = 0; s != schedule.numStages; ++s)
    for (unsigned m = 0; m != schedule.numUnits; ++m) {
      unsigned f = all.count(StepKind::F, s, m),
               b = all.count(StepKind::B, s, m),
               i = all.count(StepKind::I, s, m),
               w = all.count(StepKind::W, s, m);
      if (f != 1)
        return false;
      if (!schedule.forwardOnly &&
          !((b == 1 && i == 0 && w == 0) || (b == 0 && i == 1 && w == 1)))
        return false;
    }
  return true;
}

bool naiveCompute(const Schedule &schedule) {
  size_t lines = 0;
  for (const StepList &list : schedule.ranks)
    for (Step step : list)
      lines += !step.joined();
  return naiveCounts(schedule) && naiveRun(schedule).size() == lines;
}

bool naivePlaced(const Schedule &schedule) {
  All all(schedule);
  // Every step is on a rank that it belongs to.
  for (auto &[step, place] : all.steps)
    if (isP2P(step.kind()) &&
        (!test::hasPeer(schedule, step) ||
         schedule.rankOf(step.stage(), step.unit()) != place.rank ||
         test::peerOf(schedule, step) == place.rank))
      return false;
  auto check = [&](StepKind sendKind, StepKind recvKind, unsigned from,
                   unsigned to, unsigned m) {
    bool forward = sendKind == StepKind::SendF;
    bool away = schedule.rankOf(from, m) != schedule.rankOf(to, m);
    auto sends = all.transfers(sendKind, from, to, m);
    auto receives = all.transfers(recvKind, to, from, m);
    if (!away)
      return sends.empty() && receives.empty();
    if (sends.size() != 1 || receives.size() != 1)
      return false;
    const Place *producer =
        forward ? all.one(StepKind::F, from, m) : all.backward(from, m);
    const Place *consumer =
        forward ? all.one(StepKind::F, to, m) : all.backward(to, m);
    const Place *freeing = forward ? all.backward(from, m) : nullptr;
    return sends[0].index > producer->index &&
           receives[0].index < consumer->index &&
           (!freeing || sends[0].index < freeing->index);
  };
  bool good = true;
  schedule.graph.forEachEdge(schedule.numStages, [&](StageGraph::Edge edge) {
    for (unsigned m = 0; m != schedule.numUnits; ++m)
      good &= check(StepKind::SendF, StepKind::RecvF, edge.from, edge.to, m) &&
              (schedule.forwardOnly ||
               check(StepKind::SendB, StepKind::RecvB, edge.to, edge.from, m));
  });
  if (!good)
    return false;
  // Both ends of an edge name the same transfers in the same order.
  // Forward, producer, consumer, micro-batch.
  using Name = std::tuple<bool, unsigned, unsigned, unsigned>;
  using Edge = std::pair<unsigned, unsigned>;
  std::map<Edge, std::vector<Name>> sent, received;
  for (auto &[step, place] : all.steps) {
    if (!isP2P(step.kind()))
      continue;
    bool forward =
        step.kind() == StepKind::SendF || step.kind() == StepKind::RecvF;
    unsigned peer = test::peerOf(schedule, step);
    unsigned other = test::peerStage(schedule, step);
    if (isSend(step.kind()))
      sent[{place.rank, peer}].push_back(
          {forward, step.stage(), other, step.unit()});
    else
      received[{peer, place.rank}].push_back(
          {forward, other, step.stage(), step.unit()});
  }
  return sent == received;
}

bool naiveSharded(const Schedule &schedule) {
  for (unsigned rank = 0; rank != schedule.ranks.size(); ++rank)
    for (unsigned s = 0; s != schedule.numStages; ++s) {
      bool held = false;
      for (unsigned d = 0; d != schedule.placement.numDirections(); ++d)
        held |= schedule.placement.rankOf(s, d) == rank;
      StepList mine;
      bool managed = false;
      for (Step step : schedule.ranks[rank])
        if (hasStage(step.kind()) && !isP2P(step.kind()) && step.stage() == s) {
          mine.push_back(step);
          managed |= step.kind() == StepKind::Unshard ||
                     step.kind() == StepKind::Reshard;
          if (step.stream() == Stream::Gather && !held)
            return false;
        }
      bool unsharded = false;
      int reduces = 0, lastWeight = -1, lastReshard = -1, reduce = -1;
      for (int i = 0; i != int(mine.size()); ++i) {
        StepKind kind = mine[i].kind();
        if (isCompute(kind) && managed && !unsharded)
          return false;
        if (kind == StepKind::Unshard || kind == StepKind::Reshard) {
          if (unsharded == (kind == StepKind::Unshard))
            return false;
          unsharded = kind == StepKind::Unshard;
        }
        if (kind == StepKind::Reshard)
          lastReshard = i;
        if (kind == StepKind::B || kind == StepKind::W)
          lastWeight = i;
        if (kind == StepKind::ReduceGrad) {
          ++reduces;
          reduce = i;
        }
      }
      if (unsharded || reduces != (held && !schedule.forwardOnly))
        return false;
      if (reduces && (reduce < lastWeight || (managed && reduce > lastReshard)))
        return false;
    }
  return true;
}

bool naiveTimed(const Schedule &schedule) {
  All all(schedule);
  using Time = std::optional<Rational>;
  auto duration = [&](unsigned rank, size_t begin) {
    const StepList &list = schedule.ranks[rank];
    size_t end = Schedule::groupEnd(list, begin);
    if (!isCompute(list[begin].kind()))
      return Rational(0);
    SmallVector<StepKind, 2> kinds;
    Rational sum;
    for (size_t i = begin; i != end; ++i) {
      kinds.push_back(list[i].kind());
      sum = *Rational::add(sum,
                           *schedule.costs.of(list[i].kind(), list[i].stage()));
    }
    if (kinds.size() > 1)
      if (Time cost = schedule.costs.ofOverlap(kinds))
        return *cost;
    return sum;
  };
  auto lineOf = [&](const Place &place) {
    size_t i = place.index;
    while (i != 0 && schedule.ranks[place.rank][i - 1].joined())
      --i;
    return i;
  };
  auto start = [&](const Place &place) {
    return schedule.times[place.rank][place.index];
  };

  for (unsigned rank = 0; rank != schedule.ranks.size(); ++rank) {
    const StepList &list = schedule.ranks[rank];
    // Every pair of timed lines, with the lines between them.
    for (size_t i = 0; i < list.size(); i = Schedule::groupEnd(list, i)) {
      Time from = schedule.times[rank][i];
      if (!from || !isCompute(list[i].kind()))
        continue;
      Rational busy = *from;
      for (size_t k = i; k < list.size();) {
        if (k != i && schedule.times[rank][k] &&
            list[k].kind() != StepKind::Bubble &&
            *schedule.times[rank][k] < busy)
          return false;
        busy = *Rational::add(busy, duration(rank, k));
        k = Schedule::groupEnd(list, k);
      }
    }
  }
  // Sends to one rank start in the order of the list; a batch may be posted
  // ahead of its time.
  for (unsigned rank = 0; rank != schedule.ranks.size(); ++rank) {
    const StepList &list = schedule.ranks[rank];
    std::map<unsigned, Rational> last;
    for (size_t i = 0, end; i < list.size(); i = end) {
      end = Schedule::groupEnd(list, i);
      Time from = schedule.times[rank][i];
      for (size_t k = i; from && k != end; ++k) {
        if (!isSend(list[k].kind()))
          continue;
        unsigned stage = test::peerStage(schedule, list[k]);
        unsigned peer = schedule.rankOf(stage, list[k].unit());
        auto [it, isFirst] = last.try_emplace(peer, *from);
        if (end == i + 1 && *from < it->second)
          return false;
        it->second = std::max(it->second, *from);
      }
    }
  }
  for (auto &[step, place] : all.steps) {
    unsigned s = step.stage(), m = step.unit();
    bool forward = step.kind() == StepKind::F;
    if (!start(place) || !isCompute(step.kind()) ||
        (!forward && !makesInputGradient(step.kind())))
      continue;
    // True if the step does not start before its input from stage `from`.
    auto startsAfter = [&, &place = place](unsigned from) {
      const Place *producer =
          forward ? all.one(StepKind::F, from, m) : all.backward(from, m);
      if (!producer)
        return true;
      auto sends = all.transfers(forward ? StepKind::SendF : StepKind::SendB,
                                 from, s, m);
      auto receives = all.transfers(forward ? StepKind::RecvF : StepKind::RecvB,
                                    s, from, m);
      if (!receives.empty() && start(receives[0]) &&
          *start(place) < *start(receives[0]))
        return false;
      bool away = producer->rank != place.rank;
      Time there;
      if (away && !sends.empty() && start(sends[0]))
        there = start(sends[0]);
      else if (start(*producer))
        there = Rational::add(*start(*producer),
                              duration(producer->rank, lineOf(*producer)));
      if (there && away)
        there = Rational::add(*there, schedule.costs.general(Figure::P2P));
      return !there || !(*start(place) < *there);
    };
    bool good = true;
    schedule.graph.forEachEdge(schedule.numStages, [&](StageGraph::Edge edge) {
      if ((forward ? edge.to : edge.from) == s)
        good &= startsAfter(forward ? edge.from : edge.to);
    });
    if (!good)
      return false;
  }
  return true;
}

} // namespace pipec::test
