//===- Step.h - One step of one rank ----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Support/SourceLoc.h"
#include "Support/StepKind.h"

#include <cassert>
#include <cstdint>

namespace pipec {

/// The limits of the packed form. Like those of StepKind.h, each has a
/// diagnostic if input can exceed it.
inline constexpr unsigned maxPhases = 1u << 8;
inline constexpr unsigned maxPorts = 1u << 10;
static_assert(maxStages == 1u << 16 && maxUnits == 1u << 24,
              "the fields of a step have these bits");

/// One step, in 12 bytes. Each rank has one flat list of steps. A `joined` step
/// runs together with the next one of its list: joined compute steps form one
/// overlap, joined P2P steps one batch.
class Step {
public:
  Step() = default;
  Step(StepKind kind, unsigned stage, unsigned unit, unsigned phase = 0,
       SourceLoc source = {}, bool joined = false)
      : what(unsigned(kind) | (joined ? joinedBit : 0) | stage << stageShift),
        which(unit | phase << phaseShift), where(source) {
    assert(stage < maxStages && unit < maxUnits && phase < maxPhases);
  }

  StepKind kind() const { return StepKind(what & kindMask); }
  Stream stream() const { return streamOf(kind()); }
  /// The position in the model, from 0; 0 for a bubble. For a REDUCE_TIED, the
  /// number of its group, which is less than the number of stages too.
  unsigned stage() const { return what >> stageShift; }
  /// The number of the micro-batch, or of the slice of one
  /// (`ModelSettings::numUnits`), from 0; 0 for steps without one.
  unsigned unit() const { return which & (maxUnits - 1); }
  /// Index into `Schedule::phases`.
  unsigned phase() const { return which >> phaseShift; }
  /// For a P2P step or a wait for a send: the index of the input (receive) or
  /// output (send) of its stage, in the order of IR/DataFlow.h. In a chain of
  /// stages it is always 0.
  unsigned port() const { return what >> portShift & (maxPorts - 1); }
  /// True if the step runs together with the next step of the list.
  bool joined() const { return what & joinedBit; }
  /// The statement, line or cell that the step comes from.
  SourceLoc source() const { return where; }

  void setKind(StepKind kind) { what = (what & ~kindMask) | unsigned(kind); }
  void setJoined(bool joined) {
    what = (what & ~joinedBit) | (joined ? joinedBit : 0);
  }
  void setPort(unsigned port) {
    assert(port < maxPorts);
    what = (what & ~((maxPorts - 1) << portShift)) | port << portShift;
  }
  void setPhase(unsigned phase) {
    which = (which & (maxUnits - 1)) | phase << phaseShift;
  }
  void setSource(SourceLoc source) { where = source; }

  /// True if kind, stage, port, unit and `joined` are equal; phase and
  /// source are ignored.
  bool sameAction(const Step &other) const {
    return what == other.what && unit() == other.unit();
  }

private:
  // The class uses shifts instead of bit-fields, since compilers write
  // bit-fields one by one, with a read of the same memory for each.
  static constexpr uint32_t kindMask = 31;
  static_assert(unsigned(StepKind::Bubble) <= kindMask, "a kind has 5 bits");
  static constexpr uint32_t joinedBit = 32;
  static constexpr unsigned portShift = 6;
  static constexpr unsigned stageShift = 16;
  static constexpr unsigned phaseShift = 24;

  uint32_t what = unsigned(StepKind::Bubble);
  uint32_t which = 0;
  SourceLoc where;
};

static_assert(sizeof(Step) == 12, "a step is 12 bytes");

/// A stage and a unit as one key of maps.
inline uint64_t unitKey(unsigned stage, unsigned unit) {
  return uint64_t(stage) << 32 | unit;
}
inline uint64_t unitKey(Step step) {
  return unitKey(step.stage(), step.unit());
}

/// A reference to a step of a schedule: the rank and the index in its list. A
/// default-constructed reference is invalid.
struct StepRef {
  uint32_t rank = ~0u;
  uint32_t index = 0;
  bool isValid() const { return rank != ~0u; }
  friend bool operator==(StepRef, StepRef) = default;
};

/// Prefetches the steps after `at` when a rank of many blocks there. The walk
/// continues with other ranks, and the steps are in the cache when it returns.
/// Without this and the other prefetches of walks, a whole run of 25 million
/// steps takes 1.13 times as long (benchmarks/README.md).
inline void prefetchSteps(const Step *at) {
  for (int line = 1; line <= 4; ++line)
    __builtin_prefetch(reinterpret_cast<const char *>(at) + 64 * line);
}

} // namespace pipec
