//===- StepKind.h - The kinds of steps and their limits -*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_COST_STEPKIND_H
#define PIPEC_COST_STEPKIND_H

#include "llvm/ADT/StringRef.h"

#include <cassert>
#include <cstdint>
#include <optional>

namespace pipec {

enum class StepKind : uint8_t {
#define PIPEC_STEP(Id, Text) Id,
#include "Cost/Steps.def"
};

/// For tables by kind.
inline constexpr unsigned numStepKinds = unsigned(StepKind::Bubble) + 1;

/// The name of a kind in step IR, CSV and messages.
llvm::StringRef stepKindName(StepKind kind);
/// The kind of that name, nothing when there is none.
std::optional<StepKind> parseStepKind(llvm::StringRef name);

inline bool isCompute(StepKind kind) { return kind <= StepKind::W; }
inline bool isP2P(StepKind kind) {
  return kind >= StepKind::SendF && kind <= StepKind::RecvB;
}
inline bool isSend(StepKind kind) {
  return kind == StepKind::SendF || kind == StepKind::SendB;
}
inline bool isRecv(StepKind kind) {
  return kind == StepKind::RecvF || kind == StepKind::RecvB;
}
/// Waits until an earlier send of its rank is complete.
inline bool isSendWait(StepKind kind) {
  return kind == StepKind::WaitSendF || kind == StepKind::WaitSendB;
}
/// A collective of FSDP; the wait for one is not one.
inline bool isFsdp(StepKind kind) {
  return kind >= StepKind::Unshard && kind <= StepKind::ReduceGrad;
}
/// Does no work and takes no time: waits for what an earlier step of its rank
/// started.
inline bool isWait(StepKind kind) {
  return isSendWait(kind) || kind == StepKind::WaitReduceGrad;
}
/// The kind of the send that a WAIT_SEND waits for.
inline StepKind sendOfWait(StepKind wait) {
  assert(isSendWait(wait));
  return wait == StepKind::WaitSendF ? StepKind::SendF : StepKind::SendB;
}
/// The kind of the wait for a send.
inline StepKind waitOfSend(StepKind send) {
  assert(isSend(send));
  return send == StepKind::SendF ? StepKind::WaitSendF : StepKind::WaitSendB;
}
/// B or I: the step that makes the gradient of the stage's input.
inline bool makesInputGradient(StepKind kind) {
  return kind == StepKind::B || kind == StepKind::I;
}
/// B or W: the step that makes the gradient of the stage's weights.
inline bool makesWeightGradient(StepKind kind) {
  return kind == StepKind::B || kind == StepKind::W;
}
inline bool hasMicrobatch(StepKind kind) { return kind <= StepKind::WaitSendB; }
inline bool hasStage(StepKind kind) { return kind < StepKind::Bubble; }

/// Limits of the sizes of a schedule: those of a packed step (IR/Step.h).
inline constexpr unsigned maxStages = 1u << 16;
inline constexpr unsigned maxMicrobatches = 1u << 24;
/// No field of a step holds a rank; a map of `maxStages` entries names no more.
inline constexpr unsigned maxRanks = 1u << 16;

} // namespace pipec

#endif // PIPEC_COST_STEPKIND_H
