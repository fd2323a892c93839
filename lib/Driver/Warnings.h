//===- Warnings.h - Options about warnings ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Driver/Arguments.h"

namespace pipec {

/// The names of the warnings, and of the grades of `--grade`.
std::vector<llvm::StringRef> warningNames();
/// The text of the first warning of that name.
std::string warningText(llvm::StringRef name);
std::vector<llvm::StringRef> gradeNames();

/// Grades diagnostics as specified by `-W` and `--grade`, in the order of the
/// command line; for each name the last one applies. Reports unknown names and
/// grades.
llvm::LogicalResult applyWarnings(const Arguments &args, DiagEngine &diags);

} // namespace pipec
