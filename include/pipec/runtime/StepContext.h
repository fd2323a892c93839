//===- StepContext.h - What a handler is given ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A handler (`Executor::handle`) runs all steps of a kind, and a model's
// `overlapped` all overlaps. Both are given contexts: a step with its data, its
// transfer, and functions that run it as the executor would. A context is valid
// during the call.
//
// There are two forms of `overlapped`. With
//
//   void overlapped(std::span<StepContext<Model>> members);
//
// the executor waits for the inputs of all members before the call and ends all
// of them after it. With
//
//   void overlapped(std::span<OverlapMember<Model>> members);
//
// the model decides when each member begins and ends. It can start one half
// while the input of the other is still on its way, and send a result before
// the other half has run:
//
//   void overlapped(std::span<OverlapMember<Model>> members) {
//     bool backwardFirst = members[1].ready() && !members[0].ready();
//     members[backwardFirst].proceed();
//     members[backwardFirst].send();
//     members[!backwardFirst].proceed();
//   }
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_RUNTIME_STEPCONTEXT_H
#define PIPEC_RUNTIME_STEPCONTEXT_H

#include "pipec/runtime/Model.h"

#include <optional>
#include <span>

namespace pipec::runtime {

/// The data of a compute step. Pointers are null where the step has no such
/// operand.
template <class Model> struct StepData {
  typename Model::Tensor *input = nullptr;
  typename Model::Tensor *output = nullptr;
  const typename Model::Tensor *outputGradient = nullptr;
  typename Model::Tensor *inputGradient = nullptr;
  typename Model::Activation *kept = nullptr;
  /// Of an F with an R, of that R, and of copies between the two, if the model
  /// has a type `Stash`.
  StashOf<Model> *stash = nullptr;
  /// The context of the micro-batch on the stage, if the model has slices.
  SliceContextOf<Model> *context = nullptr;
  /// In a graph of stages, in place of the pointers above: the inputs, the
  /// gradients of the output, and the gradients of the inputs (Model.h).
  std::span<const typename Model::Tensor *const> inputs;
  std::span<const typename Model::Tensor *const> outputGradients;
  std::span<typename Model::Tensor *const> inputGradients;
};

/// One step with all of its data. Pointers are null where the step has no
/// such operand.
template <class Model> struct StepContext : StepData<Model> {
  StepKind kind;
  int rank;
  int stage;
  /// Its number in the batch (Executor::reorder).
  int microbatch;
  /// 0 without slices.
  int slice = 0;
  /// The micro-batch of the schedule and the slice in one number (Schedule.h).
  int unit = 0;
  /// The rank at the other end of a transfer, else -1.
  int peer = -1;
  /// The stage there, else -1.
  int other = -1;

  /// Of a compute step: whether it is the first (last) forward or backward of
  /// its stage on this rank in this run. The first backward is a B or an I, the
  /// last a B or a W: after it the gradients of the stage are complete.
  bool firstForward = false;
  bool lastForward = false;
  bool firstBackward = false;
  bool lastBackward = false;

  /// The tensor that a transfer sends or receives into.
  typename Model::Tensor *tensor = nullptr;

  /// Where the loss of the unit goes: of an F of the last stage, if the
  /// model has losses. `proceed` sets it; a handler that does the work itself
  /// does so, unless the model's `loss` does.
  std::optional<LossOf<Model>> *loss = nullptr;
  /// The losses of this rank so far, by unit of the batch; empty if the model
  /// has none.
  std::span<const std::optional<LossOf<Model>>> losses;

  /// Runs the step as the executor does without a handler. A handler of
  /// a compute step or an FSDP action that does not call it has done the work
  /// itself; one of a transfer has moved `tensor` itself.
  void proceed() { actions->proceed(executor, *this); }
  /// Whether `wait` would return at once: the transfer is complete, the send
  /// that a wait is for is complete, the input of a member of an overlap is
  /// there. Never waits.
  bool ready() { return actions->ready(executor, *this); }
  /// Waits for that, within the patience of the executor. A transfer is posted
  /// first; in a batch on a transport that begins transfers only at its end,
  /// waiting would not end.
  void wait() { actions->wait(executor, *this); }

  // The rest is the executor's.
  struct Actions {
    void (*proceed)(void *executor, StepContext &step);
    bool (*ready)(void *executor, StepContext &step);
    void (*wait)(void *executor, StepContext &step);
    // Of a member of an overlap.
    void (*finish)(void *executor, StepContext &step);
    void (*send)(void *executor, StepContext &step);
  };
  void *executor = nullptr;
  const Actions *actions = nullptr;
  /// The executor's books of the step.
  void *state = nullptr;
};

/// A member of an overlap that begins and ends when the model says so. Its
/// pointers are null until `wait` or `proceed`. A member that `overlapped` has
/// not begun runs after it, and one that it has not ended ends after it.
template <class Model> struct OverlapMember : StepContext<Model> {
  /// Ends the member, whose work the model has done: the result may be sent,
  /// and the pointers must not be used any more. `proceed` waits, calls the
  /// model's function for the step, and ends it.
  void finish() { this->actions->finish(this->executor, *this); }
  /// Sends the result of the member, which has ended, now and not at its SEND
  /// step, which then does nothing. Without effect where no other rank needs
  /// the result. Sends to one rank must keep the order of their steps.
  void send() { this->actions->send(this->executor, *this); }
};

} // namespace pipec::runtime

#endif // PIPEC_RUNTIME_STEPCONTEXT_H
