//===- P2PTimed.cpp - Transfers in the order of time ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `insert-p2p{order=timed}`. The lists without transfers are run under the
// schedule's costs. A transfer x is produced at e(x), the end of its producer,
// and needed at n(x), the start of its consumer. Choose any time t(x) between
// the two, and order all transfers of all ranks by t, then by e, then by the
// order in which the producers ran. On every rank the transfers are in this
// order, each send as early and each receive as late as the order allows.
//
//   F = 1, B = 2                       the order: x = F s0 m0 (1), y = F s0 m1
//   rank 0   F0 F1 B0 ...              (needed at 4), z = B s1 m0 (needed at 4)
//   rank 1      F0 B0 F1 ...
//
//   rank 0: F s0 m0, SEND_F m0, F s0 m1, SEND_F m1, RECV_B m0, B s0 m0
//   rank 1: RECV_F m0, F s1 m0, B s1 m0, RECV_F m1, SEND_B m0, F s1 m1
//
// y is produced before z, so it comes first, although both are needed at the
// same time: rank 1 receives y before it sends z, and neither rank waits for
// the other with a send of its own still to come.
//
// A send is after the receives before it in the order. By default such a
// receive is early too; with `favor=receives` it is as late as the order of the
// receives permits, and the send waits for it.
//
// Such lists always exist, finish under every communication model, and have no
// crossed transfers. Without latency, the makespan with `at=need` is that of a
// run without P2P contention. docs/Rationale/TimeOrderedP2P.md has the proofs.
//
// With `model=blocking` ranks wait at receives, so a receive should never be
// earlier because of a send to another rank. Such lists keep the order only on
// each directed edge, and finish under the models with a queue per edge.
//
// `rounds=K` runs the lists with their transfers, takes e and n from that run,
// and orders again, up to K times. The best result is kept.
//
// A table contains for each result the time when it was produced, the time when
// it was needed, and its position in the order of the run. So each rank can
// collect and sort the ends of its own transfers, in the cache, and since all
// ranks sort by the same keys, the orders agree. Everything is linear in the
// steps. In addition to the two lists, it takes 16 bytes per result, or 24 if
// times are large.
//
//===----------------------------------------------------------------------===//

#include "IR/OrderWalk.h"
#include "Simulation/Blocked.h"
#include "Simulation/Resources.h"
#include "Simulation/Simulate.h"
#include "Support/SpanSort.h"
#include "Transforms/P2POrders.h"
#include "Transforms/P2PPlaces.h"
#include "Transforms/Passes.h"
#include "Verify/Verifier.h"

#include "llvm/ADT/STLExtras.h"

#include <limits>
#include <utility>

using namespace llvm;

namespace pipec {

namespace {

/// The times of a result. `Time` can hold twice any time of most schedules.
template <typename Time> struct Result {
  static constexpr Time never = std::numeric_limits<Time>::max();

  /// When it arrives; once its consumer has started, the start of the consumer.
  Time needed = never;
  Time made = 0;
  /// The position of the producer in the order of the run.
  uint32_t producerOrder = 0;
  /// The source of the producer.
  SourceLoc source;
};

/// The times of all results, by number.
template <typename Time> struct TimedResults {
  std::vector<Result<Time>> results;
  /// True if a step that gives a result has the duration 0.
  bool instants = false;
};

/// A run under free arrival that records the times of all results.
template <typename Time, bool resources> class TimedRun : FreeClock<resources> {
  using Clock = FreeClock<resources>;

public:
  using Datum = Result<Time>;

  TimedRun(const Schedule &schedule, const TickCosts &costs)
      : Clock(schedule, costs), schedule(schedule), walk(schedule, *this),
        started(schedule.numRanks) {}
  TimedRun(const TimedRun &) = delete;

  /// Reports an order that cannot run.
  LogicalResult run(DiagEngine &diags) {
    // A time that does not fit may block the run.
    bool good = walk.run();
    if (good || timesPass())
      return success();
    return reportBlocked(schedule, walk, diags);
  }
  /// True if twice a time has exceeded the range of `Time`; the results are
  /// then invalid.
  bool timesPass() const { return uint64_t(latest) > Datum::never / 2; }
  /// True if a step that gives a result has the duration 0.
  bool hasInstants() const { return instants; }
  /// True if all results have been consumed.
  bool isComplete() const;
  /// Indexed by number.
  std::vector<Datum> takeResults() { return walk.takeTable(); }

  using Clock::mayRun;
  using Clock::takeReleased;
  static bool isThere(const Datum &datum) {
    return datum.needed != Datum::never;
  }
  void take(unsigned rank, const Datum &datum) {
    Clock::waitFor(rank, datum.needed);
  }
  void visit(unsigned rank, size_t begin, size_t end) {
    int64_t start = Clock::run(rank, begin, end);
    latest = std::max(latest, start);
    started[rank] = start;
    for (size_t i = begin; i != end; ++i) {
      Step step = schedule.ranks[rank][i];
      for (const DataFlow::Port &input : walk.flow().inputs(step)) {
        walk.datum(walk.flow().datum(input, step.unit())).needed = Time(start);
        --open;
      }
    }
  }
  Datum give(unsigned rank, size_t index, const DataFlow::Port &port) {
    Step step = schedule.ranks[rank][index];
    int64_t arrival = Clock::arrival(rank, step, port);
    latest = std::max(latest, arrival);
    instants |= Clock::made(rank) == started[rank];
    ++open;
    return {Time(arrival), Time(Clock::made(rank)), given++, step.source()};
  }

private:
  const Schedule &schedule;
  OrderWalk<TimedRun> walk;
  /// The last arrival or start.
  int64_t latest = 0;
  /// The number of results produced so far, and of those not yet consumed.
  uint32_t given = 0;
  int64_t open = 0;
  /// The start of the last group of each rank.
  std::vector<int64_t> started;
  bool instants = false;
};

template <typename Time, bool resources>
bool TimedRun<Time, resources>::isComplete() const {
  if (open == 0)
    return true;
  // A step is missing or duplicated.
  const DataFlow &flow = walk.flow();
  std::vector<bool> taken(flow.size());
  for (const StepList &list : schedule.ranks)
    for (Step step : list)
      for (const DataFlow::Port &input : flow.inputs(step))
        taken[flow.datum(input, step.unit())] = true;
  return all_of(schedule.ranks, [&](const StepList &list) {
    return all_of(list, [&](Step step) {
      return all_of(flow.outputs(step), [&](const DataFlow::Port &output) {
        return taken[flow.datum(output, step.unit())];
      });
    });
  });
}

/// One end of a transfer on its rank.
template <typename Time> struct End {
  /// The primary key of the order; the next keys are the time when it was
  /// produced, and what decides then (`TimedOrder::tieOf`).
  Time time;
  Time made;
  uint32_t tie;
  /// Twice the index of the producer, or of the consumer plus one, in its list.
  uint32_t place;

  bool isReceive() const { return place & 1; }
  uint32_t index() const { return place / 2; }
};

} // namespace

/// The times of all results; empty if `Time` is too small. Reports an order
/// that cannot run, and a missing consumer.
template <typename Time>
static FailureOr<std::optional<TimedResults<Time>>>
findTimes(const Schedule &schedule, const TickCosts &costs, DiagEngine &diags) {
  using Found = std::optional<TimedResults<Time>>;
  auto find = [&](auto &&run) -> FailureOr<Found> {
    if (failed(run.run(diags)))
      return failure();
    if (run.timesPass())
      return Found();
    if (run.isComplete())
      return Found(TimedResults<Time>{run.takeResults(), run.hasInstants()});
    bool complete = succeeded(verify(schedule, VerifyLevel::Compute, diags));
    (void)complete;
    assert(!complete && "a well-formed schedule has all consumers");
    return failure();
  };
  return needsAll(schedule, costs)
             ? find(TimedRun<Time, true>(schedule, costs))
             : find(TimedRun<Time, false>(schedule, costs));
}

namespace {

/// The order of all transfers of a schedule by the times of their results.
template <typename Time> class TimedOrder {
public:
  TimedOrder(const Schedule &schedule, const InsertP2POptions &options,
             const CommModel &model, TimedResults<Time> times)
      : schedule(schedule), at(options.at.value_or(P2PAt::Need)),
        favor(options.favor.value_or(P2PFavor::Sends)),
        byEdge(waitModelInfo(model.kind()).holds == WaitHolds::Receives),
        flow(schedule), times(std::move(times)), places(schedule.numRanks) {}

  /// Replaces the times by those of a run of `simulated`, the lists with
  /// transfers.
  void setTimes(const Simulation &simulation, const Schedule &simulated) {
    for (const auto &[rank, list] : enumerate(simulated.ranks)) {
      for (size_t begin = 0, end; begin != list.size(); begin = end) {
        end = Schedule::groupEnd(list, begin);
        Time start = simulation.start(rank, begin);
        Time stop = start + simulation.costs().duration(list, begin, end);
        for (Step step : ArrayRef(list).slice(begin, end - begin)) {
          for (const DataFlow::Port &input : flow.inputs(step))
            times.results[flow.datum(input, step.unit())].needed = start;
          for (const DataFlow::Port &output : flow.outputs(step))
            times.results[flow.datum(output, step.unit())].made = stop;
        }
      }
    }
  }

  /// The lists with their transfers.
  std::vector<StepList> place() {
    std::vector<StepList> lists;
    lists.reserve(schedule.numRanks);
    for (const StepList &list : schedule.ranks) {
      collect(list);
      sorted.resize(ends.size());
      using Own = End<Time>;
      spanSort<Own>(
          ends, sorted, [](const Own &end) { return end.time; },
          [](const Own &end) { return end.made; },
          [](const Own &end) { return end.tie; });
      lists.push_back(placeOn(list));
    }
    return lists;
  }

private:
  void collect(const StepList &list) {
    ends.clear();
    for (uint32_t i = 0; i != list.size(); ++i) {
      Step step = list[i];
      const DataFlow::Row &row = flow.row(step);
      for (const DataFlow::Port &output : flow.outputs(row))
        if (output.transfers)
          add(flow.datum(output, step.unit()), 2 * i);
      for (const DataFlow::Port &input : flow.inputs(row))
        if (input.transfers)
          add(flow.datum(input, step.unit()), 2 * i + 1);
    }
  }
  void add(size_t number, uint32_t place) {
    const Result<Time> &result = times.results[number];
    ends.push_back({timeOf(result), result.made, tieOf(number), place});
  }
  /// The time to order by, doubled for the midpoint.
  Time timeOf(const Result<Time> &result) const {
    switch (at) {
    case P2PAt::Need:
      return result.needed;
    case P2PAt::Ready:
      return result.made;
    case P2PAt::Mid:
      return result.made + result.needed;
    }
    llvm_unreachable("every time is listed");
  }
  /// What decides between transfers with equal times: with steps that take no
  /// time a number that is larger than those of all results that this one
  /// depends on, otherwise the number of the datum.
  uint32_t tieOf(size_t number) const {
    return times.instants ? times.results[number].producerOrder
                          : uint32_t(number);
  }
  StepList placeOn(const StepList &list);
  /// Which input or output of `own`, the compute step on this rank, `end` is.
  unsigned portOf(const End<Time> &end, Step own) const {
    ArrayRef<DataFlow::Port> ports = portsOf(end, own);
    unsigned port = 0;
    while (port + 1 != ports.size() &&
           tieOf(flow.datum(ports[port], own.unit())) != end.tie)
      ++port;
    return port;
  }
  ArrayRef<DataFlow::Port> portsOf(const End<Time> &end, Step own) const {
    return end.isReceive() ? flow.inputs(own) : flow.outputs(own);
  }
  const Result<Time> &resultOf(const DataFlow::Port &port, Step own) const {
    return times.results[flow.datum(port, own.unit())];
  }

  const Schedule &schedule;
  P2PAt at;
  P2PFavor favor;
  /// Whether only the transfers of each directed edge are in the order of time.
  bool byEdge;
  DataFlow flow;
  TimedResults<Time> times;
  P2PPlaces places;
  /// The ends on one rank, unsorted and sorted.
  std::vector<End<Time>> ends, sorted;
  std::vector<TransferEnd> transferEnds;
};

} // namespace

/// `list` with its sorted ends.
template <typename Time>
StepList TimedOrder<Time>::placeOn(const StepList &list) {
  transferEnds.clear();
  for (const End<Time> &end : sorted) {
    Step own = list[end.index()];
    transferEnds.push_back({end.index(),
                            portsOf(end, own)[portOf(end, own)].rank,
                            end.isReceive()});
  }
  ArrayRef<P2PPlaces::Place> placed =
      byEdge ? places.byEdge(list, transferEnds)
             : places.inOneOrder(list, transferEnds, favor);

  StepList result;
  result.reserve(list.size() + sorted.size());
  uint32_t i = 0;
  for (P2PPlaces::Place place : placed) {
    // The places are ascending, unless the order cannot run.
    for (; i < place.before; ++i)
      result.push_back(list[i]);
    const End<Time> &end = sorted[place.end];
    Step own = list[end.index()];
    unsigned port = portOf(end, own);
    result.push_back(
        end.isReceive()
            ? recvFor(own, port, resultOf(portsOf(end, own)[port], own).source)
            : sendOf(own, port));
  }
  result.insert(result.end(), list.begin() + i, list.end());
  return result;
}

/// True if both have the same steps in the same order.
static bool sameActions(ArrayRef<StepList> a, ArrayRef<StepList> b) {
  return all_of(zip_equal(a, b), [](const auto &lists) {
    return llvm::equal(
        std::get<0>(lists), std::get<1>(lists),
        [](const Step &x, const Step &y) { return x.sameAction(y); });
  });
}

FailureOr<std::vector<StepList>> placeP2PInTime(const Schedule &schedule,
                                                const InsertP2POptions &options,
                                                const CommModel &model,
                                                DiagEngine &diags) {
  if (failed(checkResults(schedule, diags)))
    return failure();
  FailureOr<TickCosts> costs = TickCosts::make(schedule, diags);
  if (failed(costs))
    return failure();
  unsigned rounds = options.rounds.value_or(0);
  // The times of most schedules fit in half of the memory.
  if (rounds == 0) {
    auto small = findTimes<uint32_t>(schedule, *costs, diags);
    if (failed(small))
      return failure();
    if (*small)
      return TimedOrder(schedule, options, model, std::move(**small)).place();
  }
  auto times = findTimes<uint64_t>(schedule, *costs, diags);
  if (failed(times))
    return failure();
  TimedOrder order(schedule, options, model, std::move(times->value()));
  std::vector<StepList> lists = order.place(), best;
  if (rounds == 0)
    return lists;

  Schedule tried{static_cast<const ScheduleHeader &>(schedule)};
  int64_t bestTime = 0;
  for (unsigned round = 0; round <= rounds; ++round) {
    tried.ranks = std::move(lists);
    FailureOr<Simulation> simulation = simulate(tried, model, diags);
    if (failed(simulation))
      return failure();
    if (round == 0 || simulation->makespan() < bestTime) {
      bestTime = simulation->makespan();
      best = tried.ranks;
    }
    if (round == rounds)
      break;
    order.setTimes(*simulation, tried);
    lists = order.place();
    // The same lists would run in the same way again.
    if (sameActions(lists, tried.ranks))
      break;
  }
  return best;
}

} // namespace pipec
