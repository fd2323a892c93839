//===- Model.h - The network as a model of the pipec runtime ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef PIPEC_EXAMPLES_TRAIN_MODEL_H
#define PIPEC_EXAMPLES_TRAIN_MODEL_H

#include "Network.h"
#include "Shards.h"

#include <algorithm>
#include <cassert>
#include <span>
#include <vector>

namespace train {

/// The stages that one rank holds, as pipec/runtime/Model.h asks for them.
class Model {
public:
  using Tensor = Values;
  using Activation = Kept;
  using Stash = Values;
  using Context = Carry;

  /// `own` are the stages of this rank, in any order.
  Model(const Config &config, const std::vector<int> &own) : config(config) {
    indexOf.assign(std::size_t(config.stages), -1);
    for (int stage : own) {
      indexOf[std::size_t(stage)] = int(held.size());
      stageOf.push_back(stage);
      held.emplace_back(config, stage);
      order.emplace_back();
    }
    sums.resize(held.size());
    updated.assign(held.size(), false);
    // A shared block starts as that of the first stage of its group.
    for (std::size_t group = 0; group != config.ties.size(); ++group) {
      Stage first(config, config.ties[group][0]);
      forTied(int(group), [&](int stage, std::size_t begin, std::size_t size) {
        std::copy_n(first.parameters().begin() +
                        std::ptrdiff_t(first.blockBegin(int(group))),
                    size,
                    at(stage).parameters().begin() + std::ptrdiff_t(begin));
      });
    }
    losses.assign(std::size_t(config.microbatches * config.slices), 0);
  }

  /// From now on the data of this training step.
  void beginStep(int number) {
    step = number;
    for (std::vector<int> &seen : order)
      seen.clear();
    losses.assign(losses.size(), 0);
  }
  /// When the step has ended on all ranks: sums over copies become the
  /// gradients.
  void finishStep() {
    for (std::size_t i = 0; i != held.size(); ++i)
      if (!sums[i].empty()) {
        held[i].gradients().swap(sums[i]);
        sums[i].clear();
      }
  }
  /// Updates the stages that no UPDATE step has; then all gradients are zero
  /// again.
  void update() {
    for (std::size_t i = 0; i != held.size(); ++i) {
      if (!updated[i])
        update(stageOf[i]);
      updated[i] = false;
      Values &gradients = held[i].gradients();
      std::fill(gradients.begin(), gradients.end(), 0);
    }
  }

  /// From now on the FSDP actions are done together with the other copies of
  /// this rank. `sharded` has one entry per stage: whether its parameters are
  /// spread over the copies between uses; null means none.
  void shardOver(Shards &group, const bool *sharded) {
    shards = &group;
    isSharded.assign(std::size_t(config.stages), false);
    if (sharded)
      std::copy(sharded, sharded + config.stages, isSharded.begin());
    for (std::size_t i = 0; i != held.size(); ++i)
      if (isSharded[std::size_t(stageOf[i])])
        group.drop(held[i].parameters());
  }
  /// The parameters of a stage that this copy updates.
  Shards::Range ownRange(int stage) const {
    std::size_t all = gradients(stage).size();
    if (!shards || !isSharded[std::size_t(stage)])
      return {0, all};
    return shards->ownRange(all);
  }
  /// The loss of the step; meaningful on the rank of the last stage.
  double loss() const {
    double sum = 0;
    for (double one : losses)
      sum += one;
    return sum;
  }
  /// The loss of each micro-batch, the sum over its slices.
  std::vector<double> microbatchLosses() const {
    std::vector<double> sums(std::size_t(config.microbatches), 0);
    for (std::size_t unit = 0; unit != losses.size(); ++unit)
      sums[unit / std::size_t(config.slices)] += losses[unit];
    return sums;
  }

  /// The first of this copy's micro-batches among those of all copies.
  int firstMicrobatch() const { return config.copy * config.microbatches; }
  bool holds(int stage) const { return indexOf[std::size_t(stage)] >= 0; }
  const Values &parameters(int stage) { return at(stage).parameters(); }
  const Values &gradients(int stage) const {
    return held[std::size_t(indexOf[std::size_t(stage)])].gradients();
  }
  /// True when the micro-batches of a stage were added up in ascending order,
  /// all of them here and each as a whole: then the sums are those of an
  /// unpipelined run to the last bit.
  bool addedInOrder(int stage) const {
    const std::vector<int> &seen =
        order[std::size_t(indexOf[std::size_t(stage)])];
    if (config.copies > 1 || config.slices > 1)
      return false;
    // Ranks of a group have sums of their own, which are then added.
    for (const std::vector<int> &group : config.ties)
      if (std::find(group.begin(), group.end(), stage) != group.end())
        return false;
    for (std::size_t i = 0; i != seen.size(); ++i)
      if (seen[i] != int(i))
        return false;
    return seen.size() == std::size_t(config.microbatches);
  }

  //===--------------------------------------------------------------------===//
  // What the executor calls
  //===--------------------------------------------------------------------===//

  int stages() const { return config.stages; }
  int microbatches() const { return config.microbatches; }
  int slices() const { return config.slices; }

  void forward(int stage, int microbatch, int slice, Tensor *input,
               Tensor *output, Activation &kept, Context &context) {
    keep(1);
    run(stage, microbatch, slice, input, output, kept, context);
  }
  void backward(int stage, int microbatch, int slice,
                const Tensor *outputGradient, Tensor *inputGradient,
                Activation &kept, Context &context) {
    backwardInput(stage, microbatch, slice, outputGradient, inputGradient, kept,
                  context);
    backwardWeight(stage, microbatch, slice, outputGradient, kept, context);
  }
  void backwardInput(int stage, int, int slice, const Tensor *outputGradient,
                     Tensor *inputGradient, Activation &kept,
                     Context &context) {
    at(stage).backwardInput(slice, outputGradient, inputGradient, kept,
                            context);
  }
  void backwardWeight(int stage, int microbatch, int, const Tensor *,
                      Activation &kept, Context &) {
    at(stage).backwardWeight(kept);
    keep(-1);
    order[std::size_t(indexOf[std::size_t(stage)])].push_back(microbatch);
  }

  // The same for stages that form a graph.
  void forward(int stage, int microbatch, int slice,
               std::span<const Tensor *const> inputs, Tensor *output,
               Activation &kept, Context &context) {
    keep(1);
    run(stage, microbatch, slice, sum(inputs), output, kept, context);
  }
  void backward(int stage, int microbatch, int slice,
                std::span<const Tensor *const> outputGradients,
                std::span<Tensor *const> inputGradients, Activation &kept,
                Context &context) {
    backwardInput(stage, microbatch, slice, outputGradients, inputGradients,
                  kept, context);
    backwardWeight(stage, microbatch, slice, outputGradients, kept, context);
  }
  void backwardInput(int stage, int, int slice,
                     std::span<const Tensor *const> outputGradients,
                     std::span<Tensor *const> inputGradients, Activation &kept,
                     Context &context) {
    at(stage).backwardInput(
        slice, sum(outputGradients),
        inputGradients.empty() ? nullptr : inputGradients[0], kept, context);
    // Inputs are added up, so their gradients are equal.
    for (std::size_t i = 1; i < inputGradients.size(); ++i)
      *inputGradients[i] = *inputGradients[0];
  }
  void backwardWeight(int stage, int microbatch, int slice,
                      std::span<const Tensor *const>, Activation &kept,
                      Context &context) {
    backwardWeight(stage, microbatch, slice,
                   static_cast<const Tensor *>(nullptr), kept, context);
  }

  // Recomputation: the input is all that is needed to make the rest again.
  void forward(int stage, int microbatch, int slice, Tensor *input,
               Tensor *output, Stash &stash, Context &context) {
    run(stage, microbatch, slice, input, output, dropped, context);
    if (input)
      stash.swap(*input);
  }
  void forward(int stage, int microbatch, int slice,
               std::span<const Tensor *const> inputs, Tensor *output,
               Stash &stash, Context &context) {
    const Tensor *input = sum(inputs);
    run(stage, microbatch, slice, input, output, dropped, context);
    if (input)
      stash = *input;
  }
  void recompute(int stage, int microbatch, int slice, Stash &stash,
                 Activation &kept, Context &context) {
    keep(1);
    bool isLast = stage + 1 == config.stages;
    at(stage).forward(step, microbatch, slice, &stash,
                      isLast ? nullptr : &unused, kept, context);
  }

  /// A copy of activations that has been started.
  struct Copy {
    KeptCopy copy;
    /// To the host: the model that has one less on the device afterwards.
    Model *from = nullptr;
    void wait() {
      copy.wait();
      if (from)
        from->keep(-1);
    }
  };
  Copy offload(int, int, int, Activation &kept) {
    return {KeptCopy(kept, /*toHost=*/true), this};
  }
  Copy reload(int, int, int, Activation &kept) {
    keep(1);
    return {KeptCopy(kept, /*toHost=*/false)};
  }

  /// The optimizer step of a stage, whose gradients are complete.
  void update(int stage) {
    std::size_t index = std::size_t(indexOf[std::size_t(stage)]);
    Shards::Range range = ownRange(stage);
    held[index].update(range.begin, range.end, reduced(stage));
    updated[index] = true;
  }
  /// The most activations that were on the device at one time.
  int peakKept() const { return mostKept; }

  void prepareInput(int, int, int slice, Tensor &input) {
    input.resize(tensorSize(slice));
  }
  void prepareGradient(int, int, int slice, Tensor &gradient) {
    gradient.resize(tensorSize(slice));
  }
  std::span<std::byte> bytes(Tensor &tensor) {
    return std::as_writable_bytes(std::span<double>(tensor));
  }

  void unshard(int stage) {
    if (shards)
      shards->gather(stage, at(stage).parameters());
  }
  void reshard(int stage) {
    if (shards)
      shards->drop(at(stage).parameters());
  }
  /// A sum over the copies that has been started.
  struct Reduction {
    Model *model;
    int stage;
    void wait() { model->finishReduce(stage); }
  };
  Reduction reduceGrad(int stage) {
    if (shards && shards->size() > 1)
      shards->startReduce(stage, at(stage).gradients(),
                          isSharded[std::size_t(stage)], sumOf(stage));
    return {this, stage};
  }

  // The other rank that holds the stage has the same segment.
  void exportGradient(int stage, Tensor &out) {
    const Values &all = reduced(stage);
    Shards::Range range = ownRange(stage);
    out.assign(all.begin() + std::ptrdiff_t(range.begin),
               all.begin() + std::ptrdiff_t(range.end));
  }
  void addGradient(int stage, const Tensor &other) {
    Values &all = reduced(stage);
    Shards::Range range = ownRange(stage);
    assert(range.end - range.begin == other.size());
    for (std::size_t i = 0; i != other.size(); ++i)
      all[range.begin + i] += other[i];
  }

  // The gradients that the stages of a group share.
  void exportTied(int group, Tensor &out) {
    out.assign(held.front().blockSize(), 0);
    forTied(group, [&](int stage, std::size_t begin, std::size_t size) {
      for (std::size_t i = 0; i != size; ++i)
        out[i] += reduced(stage)[begin + i];
    });
  }
  void sumTied(int group, std::span<const Tensor *const> parts) {
    forTied(group, [&](int stage, std::size_t begin, std::size_t size) {
      Values &all = reduced(stage);
      for (std::size_t i = 0; i != size; ++i) {
        all[begin + i] = 0;
        for (const Tensor *part : parts)
          all[begin + i] += (*part)[i];
      }
    });
  }

private:
  /// Calls `visit(stage, begin, size)` for the stages of a group that are here,
  /// with the place of the shared parameters.
  template <class Visit> void forTied(int group, Visit visit) {
    for (int stage : config.ties[std::size_t(group)])
      if (holds(stage))
        visit(stage, at(stage).blockBegin(group), at(stage).blockSize());
  }
  /// The forward of a stage, with its loss.
  void run(int stage, int microbatch, int slice, const Tensor *input,
           Tensor *output, Activation &kept, Context &context) {
    double loss = at(stage).forward(step, microbatch, slice, input, output,
                                    kept, context);
    if (!output)
      losses[std::size_t(microbatch * config.slices + slice)] = loss;
  }
  /// At a change of the number of activations on the device.
  void keep(int by) { mostKept = std::max(mostKept, numKept += by); }
  Stage &at(int stage) {
    return held[std::size_t(indexOf[std::size_t(stage)])];
  }
  /// The sum of some tensors, valid until the next one; null if there are none.
  const Tensor *sum(std::span<const Tensor *const> tensors) {
    if (tensors.size() < 2)
      return tensors.empty() ? nullptr : tensors[0];
    total = *tensors[0];
    for (const Tensor *tensor : tensors.subspan(1))
      for (std::size_t i = 0; i != total.size(); ++i)
        total[i] += (*tensor)[i];
    return &total;
  }
  Values &sumOf(int stage) {
    return sums[std::size_t(indexOf[std::size_t(stage)])];
  }
  void finishReduce(int stage) {
    if (shards && shards->size() > 1)
      shards->finishReduce(stage, at(stage).gradients(),
                           isSharded[std::size_t(stage)], sumOf(stage));
  }
  /// The gradients, summed over the copies where that has been done.
  Values &reduced(int stage) {
    Values &sum = sumOf(stage);
    return sum.empty() ? at(stage).gradients() : sum;
  }
  std::size_t tensorSize(int slice) const {
    return std::size_t(config.sliceSize(slice)) * std::size_t(config.width);
  }

  Config config;
  std::vector<Stage> held;
  std::vector<int> stageOf;
  std::vector<int> indexOf;
  Shards *shards = nullptr;
  std::vector<bool> isSharded;
  /// For each held stage the sum over the copies from its REDUCE_GRAD to the
  /// end of the step; meanwhile others may still read what was summed.
  std::vector<Values> sums;
  /// For each held stage the micro-batches in the order of their weight
  /// gradients.
  std::vector<std::vector<int>> order;
  /// By unit: micro-batch * slices + slice.
  std::vector<double> losses;
  Values total;
  /// For each held stage, whether an UPDATE step has updated it.
  std::vector<bool> updated;
  int numKept = 0;
  int mostKept = 0;
  /// What a forward makes that is recomputed.
  Activation dropped;
  Tensor unused;
  int step = 0;
};

} // namespace train

#endif // PIPEC_EXAMPLES_TRAIN_MODEL_H
