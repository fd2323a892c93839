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
inline bool isFsdp(StepKind kind) {
  return kind >= StepKind::Unshard && kind <= StepKind::ReduceGrad;
}
/// B or I: the step that makes the gradient of the stage's input.
inline bool makesInputGradient(StepKind kind) {
  return kind == StepKind::B || kind == StepKind::I;
}
/// B or W: the step that makes the gradient of the stage's weights.
inline bool makesWeightGradient(StepKind kind) {
  return kind == StepKind::B || kind == StepKind::W;
}
inline bool hasMicrobatch(StepKind kind) { return kind <= StepKind::RecvB; }
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
      : packedKind(unsigned(kind)), packedJoined(joined), packedStage(stage),
        packedMicrobatch(microbatch), packedPhase(phase), where(source) {
    assert(stage < maxStages && microbatch < maxMicrobatches &&
           phase < maxPhases);
  }

  StepKind kind() const { return StepKind(packedKind); }
  /// Place in the model, 0-based; 0 for a bubble.
  unsigned stage() const { return packedStage; }
  /// 0-based; 0 for steps that carry none.
  unsigned microbatch() const { return packedMicrobatch; }
  /// Index into `Schedule::phases`.
  unsigned phase() const { return packedPhase; }
  /// Runs together with the next step of the list.
  bool joined() const { return packedJoined; }
  /// The statement, line or cell that the step comes from.
  SourceLoc source() const { return where; }

  void setKind(StepKind kind) { packedKind = unsigned(kind); }
  void setJoined(bool joined) { packedJoined = joined; }
  void setPhase(unsigned phase) { packedPhase = phase; }
  void setSource(SourceLoc source) { where = source; }

  /// Same kind, stage, micro-batch and place in a group; phase and source are
  /// not compared.
  bool sameAction(const Step &other) const {
    return packedKind == other.packedKind &&
           packedJoined == other.packedJoined &&
           packedStage == other.packedStage &&
           packedMicrobatch == other.packedMicrobatch;
  }

private:
  uint32_t packedKind : 4 = unsigned(StepKind::Bubble);
  uint32_t packedJoined : 1 = 0;
  uint32_t packedStage : 16 = 0;
  uint32_t packedMicrobatch : 24 = 0;
  uint32_t packedPhase : 8 = 0;
  SourceLoc where;
};

static_assert(sizeof(Step) == 12, "a step is 12 bytes");

} // namespace pipec

#endif // PIPEC_IR_STEP_H
