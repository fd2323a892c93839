//===- WeightFile.h - The weights of a batch from a file --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Cost/BatchWeights.h"
#include "Support/Json.h"

namespace pipec {

/// Reads the file of `--weights`: `[1, 2.5]`, a list per stage `[[1, 2], ...]`,
/// or `{"weights": either, "sizes": [1, 2], "limit": 3}`. Numbers are exact
/// decimals, and a string may contain a fraction. `text` must be a file of the
/// engine's `SourceFiles`; errors are reported at their positions.
llvm::FailureOr<BatchWeights> readWeightFile(llvm::StringRef text,
                                             DiagEngine &diags);

/// Reads the next value, of the same forms.
llvm::FailureOr<BatchWeights> readWeights(JsonReader &json, DiagEngine &diags);

} // namespace pipec
