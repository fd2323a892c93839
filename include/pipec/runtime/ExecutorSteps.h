//===- ExecutorSteps.h - Computes and FSDP actions -----*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Part of Executor.h. Every compute step has three parts: its data is there and
// its results have a place (begin), the model works (compute), and what nobody
// needs any more goes back to the pools (end). An overlap runs the first part
// of all its members, then the work, then the last part of all.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_RUNTIME_EXECUTORSTEPS_H
#define PIPEC_RUNTIME_EXECUTORSTEPS_H

#include "pipec/runtime/Executor.h"

namespace pipec::runtime {

template <class M, class T>
auto Executor<M, T>::enter(StepKind kind, int stage, int microbatch)
    -> Context {
  publish(RankState::Running, {kind, stage, microbatch});
  if (unsigned(stage) >= unsigned(schedule->stages) ||
      unsigned(microbatch) >= unsigned(schedule->microbatches) ||
      !isHere(stage, microbatch))
    fail("`" + stepText(kind, stage, microbatch) +
         "` does not belong on this rank");
  Context step;
  step.kind = kind;
  step.rank = rank;
  step.stage = stage;
  step.microbatch = microbatch;
  return step;
}

//===----------------------------------------------------------------------===//
// F
//===----------------------------------------------------------------------===//

template <class M, class T>
auto Executor<M, T>::beginForward(Context &step) -> Cell & {
  Cell &cell = cellOf(step.stage, step.microbatch);
  StageBooks &stage = booksOf(step.stage);
  if (cell.flags & ForwardBegun)
    fail("F" + text({step.kind, step.stage, step.microbatch}).substr(1) +
         " runs twice");
  if (stage.managed && !stage.unsharded)
    fail("`" + text({step.kind, step.stage, step.microbatch}) +
         "` runs while its stage is sharded");
  cell.flags |= ForwardBegun;
  if (step.stage > 0) {
    if (cell.inputRequest >= 0) {
      arrive(cell.inputRequest,
             {StepKind::RecvForward, step.stage, step.microbatch, 0, false});
      cell.inputRequest = -1;
      cell.flags |= InputReady;
    }
    if (!(cell.flags & InputReady))
      fail("`" + text({step.kind, step.stage, step.microbatch}) +
           "` runs before its input is there");
    step.input = &tensors[cell.input];
  }
  cell.activation = activations.acquire();
  step.kept = &activations[cell.activation];
  if (!isLast(step.stage)) {
    int output = acquireTensor();
    if (isHere(step.stage + 1, step.microbatch))
      cellOf(step.stage + 1, step.microbatch).input = output;
    else
      cell.output = output;
    step.output = &tensors[output];
  }
  return cell;
}

template <class M, class T>
void Executor<M, T>::endForward(Context &step, Cell &cell) {
  if (step.stage > 0) {
    if (cell.flags & InputPosted)
      --received;
    tensors.release(cell.input);
    cell.input = -1;
  }
  if (!isLast(step.stage)) {
    if (cell.output >= 0)
      ++unsent;
    else
      cellOf(step.stage + 1, step.microbatch).flags |= InputReady;
  }
  cell.flags |= ForwardDone;
  ++booksOf(step.stage).forwards;
  if (schedule->forwardOnly) {
    activations.release(cell.activation);
    cell.activation = -1;
  }
}

//===----------------------------------------------------------------------===//
// B, I and W
//===----------------------------------------------------------------------===//

template <class M, class T>
auto Executor<M, T>::beginBackward(Context &step) -> Cell & {
  Cell &cell = cellOf(step.stage, step.microbatch);
  StageBooks &stage = booksOf(step.stage);
  Step row = {step.kind, step.stage, step.microbatch};
  if (cell.flags & GradientBegun)
    fail("`" + text(row) + "` runs twice, as B or as I");
  if (stage.managed && !stage.unsharded)
    fail("`" + text(row) + "` runs while its stage is sharded");
  // Inside an overlap the last stage may feed itself.
  if (!(cell.flags & (isLast(step.stage) ? ForwardBegun : ForwardDone)) ||
      cell.activation < 0)
    fail("`" + text(row) + "` runs before its F");
  cell.flags |= GradientBegun;
  if (step.kind == StepKind::Backward)
    cell.flags |= WeightBegun;
  if (!isLast(step.stage)) {
    if (cell.gradientRequest >= 0) {
      arrive(cell.gradientRequest,
             {StepKind::RecvBackward, step.stage, step.microbatch, 0, false});
      cell.gradientRequest = -1;
      cell.flags |= GradientReady;
    }
    if (!(cell.flags & GradientReady))
      fail("`" + text(row) + "` runs before its gradient is there");
    step.outputGradient = &tensors[cell.outputGradient];
  }
  step.kept = &activations[cell.activation];
  if (step.stage > 0) {
    int gradient = acquireTensor();
    if (isHere(step.stage - 1, step.microbatch))
      cellOf(step.stage - 1, step.microbatch).outputGradient = gradient;
    else
      cell.inputGradient = gradient;
    step.inputGradient = &tensors[gradient];
  }
  return cell;
}

template <class M, class T>
void Executor<M, T>::endBackward(Context &step, Cell &cell) {
  if (step.stage > 0) {
    if (cell.inputGradient >= 0)
      ++unsent;
    else
      cellOf(step.stage - 1, step.microbatch).flags |= GradientReady;
  }
  cell.flags |= GradientDone;
  ++booksOf(step.stage).gradients;
  if (step.kind == StepKind::Backward) {
    ++booksOf(step.stage).weights;
    endGradient(cell);
  }
}

template <class M, class T>
auto Executor<M, T>::beginWeight(Context &step) -> Cell & {
  Cell &cell = cellOf(step.stage, step.microbatch);
  StageBooks &stage = booksOf(step.stage);
  Step row = {step.kind, step.stage, step.microbatch};
  if (cell.flags & WeightBegun)
    fail("`" + text(row) + "` runs twice, as W or in a B");
  if (stage.managed && !stage.unsharded)
    fail("`" + text(row) + "` runs while its stage is sharded");
  if (!(cell.flags & GradientDone))
    fail("`" + text(row) + "` runs before its I");
  cell.flags |= WeightBegun;
  if (!isLast(step.stage))
    step.outputGradient = &tensors[cell.outputGradient];
  step.kept = &activations[cell.activation];
  return cell;
}

template <class M, class T>
void Executor<M, T>::endWeight(Context &step, Cell &cell) {
  ++booksOf(step.stage).weights;
  endGradient(cell);
}

/// The last use of the gradient and of what the forward kept.
template <class M, class T> void Executor<M, T>::endGradient(Cell &cell) {
  cell.flags |= WeightDone;
  if (cell.outputGradient >= 0) {
    if (cell.flags & GradientPosted)
      --received;
    tensors.release(cell.outputGradient);
    cell.outputGradient = -1;
  }
  activations.release(cell.activation);
  cell.activation = -1;
}

//===----------------------------------------------------------------------===//
// The work itself
//===----------------------------------------------------------------------===//

template <class M, class T>
void Executor<M, T>::callModel(void *executor, Context &step) {
  M &model = static_cast<Executor *>(executor)->model;
  switch (step.kind) {
  case StepKind::Forward:
    model.forward(step.stage, step.microbatch, step.input, step.output,
                  *step.kept);
    return;
  case StepKind::Backward:
    if constexpr (ModelBackward<M>)
      model.backward(step.stage, step.microbatch, step.outputGradient,
                     step.inputGradient, *step.kept);
    else
      throw RefusedError("the schedule has B steps, and the model has no "
                         "backward(int stage, int microbatch, const Tensor "
                         "*outputGradient, Tensor *inputGradient, Activation "
                         "&kept)");
    return;
  case StepKind::BackwardInput:
  case StepKind::BackwardWeight:
    if constexpr (!ModelSplitBackward<M>)
      throw RefusedError("the schedule has I and W steps, and the model has no "
                         "backwardInput and backwardWeight");
    else if (step.kind == StepKind::BackwardInput)
      model.backwardInput(step.stage, step.microbatch, step.outputGradient,
                          step.inputGradient, *step.kept);
    else
      model.backwardWeight(step.stage, step.microbatch, step.outputGradient,
                           *step.kept);
    return;
  default:
    return;
  }
}

template <class M, class T>
void Executor<M, T>::takeOver(Context &step,
                              void (*action)(void *, Context &)) {
  step.executor = this;
  step.action = action;
  handlers[int(step.kind)](step);
}

template <class M, class T> void Executor<M, T>::compute(Context &step) {
  std::size_t record = 0;
  if (options.trace)
    record = options.trace->begin(
        {RankState::Running, step.kind, step.stage, step.microbatch, line},
        runNumber);
  if (handled[int(step.kind)]) [[unlikely]]
    takeOver(step, callModel);
  else
    callModel(this, step);
  if (options.trace)
    options.trace->end(record);
}

template <class M, class T>
auto Executor<M, T>::begin(Context &step) -> Cell & {
  switch (step.kind) {
  case StepKind::Forward:
    return beginForward(step);
  case StepKind::BackwardWeight:
    return beginWeight(step);
  default:
    return beginBackward(step);
  }
}

template <class M, class T>
void Executor<M, T>::end(Context &step, Cell &cell) {
  switch (step.kind) {
  case StepKind::Forward:
    return endForward(step, cell);
  case StepKind::BackwardWeight:
    return endWeight(step, cell);
  default:
    return endBackward(step, cell);
  }
}

template <class M, class T>
void Executor<M, T>::runOverlap(std::span<const Step> members) {
  group.clear();
  groupCells.clear();
  for (const Step &member : members) {
    if (!isCompute(member.kind))
      fail("`" + text(member) +
           "` is no compute step and stands in an overlap");
    group.push_back(enter(member.kind, member.stage, member.microbatch));
    groupCells.push_back(&begin(group.back()));
  }
  if constexpr (requires(std::span<Context> steps) {
                  model.overlapped(steps);
                }) {
    std::array<std::size_t, 16> records{};
    for (std::size_t i = 0; i != group.size(); ++i) {
      group[i].executor = this;
      group[i].action = callModel;
      if (options.trace && i < records.size())
        records[i] =
            options.trace->begin({RankState::Running, group[i].kind,
                                  group[i].stage, group[i].microbatch, line},
                                 runNumber);
    }
    model.overlapped(std::span<Context>(group));
    for (std::size_t i = 0; i != group.size(); ++i)
      if (options.trace && i < records.size())
        options.trace->end(records[i]);
  } else {
    for (Context &step : group)
      compute(step);
  }
  for (std::size_t i = 0; i != group.size(); ++i)
    end(group[i], *groupCells[i]);
}

//===----------------------------------------------------------------------===//
// FSDP
//===----------------------------------------------------------------------===//

template <class M, class T>
auto Executor<M, T>::enterFsdp(StepKind kind, int stage) -> StageBooks & {
  publish(RankState::Running, {kind, stage, 0});
  if (unsigned(stage) >= unsigned(schedule->stages) || localOf[stage] < 0)
    fail("`" + stepText(kind, stage, 0) + "` does not belong on this rank");
  return booksOf(stage);
}

template <class M, class T>
void Executor<M, T>::callFsdp(void *executor, Context &step) {
  M &model = static_cast<Executor *>(executor)->model;
  (void)model;
  if (step.kind == StepKind::Unshard) {
    if constexpr (requires { model.unshard(step.stage); })
      model.unshard(step.stage);
  } else if (step.kind == StepKind::Reshard) {
    if constexpr (requires { model.reshard(step.stage); })
      model.reshard(step.stage);
  } else {
    if constexpr (requires { model.reduceGrad(step.stage); })
      model.reduceGrad(step.stage);
  }
}

template <class M, class T>
void Executor<M, T>::fsdp(StepKind kind, int stage) {
  Context step;
  step.kind = kind;
  step.rank = rank;
  step.stage = stage;
  step.microbatch = 0;
  std::size_t record = 0;
  if (options.trace)
    record = options.trace->begin({RankState::Running, kind, stage, 0, line},
                                  runNumber);
  if (handled[int(kind)]) [[unlikely]]
    takeOver(step, callFsdp);
  else
    callFsdp(this, step);
  if (options.trace)
    options.trace->end(record);
}

template <class M, class T> void Executor<M, T>::unshard(int stage) {
  StageBooks &state = enterFsdp(StepKind::Unshard, stage);
  if (state.unsharded)
    fail("UNSHARD s" + std::to_string(stage) + " of a stage that is unsharded");
  fsdp(StepKind::Unshard, stage);
  state.unsharded = true;
}

template <class M, class T> void Executor<M, T>::reshard(int stage) {
  StageBooks &state = enterFsdp(StepKind::Reshard, stage);
  if (!state.unsharded)
    fail("RESHARD s" + std::to_string(stage) + " of a stage that is sharded");
  fsdp(StepKind::Reshard, stage);
  state.unsharded = false;
}

template <class M, class T> void Executor<M, T>::reduceGrad(int stage) {
  StageBooks &state = enterFsdp(StepKind::ReduceGrad, stage);
  if (state.reduced)
    fail("REDUCE_GRAD s" + std::to_string(stage) + " comes twice");
  if (state.weights != state.expected)
    fail("REDUCE_GRAD s" + std::to_string(stage) + " comes after " +
         std::to_string(state.weights) + " of " +
         std::to_string(state.expected) + " weight gradients");
  if (state.managed && !state.unsharded)
    fail("REDUCE_GRAD s" + std::to_string(stage) +
         " of a stage that is sharded");
  fsdp(StepKind::ReduceGrad, stage);
  state.reduced = true;
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

template <class M, class T>
void Executor<M, T>::steps(std::span<const Step> table) {
  for (std::size_t i = 0; i != table.size(); ++i) {
    const Step &step = table[i];
    line = step.line;
    if (step.joined) {
      std::size_t first = i;
      while (i + 1 != table.size() && table[i].joined)
        ++i;
      std::span<const Step> members = table.subspan(first, i - first + 1);
      if (isCompute(step.kind))
        runOverlap(members);
      else
        runBatch(members);
      continue;
    }
    switch (step.kind) {
    case StepKind::Forward:
      forward(step.stage, step.microbatch);
      break;
    case StepKind::Backward:
      backward(step.stage, step.microbatch);
      break;
    case StepKind::BackwardInput:
      backwardInput(step.stage, step.microbatch);
      break;
    case StepKind::BackwardWeight:
      backwardWeight(step.stage, step.microbatch);
      break;
    case StepKind::SendForward:
      sendForward(step.stage, step.microbatch);
      break;
    case StepKind::RecvForward:
      recvForward(step.stage, step.microbatch);
      break;
    case StepKind::SendBackward:
      sendBackward(step.stage, step.microbatch);
      break;
    case StepKind::RecvBackward:
      recvBackward(step.stage, step.microbatch);
      break;
    case StepKind::Unshard:
      unshard(step.stage);
      break;
    case StepKind::Reshard:
      reshard(step.stage);
      break;
    case StepKind::ReduceGrad:
      reduceGrad(step.stage);
      break;
    }
  }
}

} // namespace pipec::runtime

#endif // PIPEC_RUNTIME_EXECUTORSTEPS_H
