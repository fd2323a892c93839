//===- StepKind.h - The kinds of steps and their limits ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "llvm/ADT/StringRef.h"

#include <array>
#include <bit>
#include <cassert>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

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

/// Where a step runs. The steps of one stream of a rank run one after the
/// other, those of several streams at the same time.
enum class Stream : uint8_t {
  Compute,
  /// Transfers between ranks.
  Link,
  /// The collectives of FSDP.
  Gather,
  /// The collectives of groups of tied stages.
  Tied,
  /// Copies of activations to the host, and from it.
  Out,
  In,
  /// Steps without work.
  None,
};

/// The queues of the posted steps of a rank. REDUCE_TIED starts after the other
/// collectives, but does not occupy them.
inline constexpr unsigned numQueues = 3;
constexpr unsigned queueOf(Stream stream) {
  return stream == Stream::Out ? 1 : stream == Stream::In ? 2 : 0;
}

/// The streams that may share a resource, by name; Link for "port".
inline constexpr std::pair<Stream, llvm::StringLiteral> sharedStreams[] = {
    {Stream::Gather, "gather"},
    {Stream::Out, "out"},
    {Stream::In, "in"},
    {Stream::Link, "port"}};
inline llvm::StringRef sharedStreamName(Stream stream) {
  for (const auto &[known, text] : sharedStreams)
    if (known == stream)
      return text;
  return "";
}
inline std::optional<Stream> parseSharedStream(llvm::StringRef name) {
  for (const auto &[stream, text] : sharedStreams)
    if (text == name)
      return stream;
  return std::nullopt;
}

/// The objects in the memory of a rank, and their states.
enum class Object : uint8_t {
#define PIPEC_OBJECT(Id) Id,
#include "Support/States.def"
  None,
};
enum class State : uint8_t {
#define PIPEC_STATE(Object, Id) Id,
#include "Support/States.def"
  None,
};
constexpr Object objectOf(State state) {
  constexpr Object objects[] = {
#define PIPEC_STATE(Of, Id) Object::Of,
#include "Support/States.def"
      Object::None};
  return objects[unsigned(state)];
}

// The rows of Steps.def. A set of kinds is a mask whose bit K is the kind with
// value K.
namespace step_facts {
enum class Role : uint8_t { Work, Send, Receive, Wait };
struct Row {
  llvm::StringLiteral name;
  Stream stream;
  Role role;
  DataKind data;
  State from;
  State to;
};
constexpr Row rows[] = {
#define PIPEC_STEP_ROW(Id, Text, OnStream, HasRole, Data, From, To)            \
  {Text,           Stream::OnStream, Role::HasRole,                            \
   DataKind::Data, State::From,      State::To},
#include "Support/Steps.def"
};
/// A column of the table with a byte per kind, for lookups per step.
template <auto field>
inline constexpr auto column = [] {
  std::array<std::remove_cvref_t<decltype(rows[0].*field)>, numStepKinds> all{};
  for (unsigned kind = 0; kind != numStepKinds; ++kind)
    all[kind] = rows[kind].*field;
  return all;
}();
template <auto field> constexpr auto look(StepKind kind) {
  static_assert(sizeof(column<field>) == numStepKinds);
  return column<field>[unsigned(kind)];
}
constexpr uint32_t bit(StepKind kind) { return uint32_t(1) << unsigned(kind); }
constexpr bool has(uint32_t kinds, StepKind kind) {
  return kinds >> unsigned(kind) & 1;
}
/// As `has`, for kinds that follow each other in the table: loops with
/// comparisons, unlike those with shifts, become vector code on all x86-64.
template <uint32_t kinds> constexpr bool isAmong(StepKind kind) {
  constexpr unsigned first = std::countr_zero(kinds);
  constexpr unsigned count = std::popcount(kinds);
  static_assert(kinds >> first == (uint64_t(1) << count) - 1);
  return unsigned(kind) - first < count;
}
/// The kinds whose rows satisfy `test`.
template <typename Test> constexpr uint32_t kindsWhere(Test test) {
  uint32_t kinds = 0;
  for (unsigned kind = 0; kind != numStepKinds; ++kind)
    kinds |= test(rows[kind]) ? uint32_t(1) << kind : 0;
  return kinds;
}
constexpr uint32_t kindsOn(Stream stream) {
  return kindsWhere([=](const Row &row) { return row.stream == stream; });
}
constexpr uint32_t kindsWith(Role role) {
  return kindsWhere([=](const Row &row) { return row.role == role; });
}
/// The kinds that change a kind of object.
constexpr uint32_t kindsOf(Object object) {
  return kindsWhere(
      [=](const Row &row) { return objectOf(row.from) == object; });
}
inline constexpr uint32_t computes = kindsOn(Stream::Compute);
/// The kinds that keep, drop, move or use what F, B, I and W alone do not:
/// recomputation, copies to the host and optimizer steps.
inline constexpr uint32_t extras =
    kindsOf(Object::Copy) | bit(StepKind::R) | bit(StepKind::Update);
inline constexpr uint32_t transfers = kindsOn(Stream::Link);
inline constexpr uint32_t sends = kindsWith(Role::Send);
inline constexpr uint32_t waits = kindsWith(Role::Wait);
inline constexpr uint32_t fromSaved =
    kindsWhere([](const Row &row) { return row.from == State::Saved; });
inline constexpr uint32_t toDone =
    kindsWhere([](const Row &row) { return row.to == State::Done; });
inline constexpr uint32_t sendWaits = kindsWhere([](const Row &row) {
  return row.role == Role::Wait && row.data != DataKind::None;
});
inline constexpr uint32_t posted = kindsOn(Stream::Gather) |
                                   kindsOn(Stream::Tied) |
                                   kindsOn(Stream::Out) | kindsOn(Stream::In);
inline constexpr uint32_t withUnit =
    kindsOf(Object::Unit) | kindsOf(Object::Copy) | transfers | sendWaits;
static_assert((computes & (computes + 1)) == 0, "computes come first");
/// For each kind of data, the kind among `kinds` that handles it.
struct ByData {
  StepKind of[numDataKinds];
  constexpr explicit ByData(uint32_t kinds) : of() {
    for (unsigned kind = 0; kind != numStepKinds; ++kind)
      if (kinds >> kind & 1)
        of[unsigned(rows[kind].data)] = StepKind(kind);
  }
  constexpr StepKind operator[](DataKind kind) const {
    return of[unsigned(kind)];
  }
};
inline constexpr ByData sendOf(sends);
inline constexpr ByData receiveOf(transfers & ~sends);
inline constexpr ByData sendWaitOf(sendWaits);
} // namespace step_facts

/// The size of tables by kinds that compute, which come first.
inline constexpr unsigned numComputeKinds =
    unsigned(std::popcount(step_facts::computes));

/// The name of a kind in step IR, CSV and messages.
constexpr llvm::StringRef stepKindName(StepKind kind) {
  return step_facts::rows[unsigned(kind)].name;
}
/// The kind with that name, if there is one.
inline std::optional<StepKind> parseStepKind(llvm::StringRef name) {
  // The compiler knows the sizes, so no name is compared by a call.
#define PIPEC_STEP(Id, Text)                                                   \
  if (name == llvm::StringLiteral(Text))                                       \
    return StepKind::Id;
#include "Support/Steps.def"
  return std::nullopt;
}

constexpr Stream streamOf(StepKind kind) {
  return step_facts::look<&step_facts::Row::stream>(kind);
}
/// The states of the object that a step changes, before and after it; None if
/// it changes none.
constexpr State stateBefore(StepKind kind) {
  return step_facts::look<&step_facts::Row::from>(kind);
}
constexpr State stateAfter(StepKind kind) {
  return step_facts::look<&step_facts::Row::to>(kind);
}
constexpr bool isCompute(StepKind kind) {
  return step_facts::isAmong<step_facts::computes>(kind);
}
constexpr bool isSend(StepKind kind) {
  return step_facts::has(step_facts::sends, kind);
}
constexpr bool isRecv(StepKind kind) {
  return step_facts::has(step_facts::transfers & ~step_facts::sends, kind);
}
constexpr bool isP2P(StepKind kind) {
  return step_facts::isAmong<step_facts::transfers>(kind);
}
/// True for a wait until an earlier send of the rank is complete.
constexpr bool isSendWait(StepKind kind) {
  return step_facts::has(step_facts::sendWaits, kind);
}
/// True for steps without work and duration that wait for a transfer, a
/// collective or a copy of an earlier step of the rank.
constexpr bool isWait(StepKind kind) {
  return step_facts::has(step_facts::waits, kind);
}
/// True for waits for sends and reductions.
constexpr bool isTransferWait(StepKind kind) {
  return isWait(kind) && kind != StepKind::WaitOffload;
}
/// I or W: half of a backward.
constexpr bool isHalf(StepKind kind) {
  return kind == StepKind::I || kind == StepKind::W;
}
/// True for steps that run beside the computes of their rank on a stream of the
/// rank itself: it posts them and continues.
constexpr bool isPosted(StepKind kind) {
  return step_facts::has(step_facts::posted, kind);
}
/// True for a copy to the host or from it.
constexpr bool isCopy(StepKind kind) {
  return streamOf(kind) == Stream::Out || streamOf(kind) == Stream::In;
}
constexpr bool hasUnit(StepKind kind) {
  return step_facts::has(step_facts::withUnit, kind);
}
/// True for the computes of a unit: all but UPDATE.
constexpr bool computesUnit(StepKind kind) {
  return isCompute(kind) && hasUnit(kind);
}
constexpr bool hasStage(StepKind kind) {
  return hasUnit(kind) || objectOf(stateBefore(kind)) != Object::None;
}

/// The kind of data that a step produces, consumes, transfers, or whose
/// transfer it waits for.
constexpr DataKind dataKind(StepKind kind) {
  return step_facts::look<&step_facts::Row::data>(kind);
}
/// B or I: the step that produces the gradient of the stage's input.
constexpr bool makesInputGradient(StepKind kind) {
  return step_facts::has(step_facts::fromSaved, kind);
}
/// B or W: the step that produces the gradient of the stage's weights.
constexpr bool makesWeightGradient(StepKind kind) {
  return step_facts::has(step_facts::toDone, kind);
}
/// F, B or I: consumes data of other stages and produces data for others.
constexpr bool makesData(StepKind kind) {
  return isCompute(kind) && dataKind(kind) != DataKind::None;
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
/// The place of the backward of a unit on its stage if micro-batches ascend and
/// the slices of each descend; also the unit of the backward at a place.
constexpr unsigned backwardOrder(unsigned unit, unsigned slices) {
  return slices == 1 ? unit
                     : unit / slices * slices + slices - 1 - unit % slices;
}
/// Steps do not store ranks; a map of `maxStages` entries cannot name more.
inline constexpr unsigned maxRanks = 1u << 16;

} // namespace pipec
