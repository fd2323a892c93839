//===- Steps.h - The steps that generated code runs -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef PIPEC_RUNTIME_STEPS_H
#define PIPEC_RUNTIME_STEPS_H

#include <cstdint>
#include <string>

namespace pipec::runtime {

/// The kind of a step. `BackwardInput` and `BackwardWeight` are the two halves
/// of a `Backward`; a transfer is named for the stage that owns it, and the
/// wait for a send as that send. `Recompute` runs a `Forward` again, `Offload`
/// and `Reload` copy the activation of a unit, and `Update` is the optimizer
/// step of a stage.
enum class StepKind : std::uint8_t {
  Forward,
  Backward,
  BackwardInput,
  BackwardWeight,
  Recompute,
  SendForward,
  RecvForward,
  SendBackward,
  RecvBackward,
  Unshard,
  Reshard,
  ReduceGrad,
  WaitSendForward,
  WaitSendBackward,
  WaitReduceGrad,
  ReduceTied,
  Offload,
  WaitOffload,
  Reload,
  Update,
};

inline constexpr int numStepKinds = 20;

/// The name that schedules, CSV files and messages use: `F`, `SEND_B`, ...
constexpr const char *stepName(StepKind kind) {
  constexpr const char *names[numStepKinds] = {
      "F",           "B",           "I",
      "W",           "R",           "SEND_F",
      "RECV_F",      "SEND_B",      "RECV_B",
      "UNSHARD",     "RESHARD",     "REDUCE_GRAD",
      "WAIT_SEND_F", "WAIT_SEND_B", "WAIT_REDUCE_GRAD",
      "REDUCE_TIED", "OFFLOAD",     "WAIT_OFFLOAD",
      "RELOAD",      "UPDATE",
  };
  return names[int(kind)];
}

/// A step that computes for a unit, and may be a member of an overlap.
constexpr bool isCompute(StepKind kind) { return kind <= StepKind::Recompute; }
constexpr bool isTransfer(StepKind kind) {
  return kind >= StepKind::SendForward && kind <= StepKind::RecvBackward;
}
constexpr bool isSend(StepKind kind) {
  return kind == StepKind::SendForward || kind == StepKind::SendBackward;
}
/// A step that waits for an earlier send of its rank.
constexpr bool isSendWait(StepKind kind) {
  return kind == StepKind::WaitSendForward ||
         kind == StepKind::WaitSendBackward;
}
/// A copy to the host or from it, or the wait for one.
constexpr bool isCopy(StepKind kind) {
  return kind >= StepKind::Offload && kind <= StepKind::Reload;
}
constexpr bool hasMicrobatch(StepKind kind) {
  return kind <= StepKind::RecvBackward || isSendWait(kind) || isCopy(kind);
}

/// One row of a table of steps.
struct Step {
  StepKind kind;
  /// Of a REDUCE_TIED, the number of its group.
  int stage;
  /// Its unit, a micro-batch or a slice of one (Schedule.h); 0 for the steps
  /// that carry none.
  int unit;
  /// The line of the schedule's source, 0 when unknown.
  int line = 0;
  /// Runs together with the next row: computes as one overlap, transfers as
  /// one batch.
  bool joined = false;
  /// Of a transfer, or a wait for a send, in a graph of stages: the stage at
  /// the other end. -1: the next stage or, of a RECV_F and a SEND_B, the one
  /// before.
  int other = -1;
};

/// A step as a value whose type is its kind: the members of an overlap or a
/// batch in generated code.
template <StepKind K> struct Member {
  int stage;
  int unit;
  int other = -1;
  constexpr operator Step() const { return {K, stage, unit, 0, false, other}; }
};

using Forward = Member<StepKind::Forward>;
using Backward = Member<StepKind::Backward>;
using BackwardInput = Member<StepKind::BackwardInput>;
using BackwardWeight = Member<StepKind::BackwardWeight>;
using Recompute = Member<StepKind::Recompute>;
using SendForward = Member<StepKind::SendForward>;
using RecvForward = Member<StepKind::RecvForward>;
using SendBackward = Member<StepKind::SendBackward>;
using RecvBackward = Member<StepKind::RecvBackward>;

/// The stage at the other end of a transfer on an edge of a chain.
constexpr int neighbourOf(StepKind kind, int stage) {
  bool next = kind == StepKind::SendForward || kind == StepKind::RecvBackward ||
              kind == StepKind::WaitSendForward;
  return next ? stage + 1 : stage - 1;
}

/// `F s0 m3`, `UNSHARD s2`, `REDUCE_TIED t0`, `SEND_F s0 m3`; `SEND_F s0 m3 ->
/// s2` where the stage at the other end is not the neighbour. With slices, `F
/// s0 m3.1`.
inline std::string stepText(StepKind kind, int stage, int unit, int other = -1,
                            int slices = 1) {
  std::string text = stepName(kind);
  text += (kind == StepKind::ReduceTied ? " t" : " s") + std::to_string(stage);
  if (hasMicrobatch(kind))
    text += " m" + std::to_string(unit / slices);
  if (hasMicrobatch(kind) && slices > 1)
    text += "." + std::to_string(unit % slices);
  if (other >= 0 && other != neighbourOf(kind, stage))
    text += (isTransfer(kind) && !isSend(kind) ? " <- s" : " -> s") +
            std::to_string(other);
  return text;
}
inline std::string stepText(const Step &step, int slices = 1) {
  return stepText(step.kind, step.stage, step.unit, step.other, slices);
}

} // namespace pipec::runtime

#endif // PIPEC_RUNTIME_STEPS_H
