//===- WaitEngine.h - Running the communication model -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The engine of `Waiting` (without times) and of the simulation under a model:
// it executes every event that can happen. Events only enable further events,
// so the order of execution does not affect the outcome, and the time of an
// event is the latest time of the events it waits for. Two work lists suffice:
// ranks that can continue, and P2P steps (or batches) that can start.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "IR/TiedSums.h"
#include "Waiting/WaitState.h"

#include <algorithm>
#include <vector>

namespace pipec {

/// The clock of a run without times.
struct NoTime {
  static constexpr bool timed = false;
  static constexpr bool waitsForResources = false;
};

/// A gate for runs in which every rank continues as soon as it can. Gates can
/// hold ranks:
///   // True if `rank` may continue at the group that begins at `at`;
///   // `isOver(number)` tells whether a posted send is complete.
///   bool mayPass(unsigned rank, size_t at, IsOver isOver)
///   // The number of the send that holds a rank; `none` if there is none.
///   uint32_t awaits(unsigned rank)
struct NoGate {
  static constexpr bool gates = false;
};

/// Runs `schedule` under `model`. `Time` is `NoTime`, or provides durations:
///   int64_t duration(ArrayRef<Step> list, size_t begin, size_t end)
///   int64_t hop(unsigned from, unsigned to, function_ref<Step()> send)
/// With `waitsForResources`, it also has the `streams` and `edges` of
/// Resources.h. It receives the start of each step in `std::vector<int64_t>
/// starts`, which has one zero per step at first, and the end of each rank in
/// `rankEnds`.
template <typename Time, typename Gate = NoGate> class WaitEngine {
public:
  static constexpr uint32_t none = StepNumbers::none;
  using Flag = WaitState::Flag;

  using GateRef = std::conditional_t<Gate::gates, Gate &, Gate>;
  WaitEngine(const Schedule &schedule, const Transfers &transfers,
             CommModel model, Time &time, GateRef gate = GateRef())
      : schedule(schedule), transfers(transfers), model(std::move(model)),
        time(time), gate(gate) {
    buffered = this->model == WaitModel::Buffered;
    holds = waitModelInfo(this->model.kind()).holds;
    if (TiedSums::isNeeded(schedule))
      sums.emplace(schedule);
  }

  /// Limits the buffered sends of each directed edge whose receives have not
  /// started. A further one is complete when an earlier receive starts.
  void limitBuffers(uint32_t limit) { buffers.limit = limit; }

  WaitState run() {
    start();
    return std::move(state);
  }

  /// Runs until no further event can happen.
  void start() {
    state = WaitState(schedule, transfers, model);
    groupBegin.assign(schedule.numRanks, 0);
    rankTime.assign(schedule.numRanks, 0);
    hostTime.assign(schedule.numRanks, -1);
    if (Time::timed && buffered && transfers.hasSendWaits())
      state.postTimes.assign(transfers.numbers().size(), 0);
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
      resume(rank);
  }
  /// Continues the run after `rank` may have become able to continue.
  void resume(unsigned rank) {
    advance(rank);
    drain();
  }

private:
  struct Started {
    uint32_t step;
    uint32_t rank;
  };

  const Step &stepAt(unsigned rank, uint32_t step) const {
    return schedule.ranks[rank][step - transfers.numbers().begin(rank)];
  }
  WaitState::Batch *batch(uint32_t step) {
    return const_cast<WaitState::Batch *>(state.batch(step));
  }

  /// The rank at the other end of a P2P step that has a peer.
  unsigned peerOf(Step step) const {
    return transfers.flow().transfer(step)->rank;
  }
  bool hasPeer(Step step) const { return transfers.flow().transfer(step); }

  void holdUntil(unsigned rank, int64_t end) {
    rankTime[rank] = std::max(rankTime[rank], end);
  }

  /// Runs the list of the rank until it has to wait.
  void advance(unsigned rank) {
    const StepList &list = schedule.ranks[rank];
    uint32_t base = transfers.numbers().begin(rank);
    uint32_t &at = state.at[rank];
    while (at != list.size()) {
      if constexpr (Gate::gates)
        if (groupBegin[rank] == at &&
            !gate.mayPass(rank, at,
                          [&](uint32_t send) { return isOver(rank, send); }))
          return;
      Step step = list[at];
      if (isP2P(step.kind())) {
        uint32_t end = uint32_t(Schedule::groupEnd(list, at));
        if (!state.has(base + at, Flag::Posted))
          post(rank, base + at, base + end);
        if (holdsRank(holds, list, at) &&
            !passTransfers(rank, base + at, base + end))
          return;
        at = end;
      } else if (isCompute(step.kind())) {
        if constexpr (Time::waitsForResources) {
          if (time.streams->sides && hostTime[rank] < 0)
            hostTime[rank] = rankTime[rank];
          holdUntil(rank, time.streams->needs(rank, step));
        }
        if (LLVM_UNLIKELY(step.kind() == StepKind::Update) && sums) {
          std::optional<int64_t> over = sums->end(rank, step.stage());
          if (!over)
            return;
          holdUntil(rank, *over);
        }
        for (uint32_t input : transfers.receives(base + at)) {
          if (!state.has(input, Flag::Complete))
            return;
          if constexpr (Time::timed)
            holdUntil(rank, endOf(rank, input));
        }
        ++at;
        if (!step.joined())
          finishCompute(rank, list, base);
        else
          continue;
      } else {
        if (isSendWait(step.kind()) && !passSendWait(rank, base + at))
          return;
        if constexpr (Time::waitsForResources)
          holdUntil(rank, time.streams->needs(rank, step));
        if constexpr (Time::timed)
          time.starts[base + at] = rankTime[rank];
        if constexpr (Time::waitsForResources)
          if (isPosted(step.kind()))
            time.starts[base + at] =
                time.streams->post(rank, step, rankTime[rank]);
        ++at;
        if (sums && step.stream() == Stream::Tied)
          postSum(rank, step, base + at - 1);
      }
      groupBegin[rank] = at;
    }
    if constexpr (Time::timed)
      time.rankEnds[rank] = rankTime[rank];
  }

  /// Posts a REDUCE_TIED and continues the ranks that can then go on.
  void postSum(unsigned rank, Step step, uint32_t number) {
    int64_t start = 0, duration = 0;
    if constexpr (Time::timed) {
      start = time.starts[number];
      duration = time.reduceTied();
    }
    sums->post(rank, step.stage(), start, duration);
    llvm::append_range(runnable, sums->takeReleased());
  }

  /// Returns false if `rank`, which has posted a step or the batch [begin,
  /// end), has to wait there because it is not complete.
  bool passTransfers(unsigned rank, uint32_t begin, uint32_t end) {
    for (uint32_t step = begin; step != end; ++step)
      if (!state.has(step, Flag::Complete))
        return false;
    if constexpr (Time::timed)
      if (end - begin > 1 || transfers.other(begin) != none)
        holdUntil(rank, endOf(rank, begin));
    return true;
  }

  /// Returns false if `rank`, which has reached `wait`, has to wait there
  /// because the send, or another member of its batch, is not complete. A
  /// buffered send is complete as soon as it starts; for it, the rank also
  /// waits until the other rank has posted the receive. A wait for a send that
  /// the rank does not have is ignored.
  bool passSendWait(unsigned rank, uint32_t wait) {
    uint32_t send = transfers.other(wait);
    if (send == none)
      return true;
    if (!isOver(rank, send))
      return false;
    if constexpr (Time::timed)
      holdUntil(rank, overAt(rank, send));
    return true;
  }

  /// True if a wait for `send`, a step of `rank`, would not block.
  bool isOver(unsigned rank, uint32_t send) const {
    if (!state.has(send, Flag::Complete))
      return false;
    if (!buffered)
      return true;
    auto [begin, end] = state.members(send);
    for (uint32_t member = begin; member != end; ++member) {
      Step step = stepAt(rank, member);
      uint32_t receive = transfers.other(member);
      if (isSend(step.kind()) && hasPeer(step) &&
          (receive == none || !state.has(receive, Flag::Posted)))
        return false;
    }
    return true;
  }

  /// The time from which on it would not block.
  int64_t overAt(unsigned rank, uint32_t send) const {
    auto [begin, end] = state.members(send);
    int64_t over = hasPeer(stepAt(rank, send)) ? endOf(rank, send) : 0;
    for (uint32_t member = begin; member != end && buffered; ++member)
      if (isSend(stepAt(rank, member).kind()) &&
          transfers.other(member) != none)
        over = std::max(over, state.postTimes[transfers.other(member)]);
    return over;
  }

  /// Continues the rank that may be waiting for `receive` to be posted.
  void wakeSender(Step step, uint32_t receive) {
    uint32_t send = transfers.other(receive);
    if (send == none)
      return;
    unsigned peer = peerOf(step);
    uint32_t awaited = awaitedSend(peer);
    if (awaited == none)
      return;
    auto [begin, end] = state.members(awaited);
    if (send >= begin && send < end)
      runnable.push_back(peer);
  }

  /// The send that `rank` waits for; `none` if there is none.
  uint32_t awaitedSend(unsigned rank) const {
    if constexpr (Gate::gates)
      if (uint32_t send = gate.awaits(rank); send != none)
        return send;
    uint32_t at = state.at[rank];
    if (at == schedule.ranks[rank].size() ||
        !isSendWait(schedule.ranks[rank][at].kind()))
      return none;
    return transfers.other(transfers.numbers().of(rank, at));
  }

  void finishCompute(unsigned rank, const StepList &list, uint32_t base) {
    if constexpr (Time::timed) {
      uint32_t begin = groupBegin[rank], end = state.at[rank];
      int64_t start = rankTime[rank];
      int64_t duration = time.duration(list, begin, end);
      rankTime[rank] += duration;
      if constexpr (Time::waitsForResources)
        if (auto &sides = time.streams->sides) {
          // The rank continues at once.
          int64_t host = std::exchange(hostTime[rank], -1);
          if (sides->of(list, begin)) {
            start = sides->run(rank, begin, end, start, duration);
            rankTime[rank] = host;
          }
        }
      for (uint32_t i = begin; i != end; ++i)
        time.starts[base + i] = start;
    }
  }

  void post(unsigned rank, uint32_t begin, uint32_t end) {
    bool wakes = buffered && (Gate::gates || transfers.hasSendWaits());
    for (uint32_t step = begin; step != end; ++step) {
      state.flags[step] |= Flag::Posted;
      if (!wakes)
        continue;
      if constexpr (Time::timed)
        if (!state.postTimes.empty())
          state.postTimes[step] = rankTime[rank];
      Step self = stepAt(rank, step);
      if (isRecv(self.kind()) && hasPeer(self))
        wakeSender(self, step);
    }
    if constexpr (Time::timed)
      time.starts[begin] = std::max(time.starts[begin], rankTime[rank]);
    if constexpr (Time::waitsForResources)
      if (time.streams->sides)
        for (uint32_t step = begin; step != end; ++step)
          time.starts[begin] =
              std::max(time.starts[begin],
                       time.streams->sides->needs(rank, stepAt(rank, step)));
    if (WaitState::Batch *group = batch(begin)) {
      if (--group->behind == 0 && group->open)
        ready.push_back({begin, rank});
    } else if (state.has(begin, Flag::AtHead)) {
      ready.push_back({begin, rank});
    }
  }

  void drain() {
    while (!ready.empty() || !runnable.empty()) {
      if (!ready.empty()) {
        Started next = ready.back();
        ready.pop_back();
        start(next.rank, next.step);
      } else {
        unsigned rank = runnable.back();
        runnable.pop_back();
        advance(rank);
      }
    }
  }

  /// Starts a step, or all members of its batch.
  void start(unsigned rank, uint32_t begin) {
    uint32_t end = state.members(begin).second;
    for (uint32_t step = begin; step != end; ++step) {
      state.flags[step] |= Flag::Started;
      if constexpr (Time::timed)
        time.starts[step] = time.starts[begin];
    }
    for (uint32_t step = begin; step != end; ++step) {
      if (state.flags[step] & (Flag::Met | Flag::Complete))
        continue;
      Step self = stepAt(rank, step);
      uint32_t other = transfers.other(step);
      bool otherStarted = other != none && state.has(other, Flag::Started);
      if constexpr (Time::waitsForResources)
        takeEdge(rank, step, otherStarted);
      bool isFreed = buffers.isLimited() && otherStarted && buffered &&
                     state.has(other, Flag::Met);
      if (otherStarted || (buffered && isSend(self.kind()) &&
                           (!buffers.isLimited() || takeBuffer(rank, step))))
        meet(rank, step);
      if (otherStarted && !state.has(other, Flag::Met))
        meet(peerOf(self), other);
      if (LLVM_UNLIKELY(isFreed))
        freeBuffer(peerOf(self), rank);
    }
  }

  static uint64_t edgeKey(unsigned from, unsigned to) {
    return uint64_t(from) << 32 | to;
  }
  /// True if a started send is complete at once. Otherwise it waits for a
  /// buffer; it is the only one of its edge that does.
  LLVM_ATTRIBUTE_NOINLINE bool takeBuffer(unsigned rank, uint32_t send) {
    auto &edge = buffers.edges[edgeKey(rank, peerOf(stepAt(rank, send)))];
    if (edge.used == buffers.limit) {
      edge.waiting = send;
      return false;
    }
    ++edge.used;
    return true;
  }
  /// Called when the receive of a buffered send starts.
  LLVM_ATTRIBUTE_NOINLINE void freeBuffer(unsigned from, unsigned to) {
    auto &edge = buffers.edges[edgeKey(from, to)];
    --edge.used;
    uint32_t send = std::exchange(edge.waiting, none);
    if (send == none || state.has(send, Flag::Met))
      return;
    ++edge.used;
    meet(from, send);
  }

  /// Puts the transfer of `step`, which has started, on its edge if nothing
  /// else delays it. The transfers of an edge are handled in the order in which
  /// they match: those of one queue start one after the other, those of one
  /// batch are handled in the order of the list.
  void takeEdge(unsigned rank, uint32_t step, bool otherStarted) {
    bool send = isSend(stepAt(rank, step).kind());
    if (buffered ? !send : !otherStarted)
      return;
    unsigned peer = peerOf(stepAt(rank, step));
    uint32_t other = transfers.other(step);
    int64_t &sent = time.starts[send ? step : other];
    unsigned from = send ? rank : peer, to = send ? peer : rank;
    // A send that waits for its edge starts when the edge is free.
    sent = std::max(sent, time.edges->freeAt(from, to));
    time.edges->take(
        from, to,
        buffered ? sent : std::max(time.starts[step], time.starts[other]));
  }

  /// Called when the other end of `step` has started too.
  void meet(unsigned rank, uint32_t step) {
    state.flags[step] |= Flag::Met;
    --state.incomplete;
    WaitState::Batch *group = batch(step);
    if (!group) {
      complete(rank, step);
      return;
    }
    if constexpr (Time::timed)
      group->time = std::max(group->time, transferEnd(rank, step));
    if (--group->open)
      return;
    for (uint32_t member = group->begin; member != group->end; ++member)
      complete(rank, member);
  }

  void complete(unsigned rank, uint32_t step) {
    if (state.has(step, Flag::Complete))
      return;
    state.flags[step] |= Flag::Complete;
    uint32_t after = state.next[step];
    if (after != none && state.has(after, Flag::Entry))
      moveToHead(rank, after, step);
    uint32_t at = state.at[rank];
    if (at == schedule.ranks[rank].size())
      return;
    bool isAwaited =
        isCompute(schedule.ranks[rank][at].kind()) &&
        llvm::is_contained(transfers.receives(transfers.numbers().of(rank, at)),
                           step);
    // Only a step that holds its rank is complete before the rank has passed.
    bool holds = state.members(step).first == transfers.numbers().of(rank, at);
    if (isAwaited || holds || awaitedSend(rank) == step)
      runnable.push_back(rank);
  }

  void moveToHead(unsigned rank, uint32_t step, uint32_t before) {
    state.flags[step] |= Flag::AtHead;
    WaitState::Batch *group = batch(step);
    uint32_t begin = group ? group->begin : step;
    if constexpr (Time::timed)
      time.starts[begin] = std::max(time.starts[begin], endOf(rank, before));
    if (group ? --group->behind == 0 : state.has(step, Flag::Posted))
      ready.push_back({begin, rank});
  }

  /// When the transfer of a matched step ends for its rank.
  int64_t transferEnd(unsigned rank, uint32_t step) const {
    Step self = stepAt(rank, step);
    int64_t own = time.starts[step];
    if (buffered && isSend(self.kind()))
      return own;
    unsigned peer = peerOf(self);
    uint32_t other = transfers.other(step);
    int64_t hop =
        isSend(self.kind())
            ? time.hop(rank, peer, [&] { return self; })
            : time.hop(peer, rank, [&] { return stepAt(peer, other); });
    int64_t others = time.starts[other];
    if (buffered)
      return std::max(own, others + hop);
    return std::max(own, others) + hop;
  }

  /// When a complete step, or its batch, was completed.
  int64_t endOf(unsigned rank, uint32_t step) const {
    if (const WaitState::Batch *group = state.batch(step))
      return group->time;
    return transferEnd(rank, step);
  }

  const Schedule &schedule;
  const Transfers &transfers;
  CommModel model;
  /// Facts of the model that are asked for every step.
  bool buffered;
  WaitHolds holds;
  Time &time;
  GateRef gate;
  WaitState state;
  /// What an UPDATE waits for.
  std::optional<TiedSums> sums;
  /// The start of the current overlap or step of each rank.
  std::vector<uint32_t> groupBegin;
  std::vector<int64_t> rankTime;
  /// When each rank continues after its current compute step if that is posted;
  /// -1 if it is not at one.
  std::vector<int64_t> hostTime;
  struct Buffers {
    struct Edge {
      uint32_t used = 0;
      uint32_t waiting = none;
    };
    bool isLimited() const { return limit != none; }
    uint32_t limit = none;
    llvm::DenseMap<uint64_t, Edge> edges;
  };
  Buffers buffers;
  // SmallVector inlines push_back; std::vector does not.
  llvm::SmallVector<Started, 16> ready;
  llvm::SmallVector<uint32_t, 16> runnable;
};

} // namespace pipec
