//===- Warnings.h - Options about warnings ----------------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_DRIVER_WARNINGS_H
#define PIPEC_DRIVER_WARNINGS_H

#include "Driver/Arguments.h"

namespace pipec {

/// Grades diagnostics as `-W` and `--grade` ask, in the order of the command
/// line: of two about one name, the last one counts. Reports a name that no
/// warning has, and a grade that does not exist.
llvm::LogicalResult applyWarnings(const Arguments &args, DiagEngine &diags);

} // namespace pipec

#endif // PIPEC_DRIVER_WARNINGS_H
