//===- VerifierTimed.cpp - The level timed: start times -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Start times are checked, not computed; lines without a time are not
// constrained. A file does not say for which communication model its times are,
// so the conditions hold under all of them:
//
//   compute      not before the previous compute lines have ended, where lines
//                without a time take their duration. Not before its data is
//                available: for data of another rank, one transfer time after
//                the start of its send, or after the end of its producer if the
//                send has no time; and not before the start of its receive. Not
//                before the preceding UNSHARDs of its stages have ended.
//   transfers    not before the rank reaches them, and a send not before the
//                earlier sends of its directed edge have left the edge. They do
//                not delay the following lines.
//   collectives  not before the rank reaches them and the previous collectives
//                have ended.
//   ties         not before each rank of the group reaches them and its
//                previous collectives have ended, and at the same time on all
//                of these ranks. They do not delay other collectives.
//
// A result for another rank without a send leaves its rank when its edge is
// free after the end of its producer.
//
// The first walk computes the end of each line, the second one compares. All
// values are exact fractions.
//
//===----------------------------------------------------------------------===//

#include "IR/DataFlow.h"
#include "Verify/VerifierDetail.h"

#include "Support/Diagnostics/VerifierDiags.h"

#include "llvm/ADT/SmallVector.h"

#include <map>

using namespace llvm;

namespace pipec {

namespace {

class TimedVerifier {
public:
  TimedVerifier(const Schedule &schedule, DiagEngine &diags)
      : schedule(schedule), reporter(schedule, diags), flow(schedule),
        data(schedule, flow) {}

  bool run() {
    // Without the durations of all steps, nothing can be compared.
    for (uint32_t rank = 0; rank != schedule.ranks.size(); ++rank)
      if (!findEnds(rank))
        return false;
    for (uint32_t rank = 0; rank != schedule.ranks.size() && !reporter.full();
         ++rank)
      RankCheck(*this, rank).run();
    return !reporter.failed;
  }

private:
  using Time = std::optional<Rational>;

  /// For a datum: its producer and the end of that; when it leaves the rank;
  /// its send and its receive.
  struct Data {
    Time end, leaves;
    StepRef producer;
    StepRef send;
    StepRef receive;
  };

  /// The sum; `nullopt` if a term is missing or on overflow.
  static Time plus(Time a, Time b) {
    return a && b ? Rational::add(*a, *b) : std::nullopt;
  }

  Time timeOf(StepRef ref) const {
    return ref.isValid() ? schedule.times[ref.rank][ref.index] : std::nullopt;
  }

  /// The duration of a line of compute steps; nothing on overflow.
  Time duration(uint32_t rank, ArrayRef<Step> line) const {
    const CostSettings &costs = schedule.costs;
    SmallVector<StepKind, 4> kinds;
    Time sum = Rational(0);
    Rational longest = 0, factor = 0;
    for (Step step : line) {
      kinds.push_back(step.kind());
      if (!isCompute(step.kind()))
        continue;
      Time cost = costs.of(step.kind(), step.stage(), rank,
                           hasUnit(step.kind()) ? schedule.placeOf(step.unit())
                                                : UnitPlace());
      Time own = step.kind() == StepKind::Update
                     ? costs.get(Figure::Factor, {FigureScope::Rank, rank})
                           .value_or(Rational(1))
                     : costs.factorOf(step.stage(), rank,
                                      schedule.unitOfBatch(step.unit()),
                                      schedule.numSlices);
      cost = cost && own ? Rational::mul(*cost, *own) : std::nullopt;
      if (!cost || !(sum = plus(sum, cost)))
        return std::nullopt;
      longest = std::max(longest, *cost);
      factor = std::max(factor, *own);
    }
    if (line.size() == 1)
      return sum;
    if (Time cost = costs.ofOverlap(kinds))
      return Rational::mul(*cost, factor);
    sum = Rational::mul(*sum, costs.overlapFactor(kinds));
    return sum ? std::optional(std::max(*sum, longest)) : std::nullopt;
  }

  /// Records the ends of the compute lines of a rank and when their results
  /// leave it.
  bool findEnds(uint32_t rank) {
    ArrayRef<Step> list = schedule.ranks[rank];
    std::map<unsigned, Time> edges;
    for (size_t i = 0, end = 0; i != list.size(); i = end) {
      end = Schedule::groupEnd(list, i);
      Time stop;
      if (isCompute(list[i].kind())) {
        Time start = timeOf({rank, uint32_t(i)});
        Time length = duration(rank, list.slice(i, end - i));
        stop = plus(start, length);
        if (!length || (start && !stop)) {
          (void)reporter.report({rank, uint32_t(i)}, diag::TimeOverflow);
          if (reporter.full())
            return false;
          continue;
        }
      }
      for (size_t k = i; k != end; ++k)
        note(list[k], {rank, uint32_t(k)}, stop, edges);
    }
    return !reporter.failed;
  }

  void note(Step step, StepRef ref, Time end, std::map<unsigned, Time> &edges) {
    if (isP2P(step.kind())) {
      if (const DataFlow::Port *port = flow.transfer(step)) {
        Data &moved = data[flow.datum(*port, step.unit())];
        (isSend(step.kind()) ? moved.send : moved.receive) = ref;
      }
      return;
    }
    for (const DataFlow::Port &output : flow.outputs(step)) {
      Data &made = data[flow.datum(output, step.unit())];
      made.end = end;
      made.producer = ref;
      // Results use an edge in the order in which their rank produces them.
      unsigned to = output.rank;
      if (to == ref.rank)
        continue;
      made.leaves = end;
      // Those of several streams use it in the order of time.
      if (!schedule.streams.empty())
        continue;
      Time &free = edges[to];
      if (end && free)
        made.leaves = std::max(*end, *free);
      Time next = plus(made.leaves, schedule.costs.occupancyOf(ref.rank, to));
      free = next ? next : free;
    }
  }

  /// The first step with a time of each group of tied stages.
  std::map<unsigned, StepRef> tied;

  /// The state of the walk over the list of one rank.
  class RankCheck {
  public:
    RankCheck(TimedVerifier &verifier, uint32_t rank)
        : verifier(verifier), schedule(verifier.schedule),
          reporter(verifier.reporter), rank(rank) {}

    void run() {
      ArrayRef<Step> list = schedule.ranks[rank];
      for (size_t i = 0, end = 0; i != list.size() && !reporter.full();
           i = end) {
        end = Schedule::groupEnd(list, i);
        StepKind kind = list[i].kind();
        if (isCompute(kind))
          compute(list.slice(i, end - i), i);
        else if (isP2P(kind))
          transfers(list.slice(i, end - i), i);
        else if (streamOf(kind) == Stream::Gather || isCopy(kind))
          collective(list[i], {rank, uint32_t(i)});
        else if (streamOf(kind) == Stream::Tied)
          tied(list[i], {rank, uint32_t(i)});
        else if (const auto *end = reached(list[i]))
          // The rank continues when the reduction ends, if it has a time.
          busyUntil = std::max(busyUntil, Time(end->first));
      }
    }

  private:
    void overflow(StepRef ref) {
      (void)reporter.report(ref, diag::TimeOverflow);
    }

    /// Reports a line that starts before the previous compute lines end.
    bool comesAfter(StepRef ref, Rational start) {
      if (!busyUntil || start >= *busyUntil)
        return true;
      auto diagnostic =
          reporter.report(ref, diag::StartWhileBusy, start, *busyUntil);
      if (before.isValid())
        reporter.noteHere(diagnostic, before);
      return false;
    }

    void compute(ArrayRef<Step> line, size_t begin) {
      StepRef ref{rank, uint32_t(begin)};
      Time start = verifier.timeOf(ref);
      if (start) {
        comesAfter(ref, *start);
        for (size_t k = 0; k != line.size(); ++k)
          checkInput(line[k], {rank, uint32_t(begin + k)}, *start);
        if (!schedule.streams.of(line[0]))
          before = ref;
      }
      if (unsigned stream = schedule.streams.of(line[0])) {
        Time &free = sides[stream];
        if (start && free && *start < *free)
          (void)reporter.report(ref, diag::CollectiveWhileBusy, *start, *free);
        free = plus(start, verifier.duration(rank, line));
        return;
      }
      Time from = start ? start : busyUntil;
      if (!from)
        return;
      // The sums in `findEnds` fit, but sums over lines without a time may not.
      busyUntil = plus(from, verifier.duration(rank, line));
      if (!busyUntil)
        overflow(ref);
    }

    /// Checks the start of one member of a line against its parameters and
    /// inputs.
    void checkInput(Step step, StepRef ref, Rational start) {
      if (step.kind() == StepKind::Update)
        for (const auto *sum : {find(ends, {State::Reduced, step.stage()}),
                                find(ends, {State::Used, step.stage()})})
          checkEnd(ref, start, sum, diag::StartBeforeSum);
      checkEnd(ref, start, reached(step), diag::StartBeforeUnshard);
      // The producer of a send and the `I` of a `W` are on this rank, whose
      // lines are in order.
      const DataFlow &flow = verifier.flow;
      for (const DataFlow::Port &input : flow.inputs(step)) {
        const Data &taken =
            std::as_const(verifier.data)[flow.datum(input, step.unit())];
        checkReceive(ref, start, taken);
        checkData(ref, start, taken, input.rank);
      }
    }

    using Ends =
        std::map<std::pair<State, unsigned>, std::pair<Rational, StepRef>>;
    static const Ends::mapped_type *find(const Ends &ends, Ends::key_type key) {
      auto end = ends.find(key);
      return end == ends.end() ? nullptr : &end->second;
    }
    template <typename Kind>
    void checkEnd(StepRef ref, Rational start, const Ends::mapped_type *end,
                  Kind kind) {
      if (!end || start >= end->first)
        return;
      auto diagnostic = reporter.report(ref, kind, start, end->first);
      diagnostic.note(reporter.step(end->second).source(), diag::NoteEndsAt,
                      reporter.name(end->second), end->first);
    }

    void checkReceive(StepRef ref, Rational start, const Data &data) {
      Time received = verifier.timeOf(data.receive);
      if (!received || start >= *received)
        return;
      auto diagnostic =
          reporter.report(ref, diag::StartBeforeData, start, *received);
      diagnostic.note(reporter.step(data.receive).source(),
                      diag::NoteReceivesAt, reporter.name(data.receive),
                      *received);
    }

    void checkData(StepRef ref, Rational start, const Data &data,
                   unsigned home) {
      if (!data.producer.isValid())
        return;
      Time sent = home != rank ? verifier.timeOf(data.send) : std::nullopt;
      Time from = sent                                   ? sent
                  : home != rank && !data.send.isValid() ? data.leaves
                                                         : data.end;
      if (!from)
        return;
      Time takes = schedule.costs.hop(home, rank);
      Time there = plus(from, takes);
      if (!there) {
        overflow(sent ? data.send : data.producer);
        return;
      }
      if (start >= *there)
        return;
      auto diagnostic =
          reporter.report(ref, diag::StartBeforeData, start, *there);
      if (sent)
        diagnostic.note(reporter.step(data.send).source(), diag::NoteSentAt,
                        reporter.name(data.send), *sent, *takes);
      else
        diagnostic.note(reporter.step(data.producer).source(), diag::NoteEndsAt,
                        reporter.name(data.producer), *data.end);
    }

    void transfers(ArrayRef<Step> line, size_t begin) {
      StepRef ref{rank, uint32_t(begin)};
      Time start = verifier.timeOf(ref);
      if (!start || !comesAfter(ref, *start))
        return;
      for (size_t k = 0; k != line.size(); ++k) {
        StepRef self{rank, uint32_t(begin + k)};
        const DataFlow::Port *port =
            isSend(line[k].kind()) ? verifier.flow.transfer(line[k]) : nullptr;
        if (!port)
          continue;
        unsigned peer = port->rank;
        Time &free = edges[peer];
        // A batch has the time of its first member to start.
        if (line.size() == 1 && free && *start < *free)
          (void)reporter.report(self, diag::TransferWhileBusy, *start, *free);
        Time from = free && *free > *start ? free : start;
        free = plus(from, schedule.costs.occupancyOf(rank, peer));
        if (!free)
          overflow(self);
      }
    }

    void collective(Step step, StepRef ref) {
      Time start = verifier.timeOf(ref);
      Time &free = queues[queueOf(step.stream())];
      if (start && comesAfter(ref, *start) && free && *start < *free)
        (void)reporter.report(ref, diag::CollectiveWhileBusy, *start, *free);
      // Without a time, it starts as soon as the rank and the previous steps
      // of its stream allow, if that is known.
      Time from = start;
      if (!from && busyUntil && free)
        from = std::max(*busyUntil, *free);
      else if (!from)
        from = busyUntil ? busyUntil : free;
      if (!from)
        return;
      free = plus(from, schedule.costs.of(step.kind(), step.stage(), rank));
      if (!free)
        overflow(ref);
      else if (!isCopy(step.kind()))
        ends[{stateAfter(step.kind()), step.stage()}] = {*free, ref};
    }

    void tied(Step step, StepRef ref) {
      Time start = verifier.timeOf(ref);
      if (!start)
        return;
      Time free = queues[queueOf(Stream::Tied)];
      if (ties && (!free || *free < *ties))
        free = ties;
      if (comesAfter(ref, *start) && free && *start < *free)
        (void)reporter.report(ref, diag::CollectiveWhileBusy, *start, *free);
      auto [first, isFirst] = verifier.tied.try_emplace(step.stage(), ref);
      if (Time other = verifier.timeOf(first->second); *other != *start)
        (void)reporter.report(ref, diag::TiedStartsDiffer, *start,
                              reporter.text(step), first->second.rank, *other);
      ties = plus(start, schedule.costs.general(Figure::ReduceTied));
      if (!ties)
        return overflow(ref);
      for (unsigned stage : schedule.ties[step.stage()])
        ends[{State::Used, stage}] = {*ties, ref};
    }

    /// The FSDP step that brought what `step` needs into its state, and its
    /// end, if that is known; null if there is none.
    const std::pair<Rational, StepRef> *reached(Step step) const {
      State state =
          isCompute(step.kind()) ? State::Whole : stateBefore(step.kind());
      return find(ends, {state, step.stage()});
    }

    TimedVerifier &verifier;
    const Schedule &schedule;
    StepReporter &reporter;
    uint32_t rank;
    /// When the rank is free again, if that is known, and the last compute line
    /// with a time.
    Time busyUntil;
    StepRef before;
    /// When the queues of the rank are free again, and when each directed edge
    /// from it is.
    std::array<Time, numQueues> queues;
    /// The same for the streams of stages.
    std::map<unsigned, Time> sides;
    std::map<unsigned, Time> edges;
    /// The end of the last REDUCE_TIED with a time.
    Time ties;
    /// By state and stage, the end of the last FSDP step that reached it; and
    /// with the state Used, of the last REDUCE_TIED.
    Ends ends;
  };

  const Schedule &schedule;
  StepReporter reporter;
  DataFlow flow;
  DatumTable<Data> data;
};

} // namespace

LogicalResult verifyTimed(const Schedule &schedule, DiagEngine &diags) {
  if (schedule.times.empty())
    return success();
  return success(TimedVerifier(schedule, diags).run());
}

} // namespace pipec
