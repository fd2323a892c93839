//===- LintCommand.h - The findings of a command line -----------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_COMMAND_LINTCOMMAND_H
#define PIPEC_COMMAND_LINTCOMMAND_H

#include "Command/CommandRun.h"

namespace pipec {

/// Writes the JSON object of `lint` for a command line that cannot be used
/// because of `errors`, which are the findings. Fails.
llvm::LogicalResult lintCommandLine(const CommandRun &run,
                                    llvm::ArrayRef<Diagnostic> errors);

} // namespace pipec

#endif // PIPEC_COMMAND_LINTCOMMAND_H
