//===- TrainingRules.h - What training loops expect -------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Properties that a well-formed schedule may lack and that a training loop may
// count on all the same. The caller says how much each one weighs.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_LINT_TRAININGRULES_H
#define PIPEC_LINT_TRAININGRULES_H

#include "IR/Schedule.h"
#include "Support/DiagEngine.h"

namespace pipec {

/// Reports each rank whose forwards of the last stage leave the ascending order
/// of micro-batches, at the first step that does. PyTorch keeps losses in the
/// order of execution and reads them by micro-batch: such a list trains with
/// the gradients of other losses, or ends in an error where the model's last
/// operation keeps its result. Returns true when nothing was found.
bool checkLossOrder(const Schedule &schedule, Severity severity,
                    DiagEngine &diags);

/// Reports each rank that runs the forwards, or the backwards, of a stage in
/// another order than that of the micro-batches, at the first step that does.
/// Weight gradients may come in any order. Without `losses` the forwards of the
/// last stage are left to checkLossOrder. Returns true when nothing was found.
bool checkMicrobatchOrder(const Schedule &schedule, bool losses,
                          Severity severity, DiagEngine &diags);

/// Reports each UNSHARD whose stage is not used before its RESHARD: memory and
/// traffic for nothing. Returns true when nothing was found.
bool checkUnshardsUsed(const Schedule &schedule, Severity severity,
                       DiagEngine &diags);

} // namespace pipec

#endif // PIPEC_LINT_TRAININGRULES_H
