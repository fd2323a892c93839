//===- TokenLimits.h - Checks on tokens before the parser runs --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Parse/OffsetMap.h"
#include "Support/DiagEngine.h"

namespace antlr4 {
class CommonTokenStream;
}

namespace pipec {

/// Fails, with one error, if the tokens nest deeper than `maxNesting` or an
/// expression has more than `maxOperators` operators. After this check, the
/// parser and all later phases may recurse over the tree.
llvm::LogicalResult checkTokenLimits(antlr4::CommonTokenStream &tokens,
                                     const OffsetMap &offsets,
                                     DiagEngine &diags);

} // namespace pipec
