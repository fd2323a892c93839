//===- ExecutorOverlap.h - Overlaps -----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Part of Executor.h. Where the model decides when a member of an overlap
// begins and ends, its `proceed` is that of a compute step: begin, compute,
// end. Otherwise an overlap begins all members, computes all, and ends all.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_RUNTIME_EXECUTOROVERLAP_H
#define PIPEC_RUNTIME_EXECUTOROVERLAP_H

#include "pipec/runtime/Executor.h"

namespace pipec::runtime {

/// The model runs overlaps, after the inputs of all members have arrived.
template <class M>
concept ModelOverlaps = requires(M &model, std::span<StepContext<M>> members) {
  model.overlapped(members);
};

/// The model runs overlaps, and decides when each member begins.
template <class M>
concept ModelOverlapsByMember =
    !ModelOverlaps<M> &&
    requires(M &model, std::span<OverlapMember<M>> members) {
      model.overlapped(members);
    };

/// F, B or I: uses data of other stages, and makes data for others.
constexpr bool movesData(StepKind kind) {
  return kind <= StepKind::BackwardInput;
}

template <class M, class T>
void Executor<M, T>::runOverlap(std::span<const Step> members) {
  group.clear();
  for (const Step &member : members) {
    if (!isCompute(member.kind)) [[unlikely]]
      failStep(member.kind, member.stage, member.unit,
               "is in an overlap and not a compute step");
    withComputeKind(member.kind, [&](auto kind) {
      group.push_back(enterCompute<kind>(member.stage, member.unit));
    });
  }
  if constexpr (ModelOverlapsByMember<M>) {
    static constexpr typename Context::Actions actions = {
        proceedMember, isMemberReady, waitForMember, finishMember, sendMember};
    groupMembers.clear();
    for (Work &work : group) {
      static_cast<Context &>(groupMembers.emplace_back()) = contextOf(work);
      groupMembers.back().actions = &actions;
      groupMembers.back().state = &work;
    }
    callOverlapped(groupMembers);
    return;
  }
  for (Work &work : group)
    beginMember(work);
  if constexpr (ModelOverlaps<M>) {
    groupContexts.clear();
    for (const Work &work : group)
      groupContexts.push_back(contextOf(work));
    callOverlapped(groupContexts);
  } else {
    for (const Work &work : group) {
      publish(RankState::Running, work.kind, work.stage, work.unit);
      withComputeKind(work.kind, [&](auto kind) { compute<kind>(work); });
    }
  }
  for (const Work &work : group)
    withComputeKind(work.kind, [&](auto kind) { end<kind>(work); });
}

template <class M, class T> void Executor<M, T>::beginMember(Work &work) {
  // The transfers and copies that this waits for may fail.
  publish(RankState::Running, work.kind, work.stage, work.unit);
  withComputeKind(work.kind, [&](auto kind) { begin<kind>(work); });
}

template <class M, class T>
template <class Member>
void Executor<M, T>::callOverlapped(std::vector<Member> &members) {
  // The records of the members follow each other.
  std::size_t first = 0;
  if (options.trace) {
    first = options.trace->all().size();
    for (const Work &work : group)
      record(RankState::Running, work.kind, work.stage, work.unit);
  }
  model.overlapped(std::span<Member>(members));
  if constexpr (std::is_same_v<Member, OverlapMember<M>>)
    for (Member &member : members) {
      Work &work = *static_cast<Work *>(member.state);
      if (!work.begun)
        member.proceed();
      else if (!work.ended)
        member.finish();
    }
  // The first to begin is the last to end, so that slices nest.
  if (options.trace)
    for (std::size_t i = group.size(); i-- != 0;)
      options.trace->end(first + i);
}

//===----------------------------------------------------------------------===//
// Members that begin and end when the model says so
//===----------------------------------------------------------------------===//

template <class M, class T>
void Executor<M, T>::beginMember(Work &work, Context &member) {
  if (work.begun)
    return;
  work.begun = true;
  beginMember(work);
  static_cast<StepData<M> &>(member) = work;
}

template <class M, class T>
void Executor<M, T>::waitForMember(void *executor, Context &member) {
  Executor &self = *static_cast<Executor *>(executor);
  self.beginMember(*static_cast<Work *>(member.state), member);
}

template <class M, class T>
bool Executor<M, T>::isMemberReady(void *executor, Context &member) {
  Executor &self = *static_cast<Executor *>(executor);
  const Work &work = *static_cast<Work *>(member.state);
  if (work.begun || !movesData(work.kind))
    return true;
  bool isForward = work.kind == StepKind::Forward;
  int count = isForward ? work.books->inputs : work.books->targets;
  for (int i = 0; i != count; ++i) {
    Cell &port = self.portOf(*work.cell, i);
    Transfer *transfer =
        isForward ? port.forwardTransfer : port.backwardTransfer;
    if (transfer && !self.transport.test(transfer->request))
      return false;
  }
  return true;
}

template <class M, class T>
void Executor<M, T>::proceedMember(void *executor, Context &member) {
  Executor &self = *static_cast<Executor *>(executor);
  Work &work = *static_cast<Work *>(member.state);
  if (work.ended)
    self.failStep(work.kind, work.stage, work.unit, "has ended in its overlap");
  self.beginMember(work, member);
  proceedCompute(executor, member);
  finishMember(executor, member);
}

template <class M, class T>
void Executor<M, T>::finishMember(void *executor, Context &member) {
  Executor &self = *static_cast<Executor *>(executor);
  Work &work = *static_cast<Work *>(member.state);
  if (!work.begun || work.ended)
    self.failStep(work.kind, work.stage, work.unit,
                  work.ended ? "has ended in its overlap"
                             : "ends before its overlap has begun it");
  work.ended = true;
  withComputeKind(work.kind, [&](auto kind) { self.template end<kind>(work); });
}

/// Posts the sends of the member's results that other ranks need.
template <class M, class T>
void Executor<M, T>::sendMember(void *executor, Context &member) {
  Executor &self = *static_cast<Executor *>(executor);
  if (!movesData(member.kind))
    return;
  const Work &work = *static_cast<Work *>(member.state);
  bool isForward = member.kind == StepKind::Forward;
  int count = isForward ? work.books->targets : work.books->inputs;
  for (int i = 0; i != count; ++i) {
    EdgeEnd end =
        isForward ? self.targetOf(work.stage, i) : self.sourceOf(work.stage, i);
    Step step = {isForward ? StepKind::SendForward : StepKind::SendBackward,
                 member.stage,
                 member.unit,
                 0,
                 false,
                 end.stage};
    int peer = self.peerOf(step);
    if (peer == self.rank)
      continue;
    self.publish(RankState::Running, step.kind, step.stage, step.unit);
    Posted posted = self.sendNow(step, peer);
    self.early.push_back(step);
    self.settle(posted);
  }
}

/// At a send to `peer` while sends of overlaps are ahead of their steps: true
/// if it is one of them.
template <class M, class T>
bool Executor<M, T>::passEarly(const Step &send, int peer) {
  for (std::size_t i = 0; i != early.size(); ++i) {
    const Step &step = early[i];
    if (step.kind == send.kind && step.stage == send.stage &&
        step.unit == send.unit && otherOf(step) == otherOf(send)) {
      early.erase(early.begin() + std::ptrdiff_t(i));
      return true;
    }
    if (peerOf(step) == peer)
      failStep(send, ("comes before `" + textOf(step) +
                      "`, which an overlap has already sent to the same rank")
                         .c_str());
  }
  return false;
}

} // namespace pipec::runtime

#endif // PIPEC_RUNTIME_EXECUTOROVERLAP_H
