//===- ExplainAgainst.h - explain --against ---------------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_COMMAND_EXPLAINAGAINST_H
#define PIPEC_COMMAND_EXPLAINAGAINST_H

#include "Command/CommandRun.h"

namespace pipec {

/// Runs `explain` with --against: compares a schedule with traces of it.
llvm::LogicalResult explainAgainst(const CommandRun &run);

} // namespace pipec

#endif // PIPEC_COMMAND_EXPLAINAGAINST_H
