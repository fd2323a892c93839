//===- P2PTimed.cpp - Transfers in the order of time ----------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `insert-p2p{order=timed}`. The compute-only lists run under the schedule's
// costs; a transfer x is then made at e(x), the end of its producer, and needed
// at n(x), the start of its consumer. Choose any time t(x) between the two and
// order all transfers of all ranks by t, ties by e, then by the order in which
// the producers ran. On every rank the transfers stand in this one order, a
// send as early and a receive as late as it allows.
//
//   F = 1, B = 2                       the order: x = F s0 m0 (1), y = F s0 m1
//   rank 0   F0 F1 B0 ...              (needed at 4), z = B s1 m0 (needed at 4)
//   rank 1      F0 B0 F1 ...
//
//   rank 0: F s0 m0, SEND_F m0, F s0 m1, SEND_F m1, RECV_B m0, B s0 m0
//   rank 1: RECV_F m0, F s1 m0, B s1 m0, RECV_F m1, SEND_B m0, F s1 m1
//
// y was made before z, so it goes first although both are needed at one time:
// rank 1 takes it before it gives z away, and neither rank waits for the other
// with its own send in front.
//
// Such lists can always be made, end under every model of waiting and cross
// nothing; without a hop, `at=need` takes no more time than if no transfer ever
// waited. docs/Rationale/TimeOrderedP2P.md has the proofs.
//
// `rounds=K` lets the lists run with their transfers, takes e and n from what
// happened, orders again, up to K times, and keeps the best.
//
// A table has for each result when it was made, when it is needed, and its
// place in the order of the run. So every rank can collect and sort the ends of
// its own transfers, in the cache, and since all ranks sort by the same keys
// that is one order. The sort is by digits, so everything is linear in the
// steps. Beside the two lists it takes 16 bytes a compute step, 24 where times
// are large.
//
//===----------------------------------------------------------------------===//

#include "Analysis/DataFlow.h"
#include "Analysis/Simulate.h"
#include "IR/Verifier.h"
#include "Transforms/P2POrders.h"
#include "Transforms/Passes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

#include <array>
#include <limits>

using namespace llvm;

namespace pipec {

namespace {

/// One end of a transfer on its rank.
template <typename Key> struct End {
  /// The time that it is ordered by and, in the low bits, when it was made;
  /// among those for which that is equal, the turn of the producer.
  Key key;
  /// Twice the index of the producer (of the consumer, plus one) in its list.
  uint32_t place;
  /// That of the producer.
  SourceLoc source;

  bool isReceive() const { return place & 1; }
  uint32_t index() const { return place / 2; }
};

/// Orders the transfers by one run and puts them into the lists. Times are
/// `Time`s, of which a key holds two and a bit.
template <typename Time, typename Key> class TimedOrder {
public:
  TimedOrder(const Schedule &schedule, P2PAt at)
      : schedule(schedule), at(at), flow(schedule), uses(flow.size()) {}

  /// Takes the times from a run of `simulated`, the schedule or its lists with
  /// transfers among the steps.
  void readTimes(const Simulation &simulation, const Schedule &simulated,
                 ArrayRef<uint32_t> turns);
  /// The lists; none when a consumer is missing.
  std::vector<StepList> place();

private:
  /// The run of an F, or of a B or I.
  struct Use {
    Time start = never;
    Time end = 0;
    uint32_t turn = 0;
    SourceLoc source;
  };
  static constexpr Time never = ~Time(0);

  Key keyOf(const Use &producer, const Use &consumer) const;
  bool collect(unsigned rank);
  void sort(const StepList &list);

  const Schedule &schedule;
  P2PAt at;
  DataFlow flow;
  /// By the number of what the step takes.
  std::vector<Use> uses;
  /// How many bits the largest time has.
  unsigned timeBits = 0;
  /// The ends on one rank, and room to sort them.
  std::vector<End<Key>> ends, other;
};

using SmallTimes = TimedOrder<uint32_t, uint64_t>;
__extension__ using LargeTimes = TimedOrder<uint64_t, unsigned __int128>;

} // namespace

/// Sorts `ends` by their keys, keeping the order of equals: eleven bits at a
/// time, as many times as the largest key has digits. `other` is room to work
/// in, no smaller than `ends`.
template <typename Key>
static void sortByKey(MutableArrayRef<End<Key>> ends,
                      MutableArrayRef<End<Key>> other) {
  constexpr unsigned bits = 11;
  constexpr unsigned digits = 1u << bits;
  if (ends.size() < digits) {
    llvm::stable_sort(
        ends, [](const auto &a, const auto &b) { return a.key < b.key; });
    return;
  }
  Key all = 0;
  for (const End<Key> &end : ends)
    all |= end.key;
  MutableArrayRef<End<Key>> from = ends, to = other.take_front(ends.size());
  for (unsigned shift = 0; shift < 8 * sizeof(Key) && (all >> shift) != 0;
       shift += bits) {
    std::array<uint32_t, digits + 1> begins = {};
    auto digit = [&](const End<Key> &end) {
      return unsigned(end.key >> shift) & (digits - 1);
    };
    for (const End<Key> &end : from)
      ++begins[digit(end) + 1];
    for (unsigned d = 0; d != digits; ++d)
      begins[d + 1] += begins[d];
    for (const End<Key> &end : from)
      to[begins[digit(end)]++] = end;
    std::swap(from, to);
  }
  if (from.data() != ends.data())
    llvm::copy(from, ends.begin());
}

/// `list` with its ends of transfers, which are in the order of time.
template <typename Key>
static StepList placeOn(const StepList &list, ArrayRef<End<Key>> ends) {
  // Where the overlap of each step begins; empty without overlaps.
  std::vector<uint32_t> groupBegins;
  if (any_of(list, [](const Step &step) { return step.joined(); })) {
    groupBegins.resize(list.size());
    for (uint32_t i = 1; i < list.size(); ++i)
      groupBegins[i] = list[i - 1].joined() ? groupBegins[i - 1] : i;
  }
  auto beginOf = [&](uint32_t index) {
    return groupBegins.empty() ? index : groupBegins[index];
  };
  auto endOf = [&](uint32_t index) {
    return groupBegins.empty() ? index + 1
                               : uint32_t(Schedule::groupEnd(list, index));
  };

  // Where in the list each end stands: before the step of that index. Sends
  // from the front, behind the producers of all sends so far; receives from the
  // back, before their consumers and before whatever follows them.
  std::vector<uint32_t> places(ends.size());
  uint32_t earliest = 0;
  for (size_t k = 0; k != ends.size(); ++k) {
    uint32_t made = ends[k].isReceive() ? 0 : endOf(ends[k].index());
    places[k] = earliest = std::max(earliest, made);
  }
  uint32_t latest = uint32_t(list.size());
  for (size_t k = ends.size(); k-- != 0;) {
    uint32_t needed = std::min(latest, beginOf(ends[k].index()));
    places[k] = latest = ends[k].isReceive() ? needed : places[k];
  }

  StepList result;
  result.reserve(list.size() + ends.size());
  uint32_t i = 0;
  for (size_t k = 0; k != ends.size(); ++k) {
    // The places ascend, unless the order cannot run.
    for (; i < places[k]; ++i)
      result.push_back(list[i]);
    Step own = list[ends[k].index()];
    result.push_back(ends[k].isReceive() ? recvFor(own, ends[k].source)
                                         : sendOf(own));
  }
  result.insert(result.end(), list.begin() + i, list.end());
  return result;
}

template <typename Time, typename Key>
void TimedOrder<Time, Key>::readTimes(const Simulation &simulation,
                                      const Schedule &simulated,
                                      ArrayRef<uint32_t> turns) {
  timeBits =
      llvm::bit_width(uint64_t(simulation.begin() + simulation.makespan()));
  uint32_t number = 0; // in `schedule`
  for (const auto &[rank, list] : enumerate(simulated.ranks)) {
    for (size_t begin = 0, end; begin != list.size(); begin = end) {
      end = Schedule::groupEnd(list, begin);
      if (isP2P(list[begin].kind()))
        continue;
      Time start = simulation.start(rank, begin);
      Time stop = start + simulation.costs().duration(list, begin, end);
      for (size_t i = begin; i != end; ++i, ++number) {
        Step step = list[i];
        if (step.kind() == StepKind::F || makesInputGradient(step.kind()))
          uses[flow.taken(step)] = {start, stop, turns[number], step.source()};
      }
    }
  }
}

template <typename Time, typename Key>
Key TimedOrder<Time, Key>::keyOf(const Use &producer,
                                 const Use &consumer) const {
  switch (at) {
  case P2PAt::Need:
    return Key(consumer.start) << timeBits | producer.end;
  case P2PAt::Ready:
    return producer.end;
  case P2PAt::Mid: // half-way is twice as fine
    return (Key(producer.end) + consumer.start) << timeBits | producer.end;
  }
  llvm_unreachable("every time is listed");
}

// Finds the ends on one rank; false when a consumer is missing.
template <typename Time, typename Key>
bool TimedOrder<Time, Key>::collect(unsigned rank) {
  const StepList &list = schedule.ranks[rank];
  ends.clear();
  for (uint32_t i = 0; i != list.size(); ++i) {
    Step step = list[i];
    if (step.kind() != StepKind::F && !makesInputGradient(step.kind()))
      continue;
    const DataFlow::Rule rule = flow.of(step);
    const Use &self = uses[flow.taken(step, rule)];
    if (rule.sends) {
      const Use &consumer = uses[flow.given(step, rule)];
      if (consumer.start == never)
        return false;
      ends.push_back({keyOf(self, consumer), 2 * i, step.source()});
    }
    if (rule.receives) {
      const Use &producer = uses[flow.giver(step, rule)];
      ends.push_back({keyOf(producer, self), 2 * i + 1, producer.source});
    }
  }
  return true;
}

template <typename Time, typename Key>
void TimedOrder<Time, Key>::sort(const StepList &list) {
  if (other.size() < ends.size())
    other.resize(ends.size());
  sortByKey<Key>(ends, other);
  for (size_t begin = 0, end; begin != ends.size(); begin = end) {
    end = begin + 1;
    while (end != ends.size() && ends[end].key == ends[begin].key)
      ++end;
    if (end - begin == 1)
      continue;
    auto equals = MutableArrayRef(ends).slice(begin, end - begin);
    for (End<Key> &one : equals) {
      Step own = list[one.index()];
      const DataFlow::Rule rule = flow.of(own);
      one.key =
          uses[one.isReceive() ? flow.giver(own, rule) : flow.taken(own, rule)]
              .turn;
    }
    sortByKey<Key>(equals, other);
  }
}

template <typename Time, typename Key>
std::vector<StepList> TimedOrder<Time, Key>::place() {
  std::vector<StepList> lists;
  lists.reserve(schedule.numRanks);
  for (const auto &[rank, list] : enumerate(schedule.ranks)) {
    if (!collect(rank))
      return {};
    sort(list);
    lists.push_back(placeOn<Key>(list, ends));
  }
  return lists;
}

/// True when both have the same steps in the same places.
static bool sameActions(ArrayRef<StepList> a, ArrayRef<StepList> b) {
  return all_of(zip_equal(a, b), [](const auto &lists) {
    return llvm::equal(
        std::get<0>(lists), std::get<1>(lists),
        [](const Step &x, const Step &y) { return x.sameAction(y); });
  });
}

/// The lists for a run of `simulated`; none when a consumer is missing.
static std::vector<StepList>
placeByRun(const Schedule &schedule, P2PAt at, Simulation simulation,
           const Schedule &simulated, std::vector<uint32_t> &turns, bool last) {
  auto place = [&](auto order) {
    {
      // The lists take the most memory; what orders them goes before.
      Simulation gone = std::move(simulation);
      order.readTimes(gone, simulated, turns);
      if (last)
        turns = std::vector<uint32_t>();
    }
    return order.place();
  };
  int64_t latest = simulation.begin() + simulation.makespan();
  return latest <= std::numeric_limits<int32_t>::max()
             ? place(SmallTimes(schedule, at))
             : place(LargeTimes(schedule, at));
}

FailureOr<std::vector<StepList>> placeP2PInTime(const Schedule &schedule,
                                                const P2PTiming &timing,
                                                DiagEngine &diags) {
  std::vector<uint32_t> turns;
  FailureOr<Simulation> simulation = simulate(schedule, diags, &turns);
  if (failed(simulation))
    return failure();
  std::vector<StepList> lists =
      placeByRun(schedule, timing.at, std::move(*simulation), schedule, turns,
                 timing.rounds == 0);
  if (lists.empty()) {
    bool complete = succeeded(verify(schedule, VerifyLevel::Compute, diags));
    (void)complete;
    assert(!complete && "a well-formed schedule has all consumers");
    return failure();
  }
  if (timing.rounds == 0)
    return lists;

  std::vector<StepList> best;
  Schedule tried = schedule;
  tried.times.clear();
  int64_t bestTime = 0;
  for (unsigned round = 0; round <= timing.rounds; ++round) {
    tried.ranks = std::move(lists);
    simulation = simulate(tried, timing.model, diags);
    if (failed(simulation))
      return failure();
    if (round == 0 || simulation->makespan() < bestTime) {
      bestTime = simulation->makespan();
      best = tried.ranks;
    }
    if (round == timing.rounds)
      break;
    lists = placeByRun(schedule, timing.at, std::move(*simulation), tried,
                       turns, /*last=*/false);
    // The same lists again would run in the same way again.
    if (sameActions(lists, tried.ranks))
      break;
  }
  return best;
}

} // namespace pipec
