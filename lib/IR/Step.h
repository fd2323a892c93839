//===- Step.h - One step of one rank -----*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_IR_STEP_H
#define PIPEC_IR_STEP_H

#include "Support/SourceFiles.h"

#include "llvm/ADT/StringRef.h"

#include <cassert>
#include <cstdint>
#include <optional>

namespace pipec {

enum class StepKind : uint8_t {
#define PIPEC_STEP(Id, Text) Id,
#include "IR/Steps.def"
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
inline bool hasMicrobatch(StepKind kind) {
  return kind <= StepKind::WaitSendB;
}
inline bool hasStage(StepKind kind) { return kind < StepKind::Bubble; }

/// Limits of the packed form; each has a diagnostic where input can pass it.
inline constexpr unsigned maxStages = 1u << 16;
inline constexpr unsigned maxMicrobatches = 1u << 24;
inline constexpr unsigned maxPhases = 1u << 8;
/// No field of a step holds a rank; a map of `maxStages` entries names no more.
inline constexpr unsigned maxRanks = 1u << 16;

/// One step, in 12 bytes. Steps are values in one flat list a rank; a step that
/// is `joined` runs together with the next one of its list: compute steps so
/// joined are one overlap, P2P steps one batch.
class Step {
public:
  Step() = default;
  Step(StepKind kind, unsigned stage, unsigned microbatch, unsigned phase = 0,
       SourceLoc source = {}, bool joined = false)
      : what(unsigned(kind) | (joined ? joinedBit : 0) | stage << stageShift),
        which(microbatch | phase << phaseShift), where(source) {
    assert(stage < maxStages && microbatch < maxMicrobatches &&
           phase < maxPhases);
  }

  StepKind kind() const { return StepKind(what & kindMask); }
  /// Place in the model, 0-based; 0 for a bubble.
  unsigned stage() const { return what >> stageShift; }
  /// 0-based; 0 for steps that carry none.
  unsigned microbatch() const { return which & (maxMicrobatches - 1); }
  /// Index into `Schedule::phases`.
  unsigned phase() const { return which >> phaseShift; }
  /// Runs together with the next step of the list.
  bool joined() const { return what & joinedBit; }
  /// The statement, line or cell that the step comes from.
  SourceLoc source() const { return where; }

  void setKind(StepKind kind) { what = (what & ~kindMask) | unsigned(kind); }
  void setJoined(bool joined) {
    what = (what & ~joinedBit) | (joined ? joinedBit : 0);
  }
  void setPhase(unsigned phase) {
    which = (which & (maxMicrobatches - 1)) | phase << phaseShift;
  }
  void setSource(SourceLoc source) { where = source; }

  /// Same kind, stage, micro-batch and place in a group; phase and source are
  /// not compared.
  bool sameAction(const Step &other) const {
    return what == other.what && microbatch() == other.microbatch();
  }

private:
  // Shifts in place of bit-fields: those are written one after the other, each
  // by reading the memory that it goes to.
  static constexpr uint32_t kindMask = 15;
  static_assert(unsigned(StepKind::Bubble) <= kindMask, "a kind has 4 bits");
  static constexpr uint32_t joinedBit = 16;
  static constexpr unsigned stageShift = 5;
  static constexpr unsigned phaseShift = 24;

  uint32_t what = unsigned(StepKind::Bubble);
  uint32_t which = 0;
  SourceLoc where;
};

static_assert(sizeof(Step) == 12, "a step is 12 bytes");

/// A step of a schedule by its place: the rank and the index in that rank's
/// list. A default-constructed one is invalid: it refers to no step.
struct StepRef {
  uint32_t rank = ~0u;
  uint32_t index = 0;
  bool isValid() const { return rank != ~0u; }
  friend bool operator==(StepRef, StepRef) = default;
};

} // namespace pipec

#endif // PIPEC_IR_STEP_H
