//===- ExplainKind.h - The kinds of diagnostics explained -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Driver/Io.h"

namespace pipec {

/// The explanation of a kind, with its example, in Markdown: the section of its
/// page of diagnostics without the heading. Empty if there is no page.
std::string explanationOf(const DiagInfo &info);

/// Writes, to the file of `--output` or to `out`, the section of the pages of
/// diagnostics on the kind that `--explain` names, or on each kind with that
/// flag, and that of the kind whose example shows it. Reports unknown kinds,
/// and inputs.
llvm::LogicalResult printExplanation(const Arguments &args,
                                     llvm::raw_ostream &out,
                                     DiagSession &session);

} // namespace pipec
