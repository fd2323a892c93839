//===- TeOrderReader.h - Step IR from Transformer Engine's order *- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_IMPORT_TEORDERREADER_H
#define PIPEC_IMPORT_TEORDERREADER_H

#include "IR/Schedule.h"
#include "Import/ListOptions.h"
#include "Support/DiagEngine.h"

namespace pipec {

/// Reads what `--emit=te-order` writes (docs/Megatron.md). `text` must be a
/// file of the engine's `SourceFiles`. The n-th forward and the n-th backward
/// of a chunk are those of micro-batch n; without `stage_to_rank` the stages
/// are in a loop. Backwards are whole if there are no gradients of weights.
/// Reports every entry that cannot be read; the source of each step is its
/// entry. Linear.
llvm::FailureOr<Schedule> importTeOrder(llvm::StringRef text,
                                        const ListOptions &options,
                                        DiagEngine &diags);

/// True if a text begins like such a file.
bool looksLikeTeOrder(llvm::StringRef text);

} // namespace pipec

#endif // PIPEC_IMPORT_TEORDERREADER_H
