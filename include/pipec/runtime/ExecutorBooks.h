//===- ExecutorBooks.h - What an executor remembers -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The books of a rank: the tensors of its units, the steps that have begun and
// ended, and the transfers that are under way.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_RUNTIME_EXECUTORBOOKS_H
#define PIPEC_RUNTIME_EXECUTORBOOKS_H

#include "pipec/runtime/Model.h"
#include "pipec/runtime/StepContext.h"
#include "pipec/runtime/Steps.h"
#include "pipec/runtime/TransferParts.h"

#include <optional>
#include <vector>

namespace pipec::runtime {

namespace detail {
/// What has happened to a cell: `ExecutorBooks::Cell::flags`.
enum CellFlag : unsigned {
  ForwardBegun = 1 << 0,
  ForwardDone = 1 << 1,
  GradientBegun = 1 << 2, // B or I
  GradientDone = 1 << 3,
  WeightBegun = 1 << 4, // B or W
  WeightDone = 1 << 5,
  InputPosted = 1 << 6,
  InputReady = 1 << 7,
  GradientPosted = 1 << 8,
  GradientReady = 1 << 9,
  OutputSent = 1 << 10,
  InputGradientSent = 1 << 11,
  OutputFreed = 1 << 12,
  InputGradientFreed = 1 << 13,
  LossTaken = 1 << 14,
  Recomputed = 1 << 15, // the list has an R of it
  RecomputeBegun = 1 << 16,
  // Where the activation or stash is; neither while it is on the device.
  Leaving = 1 << 17, // between OFFLOAD and WAIT_OFFLOAD
  OnHost = 1 << 18,  // between WAIT_OFFLOAD and RELOAD
};
} // namespace detail

/// The types of the books of an executor of a model M with a transport T.
template <class M, class T> struct ExecutorBooks {
  using Tensor = typename M::Tensor;
  using Activation = typename M::Activation;
  using Request =
      typename std::remove_reference_t<detail::TransportFor<M, T>>::Request;
  using Reduction = ReductionOf<M>;
  using Stash = StashOf<M>;
  using Copies = CopiesOf<M>;

  /// A transfer that is under way. It does not move until it is complete.
  struct Transfer {
    Request request;
    /// The next member of the same batch, in a circle; null outside of batches
    /// and where nothing waits for a batch as a whole.
    Transfer *sibling = nullptr;
    /// Set where there is a sibling.
    Step step = {};
  };
  /// The books of one unit on one stage: pooled objects, null for none,
  /// and what has happened to them. In a graph of stages there are several,
  /// called ports: port i has the i-th input with its gradient, and the output
  /// for the i-th target with the gradient that comes from there. What belongs
  /// to the stage as a whole is in port 0.
  struct Cell {
    Tensor *input = nullptr;
    Tensor *output = nullptr;
    Tensor *outputGradient = nullptr;
    Tensor *inputGradient = nullptr;
    Activation *kept = nullptr;
    /// From the F to the R, the object that the F has kept for the R, if the
    /// model has a type for it; otherwise the R uses the input.
    Stash *stash = nullptr;
    /// From an OFFLOAD until the copy back is waited for.
    Copies *copies = nullptr;
    /// Until the F begins, its RECV_F if that was posted; after the F, the
    /// SEND_F that a WAIT_SEND_F will wait for.
    Transfer *forwardTransfer = nullptr;
    /// The same for the RECV_B and the SEND_B, before and after the B or I.
    Transfer *backwardTransfer = nullptr;
    /// Of `detail::CellFlag`.
    unsigned flags = 0;
  };
  /// The context of a micro-batch on a stage, of a model with slices: null
  /// before the first slice and after the last.
  struct HeldContext {
    SliceContextOf<M> *context = nullptr;
    /// The slices that are done with it.
    int done = 0;
  };
  /// The books of one stage on this rank.
  struct StageBooks {
    int stage;
    int expected;
    bool managed;
    /// The numbers of inputs and of targets, and of cells of a unit.
    int inputs = 0;
    int targets = 0;
    int ports = 1;
    /// The first list of each unit in `lists`: inputs, then gradients of
    /// the output, then gradients of the inputs.
    Tensor **lists = nullptr;
    /// By micro-batch; null if the model has no slices.
    HeldContext *contexts = nullptr;
    // Steps that have begun: F, B and I, B and W.
    int forwards = 0;
    int gradients = 0;
    int weights = 0;
    bool unsharded = false;
    bool reduced = false;
    /// Its REDUCE_GRAD has run and its WAIT_REDUCE_GRAD has not.
    bool reducing = false;
    /// Started by the REDUCE_GRAD.
    std::optional<Reduction> reduction = {};
    bool updated = false;
  };
  /// Where the books of a stage are; null for the stages of other ranks.
  struct Place {
    Cell *cells = nullptr;
    StageBooks *books = nullptr;
  };
  /// A compute step that is under way.
  struct Work : StepData<M> {
    StepKind kind;
    int stage;
    int unit;
    Cell *cell;
    StageBooks *books;
    /// See StepContext.
    bool firstForward = false, lastForward = false;
    bool firstBackward = false, lastBackward = false;
    /// Of an F with an R, the copy of the input that it may change.
    Tensor *copied = nullptr;
    /// Of a member of an overlap that begins and ends when the model says so.
    bool begun = false, ended = false;
  };
  /// A stage at the other end of an edge, and the port there.
  struct EdgeEnd {
    int stage;
    int port;
  };
  /// The edges of a stage in a graph, in ascending order of the other ends.
  struct StageEnds {
    std::vector<EdgeEnd> sources;
    std::vector<EdgeEnd> targets;
  };
  /// A transfer just posted; or a send that may not be complete.
  struct Posted {
    Step step;
    /// Null when a handler has moved the tensor.
    Transfer *transfer = nullptr;
    Tensor *tensor = nullptr;
  };
  /// The gradient of one rank in a sum of tied gradients, and its transfers;
  /// null on the rank itself.
  struct TiedPart {
    int rank;
    Tensor *tensor;
    Transfer *sending = nullptr;
    Transfer *receiving = nullptr;
  };
};

} // namespace pipec::runtime

#endif // PIPEC_RUNTIME_EXECUTORBOOKS_H
