//===- ExecutorTables.h - Running tables of steps ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Part of Executor.h.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_RUNTIME_EXECUTORTABLES_H
#define PIPEC_RUNTIME_EXECUTORTABLES_H

#include "pipec/runtime/Executor.h"

namespace pipec::runtime {

template <class M, class T>
void Executor<M, T>::steps(std::span<const Step> table) {
  for (std::size_t i = 0; i != table.size(); ++i) {
    const Step &step = table[i];
    at(step.line);
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
      forward(step.stage, step.unit);
      break;
    case StepKind::Backward:
      backward(step.stage, step.unit);
      break;
    case StepKind::BackwardInput:
      backwardInput(step.stage, step.unit);
      break;
    case StepKind::BackwardWeight:
      backwardWeight(step.stage, step.unit);
      break;
    case StepKind::Recompute:
      recompute(step.stage, step.unit);
      break;
    case StepKind::SendForward:
      sendForward(step.stage, step.unit, step.other);
      break;
    case StepKind::RecvForward:
      recvForward(step.stage, step.unit, step.other);
      break;
    case StepKind::SendBackward:
      sendBackward(step.stage, step.unit, step.other);
      break;
    case StepKind::RecvBackward:
      recvBackward(step.stage, step.unit, step.other);
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
    case StepKind::WaitSendForward:
      waitSendForward(step.stage, step.unit, step.other);
      break;
    case StepKind::WaitSendBackward:
      waitSendBackward(step.stage, step.unit, step.other);
      break;
    case StepKind::WaitReduceGrad:
      waitReduceGrad(step.stage);
      break;
    case StepKind::ReduceTied:
      reduceTied(step.stage);
      break;
    case StepKind::Offload:
      offload(step.stage, step.unit);
      break;
    case StepKind::WaitOffload:
      waitOffload(step.stage, step.unit);
      break;
    case StepKind::Reload:
      reload(step.stage, step.unit);
      break;
    case StepKind::Update:
      update(step.stage);
      break;
    }
  }
}

} // namespace pipec::runtime

#endif // PIPEC_RUNTIME_EXECUTORTABLES_H
