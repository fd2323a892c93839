//===- OrderRules.h - Rules about the order of steps ------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One class per PIPEC_ORDER_RULE of Rules.def, which is called with all steps
// of the lists that it applies to, in order.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_FRAMEWORKS_ORDERRULES_H
#define PIPEC_FRAMEWORKS_ORDERRULES_H

#include "IR/Schedule.h"

#include "llvm/ADT/BitVector.h"

#include <array>
#include <optional>
#include <utility>
#include <vector>

namespace pipec::order_rules {

/// PyTorch appends the losses in the order in which the last stage computes
/// them and reads them by micro-batch, so that stage must run its forwards in
/// ascending order.
class LossOrder {
public:
  explicit LossOrder(const Schedule &schedule) : schedule(schedule) {}

  /// Begins the list of `rank`. Returns false if the rule does not apply to it.
  bool begin(unsigned rank) {
    last.reset();
    for (unsigned d = 0; d != schedule.placement.numDirections(); ++d)
      if (schedule.placement.rankOf(schedule.numStages - 1, d) == rank)
        return true;
    return false;
  }

  /// The step that `step` follows although it must not, if there is one.
  std::optional<Step> followed(Step step) {
    if (step.kind() != StepKind::F || !schedule.isLastStage(step.stage()))
      return std::nullopt;
    std::optional<Step> before = std::exchange(last, step);
    if (before && step.microbatch() < before->microbatch())
      return before;
    return std::nullopt;
  }

private:
  const Schedule &schedule;
  /// The last forward of the last stage.
  std::optional<Step> last;
};

/// HyperParallel synchronizes the gradients of a stage after its backward of
/// micro-batch m-1, even if that is not the last one. Reports one step per
/// stage.
class LastBackward {
public:
  explicit LastBackward(const Schedule &schedule)
      : schedule(schedule), synchronised(schedule.numStages) {}

  bool begin(unsigned) { return true; }

  std::optional<Step> followed(Step step) {
    if (step.kind() != StepKind::B)
      return std::nullopt;
    if (step.microbatch() + 1 == schedule.numMicrobatches) {
      synchronised.set(step.stage());
      return std::nullopt;
    }
    if (!synchronised.test(step.stage()))
      return std::nullopt;
    synchronised.reset(step.stage());
    return Step(StepKind::B, step.stage(), schedule.numMicrobatches - 1);
  }

private:
  const Schedule &schedule;
  /// The stages whose backward of micro-batch m-1 has been seen.
  llvm::BitVector synchronised;
};

/// Transformer Engine's order has chunks without micro-batches: the n-th
/// forward of a stage is that of micro-batch n, and so are its n-th backward
/// and its n-th gradient of weights.
class ChunkOrder {
public:
  explicit ChunkOrder(const Schedule &schedule) : schedule(schedule) {}

  bool begin(unsigned) {
    last.resize(size_t(schedule.numStages) * numSlots);
    return true;
  }

  std::optional<Step> followed(Step step) {
    switch (step.kind()) {
    case StepKind::F:
      return before(step, Forward);
    case StepKind::I:
      return before(step, Backward);
    case StepKind::B: {
      std::optional<Step> weight = before(step, Weight);
      std::optional<Step> backward = before(step, Backward);
      return backward ? backward : weight;
    }
    case StepKind::W:
      return before(step, Weight);
    default:
      return std::nullopt;
    }
  }

private:
  enum Slot { Forward, Backward, Weight, numSlots };

  /// The last step of the slot if its micro-batch is a later one.
  std::optional<Step> before(Step step, Slot slot) {
    size_t place = size_t(step.stage()) * numSlots + slot;
    std::optional<Step> other = std::exchange(last[place], step);
    if (other && other->microbatch() > step.microbatch())
      return other;
    return std::nullopt;
  }

  const Schedule &schedule;
  /// By stage and slot.
  std::vector<std::optional<Step>> last;
};

/// DeepSpeed keeps the loss of the last forward of the last stage only, so that
/// stage must run the backward of a micro-batch before the next forward.
/// Reports one step.
class LossNotNext {
public:
  explicit LossNotNext(const Schedule &schedule) : schedule(schedule) {}

  bool begin(unsigned) {
    kept.reset();
    return true;
  }

  std::optional<Step> followed(Step step) {
    if (!schedule.isLastStage(step.stage()) || reported)
      return std::nullopt;
    if (isBackwardOf(step, kept))
      kept.reset();
    if (step.kind() != StepKind::F)
      return std::nullopt;
    std::optional<Step> before = std::exchange(kept, step);
    reported = before.has_value();
    return before;
  }

  /// True if `step` computes the input gradient for the micro-batch of `other`.
  static bool isBackwardOf(Step step, const std::optional<Step> &other) {
    return other &&
           (step.kind() == StepKind::B || step.kind() == StepKind::I) &&
           step.stage() == other->stage() &&
           step.microbatch() == other->microbatch();
  }

private:
  const Schedule &schedule;
  /// The forward whose loss has not been used.
  std::optional<Step> kept;
  bool reported = false;
};

/// DeepSpeed receives activations and gradients into the same buffer, so there
/// must be no receive between that of a gradient and its backward.
class ReceiveOverGradient {
public:
  explicit ReceiveOverGradient(const Schedule &) {}

  bool begin(unsigned) {
    kept.reset();
    return true;
  }

  std::optional<Step> followed(Step step) {
    if (LossNotNext::isBackwardOf(step, kept))
      kept.reset();
    if (!isRecv(step.kind()))
      return std::nullopt;
    std::optional<Step> before = kept;
    if (step.kind() == StepKind::RecvB)
      kept = step;
    return before;
  }

private:
  /// The receive of a gradient that has not been used.
  std::optional<Step> kept;
};

/// The inputs of the first stage and the labels of the last one are taken from
/// the data in the order in which these stages run their forwards.
class LoadOrder {
public:
  explicit LoadOrder(const Schedule &schedule) : schedule(schedule) {}

  bool begin(unsigned) {
    last = {};
    return true;
  }

  std::optional<Step> followed(Step step) {
    bool isLast = schedule.isLastStage(step.stage());
    if (step.kind() != StepKind::F || (step.stage() != 0 && !isLast))
      return std::nullopt;
    std::optional<Step> before = std::exchange(last[isLast], step);
    if (before && step.microbatch() < before->microbatch())
      return before;
    return std::nullopt;
  }

private:
  const Schedule &schedule;
  /// The last forward of the first stage, and of the last one. In a V both are
  /// on one rank.
  std::array<std::optional<Step>, 2> last;
};

} // namespace pipec::order_rules

#endif // PIPEC_FRAMEWORKS_ORDERRULES_H
