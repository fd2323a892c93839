//===- Model.h - A transformer of torch::nn modules, in stages --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an executor asks of a model (pipec/runtime/Model.h), done with PyTorch's
// C++ library. No header of it is included here, so a program for a schedule
// compiles in a moment; all of it is in Model.cpp.
//
// The network predicts the next element of arithmetic progressions: an
// embedding at the first stage, one transformer block per stage, and a head
// with a cross-entropy loss at the last.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_EXAMPLES_LIBTORCH_MODEL_H
#define PIPEC_EXAMPLES_LIBTORCH_MODEL_H

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace train {

/// The sizes of a network and of its training.
struct Config {
  int stages = 1;
  int microbatches = 1;
  bool forwardOnly = false;
};

/// A pointer to an object of PyTorch, which is created on first use.
template <class Data> class Handle {
public:
  Handle();
  ~Handle();
  Data &operator*() { return *data; }
  const Data &operator*() const { return *data; }
  Data *operator->() { return data.get(); }
  const Data *operator->() const { return data.get(); }

private:
  std::unique_ptr<Data> data;
};

/// A `torch::Tensor`.
struct TensorData;
/// What a stage keeps of a forward: its input and its output with the graph
/// between them.
struct ActivationData;
/// The modules of a stage and their optimizer.
class Stage;

/// The stages that one rank holds.
class Model {
public:
  using Tensor = Handle<TensorData>;
  using Activation = Handle<ActivationData>;

  Model(const Config &config, const std::vector<int> &stages);
  ~Model();
  Model(Model &&);

  //===--------------------------------------------------------------------===//
  // What the executor calls
  //===--------------------------------------------------------------------===//

  int stages() const { return config.stages; }
  int microbatches() const { return config.microbatches; }

  void forward(int stage, int microbatch, Tensor *input, Tensor *output,
               Activation &kept);
  void backward(int stage, int microbatch, const Tensor *outputGradient,
                Tensor *inputGradient, Activation &kept);
  void backwardInput(int stage, int microbatch, const Tensor *outputGradient,
                     Tensor *inputGradient, Activation &kept);
  void backwardWeight(int stage, int microbatch, const Tensor *outputGradient,
                      Activation &kept);

  void prepareInput(int stage, int microbatch, Tensor &input);
  void prepareGradient(int stage, int microbatch, Tensor &gradient);
  std::span<std::byte> bytes(Tensor &tensor);

  void exportGradient(int stage, Tensor &out);
  void addGradient(int stage, const Tensor &other);

  //===--------------------------------------------------------------------===//
  // What the training loop calls
  //===--------------------------------------------------------------------===//

  /// From now on the data of this training step.
  void beginStep(int number);
  /// The sum of the losses that this rank saw.
  double loss() const { return lossSum; }
  /// One step of the optimizer; then all gradients are gone.
  void update();

private:
  friend class Reference;

  Config config;
  /// Null for the stages of other ranks.
  std::vector<std::unique_ptr<Stage>> held;
  int step = 0;
  double lossSum = 0;
};

/// The same network as PyTorch runs it without a pipeline: each micro-batch
/// through all stages, then `loss.backward()`.
class Reference {
public:
  explicit Reference(const Config &config);

  void run(int step);
  double loss() const { return model.loss(); }
  /// The largest difference of the gradients of the stages that `other` holds;
  /// infinite when one is missing or no number.
  double difference(const Model &other) const;
  void update() { model.update(); }
  std::size_t numParameters() const;

private:
  Model model;
};

} // namespace train

#endif // PIPEC_EXAMPLES_LIBTORCH_MODEL_H
