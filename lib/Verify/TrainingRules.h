//===- TrainingRules.h - Assumptions of training loops ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Properties that are not necessary for a well-formed schedule, but that a
// training loop may rely on. The caller chooses the severity.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "IR/Schedule.h"
#include "Support/DiagEngine.h"

namespace pipec {

/// Reports each rank whose forwards of the last stage are not in ascending
/// order of micro-batches, at the first such step. PyTorch stores losses in the
/// order of execution and reads them by micro-batch. So such a list trains with
/// the gradients of other losses, or fails if the model's last operation saves
/// its result. Returns true if nothing was reported.
bool checkLossOrder(const Schedule &schedule, Severity severity,
                    DiagEngine &diags);

/// Reports each rank that runs the forwards, or the backwards, of a stage out
/// of the order of micro-batches, at the first such step; the backwards of the
/// slices of a micro-batch descend. Weight gradients may
/// be in any order. Without `losses`, the forwards of the last stage are left
/// to checkLossOrder. Returns true if nothing was reported.
bool checkMicrobatchOrder(const Schedule &schedule, bool losses,
                          Severity severity, DiagEngine &diags);

/// Reports each UNSHARD whose stage is not used before its RESHARD, which
/// wastes memory and communication. Returns true if nothing was reported.
bool checkUnshardsUsed(const Schedule &schedule, Severity severity,
                       DiagEngine &diags);

/// Reports each group of tied stages with an UPDATE and without a REDUCE_TIED,
/// at its first UPDATE. Copies of shared parameters become different there.
/// Returns by group whether it was reported.
std::vector<bool> checkUpdatesSummed(const Schedule &schedule,
                                     Severity severity, DiagEngine &diags);

} // namespace pipec
