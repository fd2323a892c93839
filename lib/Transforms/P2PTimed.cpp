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
// The sort is by digits, so everything is linear in the steps (for times that
// fit 64 bits).
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

/// One transfer between two ranks. The index of `TimedOrder::transfers` is the
/// order in which the simulation ran the producers.
struct Timed {
  uint32_t producer;
  uint32_t consumer;
  /// The end of the producer.
  int64_t made;
  /// Twice t(x), so that half-way is a whole number.
  int64_t key;
};

class TimedOrder {
public:
  TimedOrder(const Schedule &schedule, const P2PTiming &timing)
      : schedule(schedule), timing(timing), map(schedule), numbers(schedule) {}

  FailureOr<std::vector<StepList>> run(DiagEngine &diags);

private:
  bool findTransfers(const std::vector<uint32_t> &order);
  void readTimes(const Simulation &simulation, const Schedule &simulated);
  void sort();
  std::vector<StepList> place() const;
  StepList placeOn(unsigned rank, ArrayRef<uint32_t> ends) const;

  Step step(uint32_t number) const {
    StepRef at = numbers.at(number);
    return schedule.ranks[at.rank][at.index];
  }

  const Schedule &schedule;
  const P2PTiming &timing;
  TransferMap map;
  StepNumbers numbers;
  std::vector<Timed> transfers;
  /// Indices of `transfers` in the order of time.
  std::vector<uint32_t> sorted;
};

} // namespace

/// Sorts `items` by a key that is not negative, keeping the order of equals:
/// eleven bits at a time, as many times as the largest key has digits.
template <typename KeyOf>
static void sortByDigits(std::vector<uint32_t> &items, KeyOf keyOf) {
  constexpr unsigned bits = 11;
  uint64_t all = 0;
  for (uint32_t item : items)
    all |= uint64_t(keyOf(item));
  std::vector<uint32_t> other(items.size());
  for (unsigned shift = 0; shift < 64 && (all >> shift) != 0; shift += bits) {
    std::array<uint32_t, (1u << bits) + 1> begins = {};
    auto digit = [&](uint32_t item) {
      return (uint64_t(keyOf(item)) >> shift) & ((1u << bits) - 1);
    };
    for (uint32_t item : items)
      ++begins[digit(item) + 1];
    for (unsigned d = 0; d != 1u << bits; ++d)
      begins[d + 1] += begins[d];
    for (uint32_t item : items)
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
  for (const StepList &list : schedule.ranks)
    for (Step step : list) {
      if (step.kind() == StepKind::F || makesInputGradient(step.kind()))
        consumers[cell(step.kind() != StepKind::F, step.stage(),
                       step.microbatch())] = number;
      ++number;
    }
  for (uint32_t producer : order) {
    Step made = step(producer);
    if (map.receiverOf(made) == TransferMap::none)
      continue;
    bool gradient = made.kind() != StepKind::F;
    uint32_t consumer = consumers[cell(
        gradient, made.stage() + (gradient ? -1 : 1), made.microbatch())];
    if (consumer == none)
      return false;
    transfers.push_back({producer, consumer, 0, 0});
  }
  return true;
}

// Takes e and n of every transfer from a run of `simulated`: the schedule, or
// its lists with transfers among the steps.
void TimedOrder::readTimes(const Simulation &simulation,
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
  for (Timed &transfer : transfers) {
    int64_t made = ends[transfer.producer];
    int64_t needed = starts[transfer.consumer];
    transfer.made = made;
    switch (timing.at) {
    case P2PAt::Need:
      transfer.key = 2 * needed;
      break;
    case P2PAt::Ready:
      transfer.key = 2 * made;
      break;
    case P2PAt::Mid:
      transfer.key = made + needed;
      break;
    }
  }
}

void TimedOrder::sort() {
  sorted.resize(transfers.size());
  for (uint32_t i = 0; i != sorted.size(); ++i)
    sorted[i] = i;
  sortByDigits(sorted, [&](uint32_t i) { return transfers[i].made; });
  sortByDigits(sorted, [&](uint32_t i) { return transfers[i].key; });
}

// Deals the ends of the transfers out to their ranks, in their order, and makes
// each rank's list. An end is twice the transfer, plus one at the receiver.
std::vector<StepList> TimedOrder::place() const {
  std::vector<size_t> begins(schedule.numRanks + 1);
  auto forEachEnd = [&](auto visit) {
    for (uint32_t i : sorted) {
      visit(numbers.rankOf(transfers[i].producer), 2 * i);
      visit(numbers.rankOf(transfers[i].consumer), 2 * i + 1);
    }
  };
  forEachEnd([&](unsigned rank, uint32_t) { ++begins[rank + 1]; });
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
    begins[rank + 1] += begins[rank];
  std::vector<uint32_t> ends(2 * sorted.size());
  std::vector<size_t> next(begins.begin(), begins.end() - 1);
  forEachEnd([&](unsigned rank, uint32_t end) { ends[next[rank]++] = end; });

  std::vector<StepList> lists;
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
    lists.push_back(
        placeOn(rank, ArrayRef(ends).slice(begins[rank],
                                           begins[rank + 1] - begins[rank])));
  return lists;
}

StepList TimedOrder::placeOn(unsigned rank, ArrayRef<uint32_t> ends) const {
  const StepList &list = schedule.ranks[rank];
  uint32_t base = numbers.begin(rank);
  auto isRecvEnd = [](uint32_t end) { return end & 1; };

  // Where in the list each end stands: before the step of that index. Sends
  // from the front, behind the producers of all sends so far; receives from the
  // back, before their consumers and before whatever follows them.
  std::vector<uint32_t> places(ends.size());
  uint32_t earliest = 0;
  for (size_t k = 0; k != ends.size(); ++k)
    if (!isRecvEnd(ends[k])) {
      size_t producer = transfers[ends[k] / 2].producer - base;
      earliest =
          std::max(earliest, uint32_t(Schedule::groupEnd(list, producer)));
      places[k] = earliest;
    }
  uint32_t latest = uint32_t(list.size());
  for (size_t k = ends.size(); k-- != 0;) {
    if (isRecvEnd(ends[k])) {
      uint32_t consumer = transfers[ends[k] / 2].consumer - base;
      while (consumer != 0 && list[consumer - 1].joined())
        --consumer;
      places[k] = std::min(latest, consumer);
    }
    latest = places[k];
  }

  StepList result;
  result.reserve(list.size() + ends.size());
  size_t k = 0;
  for (uint32_t i = 0; i <= list.size(); ++i) {
    for (; k != ends.size() && places[k] == i; ++k) {
      const Timed &transfer = transfers[ends[k] / 2];
      Step made = step(transfer.producer);
      result.push_back(
          isRecvEnd(ends[k])
              ? TransferMap::recvOf(made, step(transfer.consumer).phase())
              : TransferMap::sendOf(made));
    }
    if (i != list.size())
      result.push_back(list[i]);
  }
  return result;
}

FailureOr<std::vector<StepList>> TimedOrder::run(DiagEngine &diags) {
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
  readTimes(*simulation, schedule);
  sort();
  std::vector<StepList> best = place();
  if (timing.rounds == 0)
    return best;

  Schedule tried = schedule;
  tried.times.clear();
  std::vector<StepList> lists = best;
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
    std::vector<uint32_t> before = sorted;
    readTimes(*simulation, tried);
    sort();
    // The same order again gives the same lists again.
    if (sorted == before)
      break;
    lists = place();
  }
  return best;
}

FailureOr<std::vector<StepList>> placeP2PInTime(const Schedule &schedule,
                                                const P2PTiming &timing,
                                                DiagEngine &diags) {
  return TimedOrder(schedule, timing).run(diags);
}

} // namespace pipec
