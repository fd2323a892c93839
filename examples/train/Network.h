//===- Network.h - A network cut into stages --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A residual network that sorts the points of three spirals. Every stage holds
// two blocks
//
//   y = x + W2 tanh(W1 norm(x) + b1) + b2
//
// with a layer norm of its own; the first stage (in a graph, each without
// inputs) also embeds the points, the last one turns its result into class
// scores and a cross-entropy loss. The backward of a stage comes in two halves:
// the gradients of its inputs, which the stage before waits for, and the
// gradients of its weights, which no other stage needs.
//
// In a schedule with slices, the points of a micro-batch are a sequence, and
// each stage first replaces each of them by a weighted mean of those up to it,
//
//   y_t = (x_t + y_(t-1)) / 2
//
// so that a slice depends on the slices before it.
//
// All arithmetic is in plain functions in Network.cpp, so that a program that
// uses it compiles quickly.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_EXAMPLES_TRAIN_NETWORK_H
#define PIPEC_EXAMPLES_TRAIN_NETWORK_H

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <vector>

namespace train {

/// Memory that begins at a cache line, so that vectorised sums always take the
/// same order.
template <class T> struct AlignedAllocator {
  using value_type = T;
  AlignedAllocator() = default;
  template <class U> AlignedAllocator(const AlignedAllocator<U> &) {}
  T *allocate(std::size_t count) {
    return static_cast<T *>(
        ::operator new(count * sizeof(T), std::align_val_t(64)));
  }
  void deallocate(T *pointer, std::size_t) {
    ::operator delete(pointer, std::align_val_t(64));
  }
  friend bool operator==(const AlignedAllocator &,
                         const AlignedAllocator &) = default;
};
using Values = std::vector<double, AlignedAllocator<double>>;

/// The output of stage `from` is an input of stage `to`.
struct Edge {
  int from;
  int to;
};

/// The sizes of a network and of its training.
struct Config {
  int stages = 1;
  /// The edges between the stages, in ascending order; the inputs of a stage
  /// are added up. A stage without inputs embeds the points.
  std::vector<Edge> edges;
  /// The groups of stages that share the parameters of one of their blocks:
  /// group g that of block g.
  std::vector<std::vector<int>> ties;
  int microbatches = 1;
  /// With several copies of the pipeline: how many there are, and which this
  /// is. Copy c has the data of the micro-batches from c * microbatches.
  int copies = 1;
  int copy = 0;
  /// Points in a micro-batch.
  int batch = 4;
  /// Whether a point depends on those before it.
  bool isSequence = false;
  /// The parts of a micro-batch, as equal as possible.
  int slices = 1;
  int width = 16;
  int hidden = 32;
  int blocksPerStage = 2;
  double learningRate = 0.05;

  /// The stages with an edge to (from) `stage`, in ascending order.
  std::vector<int> sourcesOf(int stage) const;
  std::vector<int> targetsOf(int stage) const;
  /// The first point of a slice of a micro-batch, and the number of its points.
  int sliceBegin(int slice) const {
    return slice * (batch / slices) + std::min(slice, batch % slices);
  }
  int sliceSize(int slice) const {
    return sliceBegin(slice + 1) - sliceBegin(slice);
  }
};

/// What a stage hands from one slice of a micro-batch to the next: for each
/// slice the sum at its last point and, on the way back, the gradient of the
/// sum at the first point of the slice before. Since slices have places of
/// their own, a second forward of one changes nothing.
struct Carry {
  std::vector<Values> sums;
  Values gradient;
};

/// What a stage keeps of a forward until its backward is done.
class Kept {
public:
  Kept();
  ~Kept();
  Kept(Kept &&) noexcept;
  Kept &operator=(Kept &&) noexcept;

  struct Data;
  /// Where the arithmetic finds it; null while it is on the host.
  std::unique_ptr<Data> data;
  /// The copy on the host; null while there is none.
  std::unique_ptr<Data> host;
};

/// A copy of what is kept to the host or back, made by another thread.
class KeptCopy {
public:
  /// Starts to copy `data` to the host, or what is there back to `data`.
  KeptCopy(Kept &kept, bool toHost);
  ~KeptCopy();
  KeptCopy(KeptCopy &&) noexcept;
  KeptCopy &operator=(KeptCopy &&) noexcept;

  /// Waits for the end of the copy and frees the original.
  void wait();

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// One stage: parameters, their gradients, and its arithmetic. Tensors are
/// `batch` rows of `width` values, or those of a slice.
class Stage {
public:
  Stage(const Config &config, int index);
  ~Stage();
  Stage(Stage &&) noexcept;

  /// `input` is null at a stage without inputs, `output` at the last. Returns
  /// the loss of the slice at the last stage, else 0. `step` chooses the data.
  double forward(int step, int microbatch, int slice, const Values *input,
                 Values *output, Kept &kept, Carry &carry);
  /// The input half: fills `inputGradient` (null where there is no input) from
  /// `outputGradient` (null at the last) and keeps what the other half needs.
  void backwardInput(int slice, const Values *outputGradient,
                     Values *inputGradient, Kept &kept, Carry &carry);
  /// The weight half: adds to the gradients.
  void backwardWeight(Kept &kept);

  /// All parameters and all gradients, one after the other.
  Values &parameters();
  Values &gradients();
  const Values &gradients() const;

  /// The place of the parameters of a block among all parameters.
  std::size_t blockBegin(int block) const;
  std::size_t blockSize() const;

  /// One step of stochastic gradient descent with momentum for the parameters
  /// from `begin` to `end`, with these gradients.
  void update(std::size_t begin, std::size_t end, const Values &gradients);

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace train

#endif // PIPEC_EXAMPLES_TRAIN_NETWORK_H
