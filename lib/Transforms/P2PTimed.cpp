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
// The sort is by digits, so everything is linear in the steps. Beside the two
// lists it takes up to 16 bytes a compute step.
//
//===----------------------------------------------------------------------===//

#include "Analysis/Simulate.h"
#include "IR/Verifier.h"
#include "Transforms/P2POrders.h"
#include "Transforms/Passes.h"

#include "llvm/ADT/STLExtras.h"

#include <array>

using namespace llvm;

namespace pipec {

namespace {

/// One transfer between two ranks, by the numbers of the steps that make and
/// take it.
struct Timed {
  uint32_t producer;
  uint32_t consumer;
};

/// One end of a transfer on its rank.
struct End {
  /// Twice the index of the producer (of the consumer, plus one) in its list.
  uint32_t place;
  /// That of the producer.
  SourceLoc source;

  bool isReceive() const { return place & 1; }
  uint32_t index() const { return place / 2; }
};

/// The ends of all transfers, rank by rank in the order of time.
struct DealtEnds {
  std::vector<End> ends;
  /// Where the ends of each rank begin, and where the last ones end.
  std::vector<size_t> begins;

  ArrayRef<End> of(unsigned rank) const {
    return ArrayRef(ends).slice(begins[rank], begins[rank + 1] - begins[rank]);
  }
};

class TimedOrder {
public:
  TimedOrder(const Schedule &schedule, const P2PTiming &timing)
      : schedule(schedule), timing(timing), map(schedule), numbers(schedule) {}

  FailureOr<std::vector<StepList>> run(DiagEngine &diags);

private:
  bool findTransfers(const std::vector<uint32_t> &order);
  void sortByTime(const Simulation &simulation, const Schedule &simulated);
  DealtEnds deal() const;
  std::vector<StepList> place(const DealtEnds &dealt) const;
  StepList placeOn(const StepList &list, ArrayRef<End> ends) const;

  Step step(uint32_t number) const {
    StepRef at = numbers.at(number);
    return schedule.ranks[at.rank][at.index];
  }

  const Schedule &schedule;
  const P2PTiming &timing;
  TransferMap map;
  StepNumbers numbers;
  /// In the order in which the first simulation ran the producers.
  std::vector<Timed> transfers;
  /// Indices of `transfers` in the order of time.
  std::vector<uint32_t> sorted;
};

/// What is sorted: `key` moves along, so that it is read where it stands.
struct SortItem {
  uint64_t key;
  uint32_t index;
};

} // namespace

/// Gives the memory of `list` back.
template <typename T> static void free(std::vector<T> &list) {
  list = std::vector<T>();
}

/// Sorts `items` by their keys, keeping the order of equals: eleven bits at a
/// time, as many times as the largest key has digits.
static void sortByDigits(std::vector<SortItem> &items) {
  constexpr unsigned bits = 11;
  constexpr unsigned digits = 1u << bits;
  uint64_t all = 0;
  for (const SortItem &item : items)
    all |= item.key;
  std::vector<SortItem> other(items.size());
  for (unsigned shift = 0; shift < 64 && (all >> shift) != 0; shift += bits) {
    std::array<uint32_t, digits + 1> begins = {};
    auto digit = [&](const SortItem &item) {
      return (item.key >> shift) & (digits - 1);
    };
    for (const SortItem &item : items)
      ++begins[digit(item) + 1];
    for (unsigned d = 0; d != digits; ++d)
      begins[d + 1] += begins[d];
    for (const SortItem &item : items)
      other[begins[digit(item)]++] = item;
    items.swap(other);
  }
}

// Pairs every producer with its consumer; false when a consumer is missing.
bool TimedOrder::findTransfers(const std::vector<uint32_t> &order) {
  constexpr uint32_t none = StepNumbers::none;
  auto cell = [&](bool gradient, unsigned stage, unsigned microbatch) {
    return (size_t(gradient) * schedule.numStages + stage) *
               schedule.numMicrobatches +
           microbatch;
  };
  // By what a consumer is: F, or B and I.
  std::vector<uint32_t> consumers(
      2 * size_t(schedule.numStages) * schedule.numMicrobatches, none);
  uint32_t number = 0;
  size_t count = 0;
  for (const StepList &list : schedule.ranks)
    for (Step step : list) {
      if (step.kind() == StepKind::F || makesInputGradient(step.kind()))
        consumers[cell(step.kind() != StepKind::F, step.stage(),
                       step.microbatch())] = number;
      count += map.receiverOf(step) != TransferMap::none;
      ++number;
    }
  transfers.reserve(count);
  for (uint32_t producer : order) {
    Step made = step(producer);
    if (map.receiverOf(made) == TransferMap::none)
      continue;
    bool gradient = made.kind() != StepKind::F;
    uint32_t consumer = consumers[cell(
        gradient, made.stage() + (gradient ? -1 : 1), made.microbatch())];
    if (consumer == none)
      return false;
    transfers.push_back({producer, consumer});
  }
  return true;
}

// Takes e and n of every transfer from a run of `simulated`, the schedule or
// its lists with transfers among the steps, and orders the transfers by them.
void TimedOrder::sortByTime(const Simulation &simulation,
                            const Schedule &simulated) {
  std::vector<int64_t> starts(numbers.size());
  std::vector<int64_t> ends(numbers.size());
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
    const StepList &list = simulated.ranks[rank];
    uint32_t number = numbers.begin(rank);
    for (size_t begin = 0; begin != list.size();) {
      size_t end = Schedule::groupEnd(list, begin);
      if (!isP2P(list[begin].kind())) {
        int64_t start = simulation.start(simulation.numbers().of(rank, begin));
        int64_t duration = simulation.costs().duration(list, begin, end);
        for (size_t i = begin; i != end; ++i, ++number) {
          starts[number] = start;
          ends[number] = start + duration;
        }
      }
      begin = end;
    }
  }
  auto madeAt = [&](uint32_t i) {
    return uint64_t(ends[transfers[i].producer]);
  };
  // Half-way is twice as fine; sums of two times fit 64 bits without a sign.
  auto timeOf = [&](uint32_t i) {
    uint64_t made = madeAt(i);
    uint64_t needed = starts[transfers[i].consumer];
    return timing.at == P2PAt::Need    ? needed
           : timing.at == P2PAt::Ready ? made
                                       : made + needed;
  };
  uint64_t allMade = 0, allTimes = 0;
  for (uint32_t i = 0; i != transfers.size(); ++i) {
    allMade |= madeAt(i);
    allTimes |= timeOf(i);
  }
  unsigned madeBits = 64 - llvm::countl_zero(allMade);
  bool fitsOneKey = madeBits <= unsigned(llvm::countl_zero(allTimes));

  std::vector<SortItem> items(transfers.size());
  for (uint32_t i = 0; i != items.size(); ++i)
    items[i] = {fitsOneKey ? timeOf(i) << madeBits | madeAt(i) : madeAt(i), i};
  if (!fitsOneKey) {
    sortByDigits(items);
    for (SortItem &item : items)
      item.key = timeOf(item.index);
  }
  free(starts);
  free(ends);
  sortByDigits(items);
  sorted.resize(items.size());
  for (auto [index, item] : zip_equal(sorted, items))
    index = item.index;
}

// Deals the ends of the transfers out to their ranks, in their order.
DealtEnds TimedOrder::deal() const {
  std::vector<size_t> begins(schedule.numRanks + 1);
  for (const Timed &transfer : transfers) {
    ++begins[numbers.rankOf(transfer.producer) + 1];
    ++begins[numbers.rankOf(transfer.consumer) + 1];
  }
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
    begins[rank + 1] += begins[rank];
  std::vector<End> ends(2 * sorted.size());
  std::vector<size_t> next(begins.begin(), begins.end() - 1);
  for (uint32_t i : sorted) {
    StepRef producer = numbers.at(transfers[i].producer);
    StepRef consumer = numbers.at(transfers[i].consumer);
    SourceLoc source = schedule.ranks[producer.rank][producer.index].source();
    ends[next[producer.rank]++] = {2 * producer.index, source};
    ends[next[consumer.rank]++] = {2 * consumer.index + 1, source};
  }
  return {std::move(ends), std::move(begins)};
}

std::vector<StepList> TimedOrder::place(const DealtEnds &dealt) const {
  std::vector<StepList> lists;
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
    lists.push_back(placeOn(schedule.ranks[rank], dealt.of(rank)));
  return lists;
}

StepList TimedOrder::placeOn(const StepList &list, ArrayRef<End> ends) const {
  // Where the overlap of each step begins; empty without overlaps.
  std::vector<uint32_t> groupBegins;
  if (any_of(list, [](const Step &step) { return step.joined(); })) {
    groupBegins.resize(list.size());
    for (uint32_t i = 1; i < list.size(); ++i)
      groupBegins[i] = list[i - 1].joined() ? groupBegins[i - 1] : i;
  }

  // Where in the list each end stands: before the step of that index. Sends
  // from the front, behind the producers of all sends so far; receives from the
  // back, before their consumers and before whatever follows them.
  std::vector<uint32_t> places(ends.size());
  uint32_t earliest = 0;
  for (size_t k = 0; k != ends.size(); ++k)
    if (!ends[k].isReceive()) {
      if (ends[k].index() >= earliest)
        earliest = uint32_t(Schedule::groupEnd(list, ends[k].index()));
      places[k] = earliest;
    }
  uint32_t latest = uint32_t(list.size());
  for (size_t k = ends.size(); k-- != 0;) {
    if (ends[k].isReceive()) {
      uint32_t consumer = ends[k].index();
      places[k] = std::min(latest, groupBegins.empty() ? consumer
                                                       : groupBegins[consumer]);
    }
    latest = places[k];
  }

  StepList result;
  result.reserve(list.size() + ends.size());
  size_t k = 0;
  for (uint32_t i = 0; i <= list.size(); ++i) {
    for (; k != ends.size() && places[k] == i; ++k) {
      Step own = list[ends[k].index()];
      result.push_back(ends[k].isReceive()
                           ? TransferMap::recvFor(own, ends[k].source)
                           : TransferMap::sendOf(own));
    }
    if (i != list.size())
      result.push_back(list[i]);
  }
  return result;
}

FailureOr<std::vector<StepList>> TimedOrder::run(DiagEngine &diags) {
  {
    std::vector<uint32_t> order;
    FailureOr<Simulation> simulation = simulate(schedule, diags, &order);
    if (failed(simulation))
      return failure();
    if (!findTransfers(order)) {
      bool complete = succeeded(verify(schedule, VerifyLevel::Compute, diags));
      (void)complete;
      assert(!complete && "a well-formed schedule has all consumers");
      return failure();
    }
    free(order);
    sortByTime(*simulation, schedule);
  }
  DealtEnds dealt = deal();
  if (timing.rounds == 0) {
    // The lists take the most memory; what made them is not needed any more.
    free(transfers);
    free(sorted);
    return place(dealt);
  }

  std::vector<StepList> best = place(dealt);
  Schedule tried = schedule;
  tried.times.clear();
  std::vector<StepList> lists = best;
  int64_t bestTime = 0;
  for (unsigned round = 0; round <= timing.rounds; ++round) {
    tried.ranks = std::move(lists);
    FailureOr<Simulation> simulation = simulate(tried, timing.model, diags);
    if (failed(simulation))
      return failure();
    if (round == 0 || simulation->makespan() < bestTime) {
      bestTime = simulation->makespan();
      best = tried.ranks;
    }
    if (round == timing.rounds)
      break;
    std::vector<uint32_t> before = sorted;
    sortByTime(*simulation, tried);
    // The same order again gives the same lists again.
    if (sorted == before)
      break;
    lists = place(deal());
  }
  return best;
}

FailureOr<std::vector<StepList>> placeP2PInTime(const Schedule &schedule,
                                                const P2PTiming &timing,
                                                DiagEngine &diags) {
  return TimedOrder(schedule, timing).run(diags);
}

} // namespace pipec
