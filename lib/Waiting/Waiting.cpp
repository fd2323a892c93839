//===- Waiting.cpp - The outcome under a communication model --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Waiting/Waiting.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

ArrayRef<WaitModel> mainWaitModels() {
  ArrayRef<WaitModel> all = allWaitModels;
  return all.take_while(
      [](WaitModel model) { return waitModelInfo(model).inAll; });
}

std::optional<WaitModel> parseWaitModel(StringRef name) {
  for (WaitModel model : allWaitModels)
    if (waitModelName(model) == name)
      return model;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Waiting
//===----------------------------------------------------------------------===//

Waiting::Waiting(const Schedule &schedule, const Transfers &transfers,
                 CommModel model)
    : theSchedule(schedule), transfers(transfers), waitModel(std::move(model)),
      meetings(schedule) {
  run(none);
}

Waiting::Waiting(const Schedule &schedule, const Transfers &transfers,
                 uint32_t buffers)
    : theSchedule(schedule), transfers(transfers),
      waitModel(WaitModel::Buffered), meetings(schedule) {
  run(buffers);
}

void Waiting::run(uint32_t buffers) {
  NoTime time;
  WaitEngine<NoTime> engine(theSchedule, transfers, waitModel, time);
  engine.limitBuffers(buffers);
  state = engine.run();
  if (!ends())
    findHeads();
}

bool Waiting::ends() const {
  if (state.incomplete || !meetings.allMeet())
    return false;
  for (unsigned rank = 0; rank != theSchedule.numRanks; ++rank)
    if (state.at[rank] != theSchedule.ranks[rank].size())
      return false;
  return true;
}

/// True for a P2P step that has been posted and is not complete.
bool Waiting::mayBlock(uint32_t step) const {
  return state.has(step, WaitState::Posted) &&
         !state.has(step, WaitState::Complete);
}

/// True for a REDUCE_TIED that the ranks of its group reach and can meet at.
bool Waiting::meets(uint32_t number) const {
  unsigned group = step(number).stage();
  return is_contained(meetings.order(), group) &&
         all_of(meetings.steps(group),
                [&](StepRef other) { return isPosted(other); });
}

bool Waiting::open(uint32_t number) const {
  StepRef at = numbers().at(number);
  if (step(number).stream() == Stream::Tied)
    return isPosted(at) &&
           theSchedule.holdsTied(at.rank, step(number).stage()) &&
           !meets(number);
  return mayBlock(number);
}

std::vector<unsigned> Waiting::blockedRanks() const {
  std::vector<unsigned> result;
  for (unsigned rank = 0; rank != theSchedule.numRanks; ++rank) {
    bool blocked = state.at[rank] != theSchedule.ranks[rank].size();
    for (uint32_t step = numbers().begin(rank);
         !blocked && step != numbers().end(rank); ++step)
      blocked = open(step);
    if (blocked)
      result.push_back(rank);
  }
  return result;
}

std::vector<uint32_t> Waiting::blockedSteps() const {
  std::vector<uint32_t> result;
  for (unsigned rank = 0; rank != theSchedule.numRanks; ++rank) {
    uint32_t base = numbers().begin(rank);
    const StepList &list = theSchedule.ranks[rank];
    uint32_t at = state.at[rank];
    // A rank may have stopped at transfers that it has posted.
    uint32_t posted = at;
    if (at != list.size() && isP2P(list[at].kind()))
      posted = uint32_t(Schedule::groupEnd(list, at));
    for (uint32_t i = 0; i != posted; ++i)
      if (i == at ||
          (mayBlock(base + i) && state.has(base + i, WaitState::AtHead)))
        result.push_back(base + i);
    if (StepRef head = meetings.head(rank); head.isValid() && isPosted(head))
      result.push_back(numbers().of(head));
    if (posted == at && at != list.size())
      result.push_back(base + at);
  }
  return result;
}

// Sets the head of every queue for the steps after it, by following the queue
// from each incomplete step at a head.
void Waiting::findHeads() {
  heads.assign(numbers().size(), none);
  for (uint32_t head = 0; head != numbers().size(); ++head) {
    if (!state.has(head, WaitState::AtHead) ||
        state.has(head, WaitState::Complete))
      continue;
    for (uint32_t step = state.next[head]; step != none;
         step = state.next[step])
      if (state.has(step, WaitState::Entry))
        heads[step] = head;
  }
}

void Waiting::forEachWait(uint32_t number,
                          function_ref<void(const WaitEdge &)> edge) const {
  StepRef place = numbers().at(number);
  Step self = theSchedule.ranks[place.rank][place.index];
  uint32_t other = transfers.other(number);
  if (isCompute(self.kind())) {
    if (place.index != state.at[place.rank])
      return;
    if (self.kind() == StepKind::Update)
      return forEachSumWait(number, edge);
    for (uint32_t receive : transfers.receives(number)) {
      if (!state.has(receive, WaitState::Posted))
        edge({number, WaitReason::Later, number, receive});
      else if (!state.has(receive, WaitState::Complete))
        edge({number, WaitReason::Input, receive, receive});
    }
    return;
  }
  if (isSendWait(self.kind())) {
    if (place.index == state.at[place.rank] && other != none)
      forEachSendWait(number, other, edge);
    return;
  }
  if (self.stream() == Stream::Tied)
    return forEachTiedWait(number, edge);
  auto [begin, end] = state.members(number);
  if (!mayBlock(number)) {
    // A rank may have stopped at a batch whose first member has no other end.
    if (place.index != state.at[place.rank])
      return;
    for (uint32_t member = begin; member != end; ++member)
      if (mayBlock(member) && !state.has(member, WaitState::Met))
        edge({number, WaitReason::Batch, member, member});
    return;
  }

  if (!state.has(number, WaitState::Started)) {
    for (uint32_t member = begin; member != end; ++member)
      if (heads[member] != none)
        edge({number, WaitReason::Queue, heads[member], heads[member]});
    return;
  }
  if (state.has(number, WaitState::Met)) {
    for (uint32_t member = begin; member != end; ++member)
      if (mayBlock(member) && !state.has(member, WaitState::Met))
        edge({number, WaitReason::Batch, member, member});
    return;
  }
  if (other == none)
    return;
  if (state.has(other, WaitState::Posted)) {
    edge({number, WaitReason::Start, other, other});
    return;
  }
  unsigned peer = numbers().rankOf(other);
  edge({number, WaitReason::Reach, numbers().of(peer, state.at[peer]), other});
}

// An UPDATE at which its rank has stopped waits for the REDUCE_TIED of its
// stage.
void Waiting::forEachSumWait(uint32_t number,
                             function_ref<void(const WaitEdge &)> edge) const {
  for (StepRef sum : meetings.stepsOf(numbers().rankOf(number))) {
    uint32_t tied = numbers().of(sum);
    if (!is_contained(theSchedule.ties[step(tied).stage()],
                      step(number).stage()))
      continue;
    if (!isPosted(sum))
      edge({number, WaitReason::Later, number, tied});
    else if (!meets(tied))
      edge({number, WaitReason::Input, tied, tied});
  }
}

// A REDUCE_TIED waits for its group on other ranks, or for the first
// REDUCE_TIED of its rank that does not meet.
void Waiting::forEachTiedWait(uint32_t number,
                              function_ref<void(const WaitEdge &)> edge) const {
  StepRef self = numbers().at(number);
  StepRef head = meetings.head(self.rank);
  if (!isPosted(self) || !head.isValid() || self.index < head.index)
    return;
  if (!(head == self)) {
    uint32_t first = numbers().of(head);
    return edge({number, WaitReason::Queue, first, first});
  }
  for (StepRef other : meetings.steps(step(number).stage())) {
    uint32_t partner = numbers().of(other);
    if (!isPosted(other))
      edge({number, WaitReason::Reach,
            numbers().of(other.rank, state.at[other.rank]), partner});
    else if (!(meetings.head(other.rank) == other))
      edge({number, WaitReason::Start, partner, partner});
  }
}

// The waits of a rank that has stopped at `wait`. If the send is complete, it
// is buffered, and only receives for its batch can be missing.
void Waiting::forEachSendWait(uint32_t wait, uint32_t send,
                              function_ref<void(const WaitEdge &)> edge) const {
  if (!state.has(send, WaitState::Posted))
    return edge({wait, WaitReason::Later, wait, send});
  if (!state.has(send, WaitState::Complete))
    return edge({wait, WaitReason::Send, send, send});
  auto [begin, end] = state.members(send);
  for (uint32_t member = begin; member != end; ++member) {
    uint32_t receive = transfers.other(member);
    if (!isSend(step(member).kind()) || receive == none ||
        state.has(receive, WaitState::Posted))
      continue;
    unsigned peer = numbers().rankOf(receive);
    edge({wait, WaitReason::Post, numbers().of(peer, state.at[peer]), receive});
  }
}

std::optional<uint32_t> neededBuffers(const Schedule &schedule,
                                      const Transfers &transfers) {
  if (!Waiting(schedule, transfers, WaitModel::Buffered).ends())
    return std::nullopt;
  auto ends = [&](uint32_t buffers) {
    return Waiting(schedule, transfers, buffers).ends();
  };
  if (ends(0))
    return 0;
  // It does not finish with `few` buffers.
  uint32_t few = 0, enough = 1;
  while (!ends(enough)) {
    few = enough;
    enough *= 2;
  }
  while (enough - few > 1) {
    uint32_t middle = few + (enough - few) / 2;
    (ends(middle) ? enough : few) = middle;
  }
  return enough;
}

WaitOutcomes endsUnder(const Schedule &schedule, const Transfers &transfers) {
  WaitOutcomes result;
  for (auto [index, model] : enumerate(allWaitModels)) {
    auto known = ArrayRef(allWaitModels).take_front(index);
    bool follows = any_of(known, [&, self = model](WaitModel other) {
      return result[other] && implies(other, self);
    });
    bool isRefuted = any_of(known, [&, self = model](WaitModel other) {
      return !result[other] && implies(self, other);
    });
    result[model] =
        follows || (!isRefuted && Waiting(schedule, transfers, model).ends());
  }
  return result;
}

} // namespace pipec
