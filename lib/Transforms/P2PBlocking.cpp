//===- P2PBlocking.cpp - Transfers for ranks that wait at all of them -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `insert-p2p{order=timed,model=blocking-sends}`. Where both ranks wait at a
// transfer, a send that comes early holds up its rank until the other one has
// reached the receive, and a receive that comes late holds up the sender. So
// the places are chosen in a run of both sides: a transfer is placed where the
// two ranks meet.
//
//   F = 1, B = 2, transfers take 0.1; 1F1B on 2 ranks
//   rank 0   F0 | SEND_F F1 |             | RECV_B SEND_F B0 ...
//   rank 1      | RECV_F F0 B0            | SEND_B RECV_F F1 ...
//
// The run visits the ends of steps in the order of time. A rank between two
// compute steps first transfers with the other ranks that are between two
// steps; then it starts its next step if that has its inputs, unless it is to
// wait for a rank that soon reaches the end of a step (`Patience`). Every rank
// that has no work is between two steps, so the result that it needs arrives as
// soon as its producer is between two steps too: the run cannot block. The
// transfers are in one order of time on all ranks, as in P2PTimed.cpp, so the
// lists complete under every communication model.
//
// The lists for each `Patience` and the lists of the other orders are simulated
// with blocking sends, and the first fastest ones are used. `order=column`
// comes first, because its lists are the most regular.
//
// A queue per directed edge has the results that wait. With few edges per rank,
// everything is linear in the steps, times the logarithm of the ranks.
//
//===----------------------------------------------------------------------===//

#include "Simulation/Blocked.h"
#include "Simulation/Simulate.h"
#include "Transforms/Checks.h"
#include "Transforms/P2POrders.h"
#include "Transforms/Passes.h"

#include "llvm/ADT/STLExtras.h"

#include <queue>
#include <tuple>

using namespace llvm;

namespace pipec {

namespace {

/// When a rank waits for another one instead of starting its next step.
struct Patience {
  /// Only to send an input of the next step of the other rank.
  bool onlyNeeded;
  /// It waits at most for this part of the step: of its whole duration or, with
  /// `onlyNeeded`, of the time by which the other rank would wait for its end.
  unsigned parts, perPart;
};

constexpr Patience patiences[] = {
    {true, 1, 2}, {true, 1, 1}, {false, 1, 2}, {true, 0, 1}};

class MeetingRun {
public:
  MeetingRun(const Schedule &schedule, const TickCosts &costs,
             Patience patience)
      : schedule(schedule), costs(costs), patience(patience), flow(schedule),
        numbers(flow), queues(numbers.size()), there(flow.size()),
        ranks(schedule.numRanks), seen(schedule.numRanks) {
    std::vector<StepList> lists = listsForP2P(schedule, /*keepBubbles=*/true);
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
      ranks[rank].out = std::move(lists[rank]);
      events.push({0, rank});
    }
    for (uint32_t edge = 0; edge != numbers.size(); ++edge) {
      ranks[numbers.ranks(edge).first].edges.push_back(edge);
      ranks[numbers.ranks(edge).second].edges.push_back(edge);
    }
  }

  FailureOr<std::vector<StepList>> run(DiagEngine &diags) {
    while (!events.empty()) {
      now = events.top().first;
      arrived.clear();
      for (; !events.empty() && events.top().first == now; events.pop())
        arrived.push_back(events.top().second);
      for (unsigned rank : arrived)
        stop(rank);
      meet();
      proceed();
    }
    return finish(diags);
  }

private:
  /// A result to be transferred: the index of its producer, and the output.
  struct Waiting {
    int64_t made;
    uint32_t index;
    uint32_t port;
  };
  /// The results of one edge that wait, from `first` on.
  struct Queue {
    std::vector<Waiting> results;
    size_t first = 0;
    bool empty() const { return first == results.size(); }
    const Waiting &head() const { return results[first]; }
    void pop() {
      if (++first == results.size()) {
        results.clear();
        first = 0;
      }
    }
  };
  struct RankState {
    /// The end of the steps in `out`, and the next compute step.
    size_t at = 0, next = 0;
    /// The group that runs; empty if none does.
    size_t begin = 0, end = 0;
    /// When its step or transfer ends.
    int64_t until = 0;
    /// True between two steps.
    bool stops = false;
    /// Those from and to this rank.
    SmallVector<uint32_t, 4> edges;
    StepList out;
  };
  /// A transfer that can start: its keys in the order of starts, and its edge.
  using Possible = std::tuple<bool, bool, int64_t, uint32_t>;

  /// At the end of a step or transfer of `rank`: its results can be sent, and
  /// steps that do not block are passed.
  void stop(unsigned rank) {
    RankState &self = ranks[rank];
    const StepList &list = schedule.ranks[rank];
    self.stops = true;
    for (; self.begin != self.end; ++self.begin) {
      Step step = list[self.begin];
      for (const auto &[port, output] : enumerate(flow.outputs(step))) {
        if (output.transfers)
          queues[numbers.find(rank, output.rank)].results.push_back(
              {now, uint32_t(self.begin), uint32_t(port)});
        else
          there[flow.datum(output, step.unit())] = true;
      }
    }
    for (self.next = std::max(self.next, self.at);
         self.next != list.size() && !isCompute(list[self.next].kind());)
      ++self.next;
    while (self.at != self.next && !isWait(list[self.at].kind()))
      self.out.push_back(list[self.at++]);
  }

  /// Starts transfers between ranks that are between two steps. Sends of even
  /// ranks come first, so that the transfers along a chain need two rounds.
  void meet() {
    possible.clear();
    for (unsigned rank : arrived)
      for (uint32_t edge : ranks[rank].edges)
        if (!queues[edge].empty() && bothStop(edge))
          possible.push_back({numbers.ranks(edge).first % 2, !isNeeded(edge),
                              queues[edge].head().made, edge});
    llvm::sort(possible);
    for (const Possible &transfer : possible)
      if (uint32_t edge = std::get<uint32_t>(transfer); bothStop(edge))
        transferHead(edge);
  }

  void transferHead(uint32_t edge) {
    auto [from, to] = numbers.ranks(edge);
    Waiting result = queues[edge].head();
    queues[edge].pop();
    Step producer = schedule.ranks[from][result.index];
    const DataFlow::Port &output = flow.outputs(producer)[result.port];
    there[flow.datum(output, producer.unit())] = true;
    RankState &receiver = ranks[to];
    unsigned phase = receiver.next == schedule.ranks[to].size()
                         ? producer.phase()
                         : schedule.ranks[to][receiver.next].phase();
    ranks[from].out.push_back(sendOf(producer, result.port));
    receiver.out.push_back(recvOf(producer, output, phase));
    occupy(from, now + costs.hop(from, to));
    occupy(to, now + costs.hop(from, to));
  }

  /// Starts the next steps of ranks that do not wait.
  void proceed() {
    ++round;
    for (unsigned rank : arrived) {
      tryStep(rank);
      for (uint32_t edge : ranks[rank].edges) {
        auto [from, to] = numbers.ranks(edge);
        tryStep(from == rank ? to : from);
      }
    }
  }
  void tryStep(unsigned rank) {
    RankState &self = ranks[rank];
    if (std::exchange(seen[rank], round) == round || !self.stops ||
        !isReady(rank))
      return;
    const StepList &list = schedule.ranks[rank];
    size_t end = Schedule::groupEnd(list, self.next);
    int64_t duration = costs.duration(list, self.next, end);
    if (waits(rank, duration))
      return;
    self.out.insert(self.out.end(), list.begin() + self.at, list.begin() + end);
    self.begin = self.next;
    self.at = self.end = self.next = end;
    occupy(rank, now + duration);
  }
  void occupy(unsigned rank, int64_t until) {
    ranks[rank].stops = false;
    ranks[rank].until = until;
    events.push({until, rank});
  }

  /// Whether `rank` waits for the end of a step of another one before a step of
  /// its own.
  bool waits(unsigned rank, int64_t duration) const {
    return any_of(ranks[rank].edges, [&](uint32_t edge) {
      auto [from, to] = numbers.ranks(edge);
      const RankState &other = ranks[from == rank ? to : from];
      if (queues[edge].empty() || other.stops)
        return false;
      int64_t left = other.until - now;
      if (!patience.onlyNeeded)
        return left * patience.perPart <= duration * patience.parts;
      return from == rank && isNeeded(edge) && patience.parts != 0 &&
             left * patience.perPart <= (duration - left) * patience.parts;
    });
  }

  bool bothStop(uint32_t edge) const {
    auto [from, to] = numbers.ranks(edge);
    return ranks[from].stops && ranks[to].stops;
  }
  /// True if the next step of the destination of `edge` needs a result of it.
  bool isNeeded(uint32_t edge) const {
    auto [from, to] = numbers.ranks(edge);
    return any_of(nextGroup(to), [&, from = from](Step step) {
      return any_of(flow.inputs(step), [&](const DataFlow::Port &input) {
        return input.transfers && input.rank == from &&
               !there[flow.datum(input, step.unit())];
      });
    });
  }
  bool isReady(unsigned rank) const {
    return ranks[rank].next != schedule.ranks[rank].size() &&
           none_of(nextGroup(rank),
                   [&](Step step) { return missingInput(step); });
  }
  /// The next compute step or overlap; empty at the end of the list.
  ArrayRef<Step> nextGroup(unsigned rank) const {
    const StepList &list = schedule.ranks[rank];
    size_t begin = ranks[rank].next;
    return ArrayRef(list).slice(
        begin,
        begin == list.size() ? 0 : Schedule::groupEnd(list, begin) - begin);
  }
  const DataFlow::Port *missingInput(Step step) const {
    for (const DataFlow::Port &input : flow.inputs(step))
      if (!there[flow.datum(input, step.unit())])
        return &input;
    return nullptr;
  }

  FailureOr<std::vector<StepList>> finish(DiagEngine &diags) {
    std::vector<size_t> heads;
    std::vector<StepList> lists;
    bool done = true;
    for (auto [self, list] : zip_equal(ranks, schedule.ranks)) {
      heads.push_back(self.next);
      done &= self.next == list.size();
      self.out.insert(self.out.end(), list.begin() + self.at, list.end());
      lists.push_back(std::move(self.out));
    }
    if (!done)
      return reportBlocked(
          schedule, flow, heads, [&](Step step) { return missingInput(step); },
          diags);
    return lists;
  }

  const Schedule &schedule;
  const TickCosts &costs;
  const Patience patience;
  DataFlow flow;
  EdgeNumbers numbers;
  std::vector<Queue> queues;
  /// By datum, whether it is on the rank of its consumer.
  std::vector<bool> there;
  std::vector<RankState> ranks;
  /// The ends of steps and transfers, and the ranks that have one now.
  using Event = std::pair<int64_t, unsigned>;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
  int64_t now = 0;
  std::vector<unsigned> arrived;
  std::vector<Possible> possible;
  /// The round in which each rank was last considered.
  std::vector<uint32_t> seen;
  uint32_t round = 0;
};

} // namespace

/// The lists of `order=column`, of aligned lists if `schedule` has no bubbles;
/// empty if they do not exist.
static std::optional<std::vector<StepList>>
placeInSlots(const Schedule &schedule, DiagEngine &silent) {
  constexpr uint32_t bubbles = step_facts::bit(StepKind::Bubble);
  bool isAligned = schedule.has(bubbles);
  Schedule aligned = schedule;
  if (!isAligned &&
      failed(runAlignBubbles(aligned, {.mode = AlignMode::Lockstep}, silent)))
    return std::nullopt;
  FailureOr<std::vector<StepList>> lists = placeP2PInColumns(aligned, silent);
  if (failed(lists))
    return std::nullopt;
  aligned.ranks = std::move(*lists);
  if (!isAligned)
    removeSteps(aligned, bubbles);
  return std::move(aligned.ranks);
}

namespace {

/// The fastest lists so far under blocking sends; the first of several.
class FastestLists {
public:
  explicit FastestLists(const Schedule &schedule)
      : tried{static_cast<const ScheduleHeader &>(schedule)} {}

  LogicalResult add(std::vector<StepList> lists, DiagEngine &diags) {
    tried.ranks = std::move(lists);
    auto run = simulate(tried, WaitModel::BlockingSends, diags);
    if (failed(run))
      return failure();
    if (best.empty() || run->makespan() < bestTime) {
      bestTime = run->makespan();
      best = std::move(tried.ranks);
    }
    return success();
  }

  std::vector<StepList> best;

private:
  Schedule tried;
  int64_t bestTime = 0;
};

} // namespace

FailureOr<std::vector<StepList>>
placeP2PForBlockingSends(const Schedule &schedule, DiagEngine &diags) {
  if (failed(checkResults(schedule, diags)))
    return failure();
  FailureOr<TickCosts> costs = TickCosts::make(schedule, diags);
  if (failed(costs))
    return failure();

  FastestLists fastest(schedule);
  DiagEngine silent(diags.sourceFiles(), [](const Diagnostic &) {});
  if (auto lists = placeInSlots(schedule, silent))
    (void)fastest.add(std::move(*lists), silent);
  Schedule plain = schedule;
  removeSteps(plain, step_facts::bit(StepKind::Bubble));
  for (Patience patience : patiences) {
    auto lists = MeetingRun(plain, *costs, patience).run(diags);
    if (failed(lists) || failed(fastest.add(std::move(*lists), diags)))
      return failure();
  }
  for (auto lists : {placeP2PInRounds(plain, diags),
                     placeP2PInTime(plain, InsertP2POptions(),
                                    WaitModel::Stream, diags)})
    if (failed(lists) || failed(fastest.add(std::move(*lists), diags)))
      return failure();
  return std::move(fastest.best);
}

} // namespace pipec
