//===- OrderRules.h - Rules about the order of steps ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One class per PIPEC_ORDER_RULE of Rules.def, which is called with all steps
// of the lists that it applies to, in order.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "IR/Schedule.h"

#include "llvm/ADT/BitVector.h"

#include <array>
#include <optional>
#include <utility>
#include <vector>

namespace pipec::order_rules {

/// A sequence of steps whose micro-batches must ascend.
class Ascending {
public:
  /// Adds a step. Returns the step before it if its micro-batch is a later one.
  std::optional<Step> add(Step step) {
    std::optional<Step> before = std::exchange(last, step);
    if (before && before->unit() > step.unit())
      return before;
    return std::nullopt;
  }

private:
  std::optional<Step> last;
};

/// The inputs of the first stage and the labels of the last one are taken from
/// the data in the order in which these stages run their forwards.
class LoadOrder {
public:
  explicit LoadOrder(const Schedule &schedule, bool withFirst = true)
      : schedule(schedule), withFirst(withFirst) {}

  /// Begins the list of `rank`. Returns false if the rule does not apply to it.
  bool begin(unsigned rank) {
    forwards = {};
    const Placement &placement = schedule.placement;
    for (unsigned d = 0; d != placement.numDirections(); ++d)
      if (placement.rankOf(schedule.numStages - 1, d) == rank ||
          (withFirst && placement.rankOf(0, d) == rank))
        return true;
    return false;
  }

  /// The step that `step` follows although it must not, if there is one.
  std::optional<Step> followed(Step step) {
    bool isLast = schedule.isLastStage(step.stage());
    if (step.kind() != StepKind::F ||
        !(isLast || (withFirst && step.stage() == 0)))
      return std::nullopt;
    return forwards[isLast].add(step);
  }

private:
  const Schedule &schedule;
  bool withFirst;
  /// The forwards of the first stage, and of the last one. In a V both are on
  /// one rank.
  std::array<Ascending, 2> forwards;
};

/// PyTorch appends the losses in the order in which the last stage computes
/// them and reads them by micro-batch, so that stage must run its forwards in
/// ascending order.
class LossOrder : public LoadOrder {
public:
  explicit LossOrder(const Schedule &schedule)
      : LoadOrder(schedule, /*withFirst=*/false) {}
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
    if (step.unit() + 1 == schedule.numUnits) {
      synchronised.set(step.stage());
      return std::nullopt;
    }
    if (!synchronised.test(step.stage()))
      return std::nullopt;
    synchronised.reset(step.stage());
    return Step(StepKind::B, step.stage(), schedule.numUnits - 1);
  }

private:
  const Schedule &schedule;
  /// The stages whose backward of micro-batch m-1 has been seen.
  llvm::BitVector synchronised;
};

/// JaxPP computes both halves of a backward of the first stage in one task, so
/// the W of this stage must directly follow its I, both outside of overlaps.
class FirstStageHalves {
public:
  explicit FirstStageHalves(const Schedule &schedule) : schedule(schedule) {}

  bool begin(unsigned rank) {
    before.reset();
    const Placement &placement = schedule.placement;
    for (unsigned d = 0; d != placement.numDirections(); ++d)
      if (placement.rankOf(0, d) == rank)
        return true;
    return false;
  }

  std::optional<Step> followed(Step step) {
    if (step.kind() == StepKind::Bubble)
      return std::nullopt;
    bool follows = before && !before->joined() && !afterJoined &&
                   !step.joined() && isOfFirst(*before, StepKind::I) &&
                   before->unit() == step.unit();
    afterJoined = before && before->joined();
    before = step;
    if (follows || !isOfFirst(step, StepKind::W))
      return std::nullopt;
    return Step(StepKind::I, 0, step.unit());
  }

private:
  static bool isOfFirst(Step step, StepKind kind) {
    return step.kind() == kind && step.stage() == 0;
  }

  const Schedule &schedule;
  /// The step before, and whether the one before that was joined to it.
  std::optional<Step> before;
  bool afterJoined = false;
};

/// JaxPP adds the weight gradients of a micro-batch to the sum of the earlier
/// ones, which are inputs of the task.
class GradientOrder {
public:
  explicit GradientOrder(const Schedule &schedule)
      : sequences(schedule.numStages) {}

  bool begin(unsigned) { return true; }

  std::optional<Step> followed(Step step) {
    if (step.kind() != StepKind::B && step.kind() != StepKind::W)
      return std::nullopt;
    return sequences[step.stage()].add(step);
  }

private:
  /// By stage.
  std::vector<Ascending> sequences;
};

/// Transformer Engine's order has chunks without micro-batches: the n-th
/// forward, backward and weight gradient of a stage must belong to micro-batch
/// n.
class ChunkOrder {
public:
  explicit ChunkOrder(const Schedule &schedule) : schedule(schedule) {}

  bool begin(unsigned) {
    sequences.resize(size_t(schedule.numStages) * numSlots);
    return true;
  }

  std::optional<Step> followed(Step step) {
    auto add = [&](Slot slot) {
      return sequences[size_t(step.stage()) * numSlots + slot].add(step);
    };
    switch (step.kind()) {
    case StepKind::F:
      return add(Forward);
    case StepKind::I:
      return add(Backward);
    case StepKind::B: {
      std::optional<Step> weight = add(Weight);
      std::optional<Step> backward = add(Backward);
      return backward ? backward : weight;
    }
    case StepKind::W:
      return add(Weight);
    default:
      return std::nullopt;
    }
  }

private:
  enum Slot { Forward, Backward, Weight, numSlots };

  const Schedule &schedule;
  /// By stage and slot.
  std::vector<Ascending> sequences;
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
           step.stage() == other->stage() && step.unit() == other->unit();
  }

private:
  const Schedule &schedule;
  /// The forward whose loss has not been used.
  std::optional<Step> kept;
  bool reported = false;
};

/// DeepSpeed receives activations and gradients into the same buffer, so no
/// receive may occur between the receive of a gradient and its backward.
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

} // namespace pipec::order_rules
