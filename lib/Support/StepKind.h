//===- StepKind.h - The kinds of steps and their limits ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "llvm/ADT/StringRef.h"

#include <cassert>
#include <cstdint>
#include <optional>

namespace pipec {

enum class StepKind : uint8_t {
#define PIPEC_STEP(Id, Text) Id,
#include "Support/Steps.def"
};

/// The size of tables by kind.
inline constexpr unsigned numStepKinds = unsigned(StepKind::Bubble) + 1;

/// The kinds of data that steps produce, consume and transfer.
enum class DataKind : uint8_t {
  /// The output of a stage for a micro-batch, produced by an F.
  Activation,
  /// The gradient of a stage's input for a micro-batch, produced by a B or an
  /// I.
  Gradient,
  None,
};
inline constexpr unsigned numDataKinds = unsigned(DataKind::None) + 1;

/// The parts of the work of a stage on a micro-batch, each of which is done
/// exactly once. A B does two of them.
namespace StageWork {
enum Part : uint8_t { Forward = 1, InputGradient = 2, WeightGradient = 4 };
inline constexpr unsigned All = Forward | InputGradient | WeightGradient;
} // namespace StageWork

// The columns of Steps.def. A set of kinds is a mask whose bit K is the kind
// with value K.
namespace step_facts {
using namespace StageWork;
constexpr llvm::StringLiteral names[] = {
#define PIPEC_STEP(Id, Text) Text,
#include "Support/Steps.def"
};
constexpr uint32_t bit(StepKind kind) { return uint32_t(1) << unsigned(kind); }
constexpr uint32_t computes = 0
#define PIPEC_COMPUTE(Id, Text, Data, Work, Needs) | bit(StepKind::Id)
#include "Support/Steps.def"
    ;
constexpr uint32_t sends = 0
#define PIPEC_SEND(Id, Text, Data) | bit(StepKind::Id)
#include "Support/Steps.def"
    ;
constexpr uint32_t receives = 0
#define PIPEC_RECV(Id, Text, Data) | bit(StepKind::Id)
#include "Support/Steps.def"
    ;
constexpr uint32_t sendWaits = 0
#define PIPEC_SEND_WAIT(Id, Text, Data) | bit(StepKind::Id)
#include "Support/Steps.def"
    ;
constexpr uint32_t collectives = 0
#define PIPEC_FSDP(Id, Text, Data) | bit(StepKind::Id)
#include "Support/Steps.def"
    ;
constexpr uint32_t collectiveWaits = 0
#define PIPEC_FSDP_WAIT(Id, Text, Data) | bit(StepKind::Id)
#include "Support/Steps.def"
    ;
constexpr DataKind data[] = {
#define PIPEC_STEP_DATA(Id, Text, Data) DataKind::Data,
#include "Support/Steps.def"
};
/// By compute kind.
constexpr uint8_t work[] = {
#define PIPEC_COMPUTE(Id, Text, Data, Work, Needs) Work,
#include "Support/Steps.def"
};
constexpr uint8_t needs[] = {
#define PIPEC_COMPUTE(Id, Text, Data, Work, Needs) Needs,
#include "Support/Steps.def"
};
/// The computes that do at least one of `parts`.
constexpr uint32_t computesThatDo(unsigned parts) {
  uint32_t kinds = 0;
  for (unsigned kind = 0; kind != sizeof(work); ++kind)
    kinds |= (work[kind] & parts) ? uint32_t(1) << kind : 0;
  return kinds;
}
static_assert(computes == (uint32_t(1) << sizeof(work)) - 1,
              "computes come first");
constexpr bool has(uint32_t kinds, StepKind kind) {
  return kinds >> unsigned(kind) & 1;
}
/// For each kind of data, the kind among `kinds` that handles it.
struct ByData {
  StepKind of[numDataKinds];
  constexpr explicit ByData(uint32_t kinds) : of() {
    for (unsigned kind = 0; kind != numStepKinds; ++kind)
      if (kinds >> kind & 1)
        of[unsigned(data[kind])] = StepKind(kind);
  }
  constexpr StepKind operator[](DataKind kind) const {
    return of[unsigned(kind)];
  }
};
inline constexpr ByData sendOf(sends);
inline constexpr ByData receiveOf(receives);
inline constexpr ByData sendWaitOf(sendWaits);
} // namespace step_facts

/// The name of a kind in step IR, CSV and messages.
constexpr llvm::StringRef stepKindName(StepKind kind) {
  return step_facts::names[unsigned(kind)];
}
/// The kind with that name, if there is one.
inline std::optional<StepKind> parseStepKind(llvm::StringRef name) {
  for (unsigned kind = 0; kind != numStepKinds; ++kind)
    if (step_facts::names[kind] == name)
      return StepKind(kind);
  return std::nullopt;
}

constexpr bool isCompute(StepKind kind) {
  return step_facts::has(step_facts::computes, kind);
}
constexpr bool isSend(StepKind kind) {
  return step_facts::has(step_facts::sends, kind);
}
constexpr bool isRecv(StepKind kind) {
  return step_facts::has(step_facts::receives, kind);
}
constexpr bool isP2P(StepKind kind) {
  return step_facts::has(step_facts::sends | step_facts::receives, kind);
}
/// True for a wait until an earlier send of the rank is complete.
constexpr bool isSendWait(StepKind kind) {
  return step_facts::has(step_facts::sendWaits, kind);
}
/// True for an FSDP collective, but not for the wait for one.
constexpr bool isFsdp(StepKind kind) {
  return step_facts::has(step_facts::collectives, kind);
}
/// True for steps without work and duration that wait for a transfer or a
/// collective of an earlier step of the rank.
constexpr bool isWait(StepKind kind) {
  return step_facts::has(step_facts::sendWaits | step_facts::collectiveWaits,
                         kind);
}
/// True for the collective that sums the gradients of a group of tied stages.
constexpr bool isTied(StepKind kind) { return kind == StepKind::ReduceTied; }
/// True for steps that run beside the computes of their rank.
constexpr bool isCollective(StepKind kind) {
  return isFsdp(kind) || isTied(kind);
}
constexpr bool hasUnit(StepKind kind) {
  return isCompute(kind) || isP2P(kind) || isSendWait(kind);
}
constexpr bool hasStage(StepKind kind) {
  return hasUnit(kind) || isFsdp(kind) || isWait(kind);
}

/// The kind of data that a step produces, consumes, transfers, or whose
/// transfer it waits for.
constexpr DataKind dataKind(StepKind kind) {
  return step_facts::data[unsigned(kind)];
}
/// The parts of the work of its stage that a compute step does, and those that
/// must be done before it.
constexpr unsigned workOf(StepKind kind) {
  assert(isCompute(kind));
  return step_facts::work[unsigned(kind)];
}
constexpr unsigned workBefore(StepKind kind) {
  assert(isCompute(kind));
  return step_facts::needs[unsigned(kind)];
}
/// B or I: the step that produces the gradient of the stage's input.
constexpr bool makesInputGradient(StepKind kind) {
  return step_facts::has(step_facts::computesThatDo(StageWork::InputGradient),
                         kind);
}
/// B or W: the step that produces the gradient of the stage's weights.
constexpr bool makesWeightGradient(StepKind kind) {
  return step_facts::has(step_facts::computesThatDo(StageWork::WeightGradient),
                         kind);
}
/// F, B or I: consumes data of other stages and produces data for others.
constexpr bool makesData(StepKind kind) {
  return step_facts::has(
      step_facts::computesThatDo(StageWork::Forward | StageWork::InputGradient),
      kind);
}

/// The kind of the send, of the receive, or of the wait for a send, of a kind
/// of data.
constexpr StepKind sendKind(DataKind data) { return step_facts::sendOf[data]; }
constexpr StepKind recvKind(DataKind data) {
  return step_facts::receiveOf[data];
}
/// The kind of the send that a WAIT_SEND waits for.
constexpr StepKind sendOfWait(StepKind wait) {
  assert(isSendWait(wait));
  return sendKind(dataKind(wait));
}
/// The kind of the wait for a send.
constexpr StepKind waitOfSend(StepKind send) {
  assert(isSend(send));
  return step_facts::sendWaitOf[dataKind(send)];
}

/// The limits of the sizes of a schedule, given by the packed step (IR/Step.h).
inline constexpr unsigned maxStages = 1u << 16;
inline constexpr unsigned maxUnits = 1u << 24;
/// Steps do not store ranks; a map of `maxStages` entries cannot name more.
inline constexpr unsigned maxRanks = 1u << 16;

} // namespace pipec
