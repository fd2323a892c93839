//===- HyperParallelReader.h - Step IR from MetaSteps -----------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_IMPORT_HYPERPARALLELREADER_H
#define PIPEC_IMPORT_HYPERPARALLELREADER_H

#include "IR/Schedule.h"
#include "Import/ListOptions.h"
#include "Support/DiagEngine.h"

namespace pipec {

/// Reads an execution order of MindSpore HyperParallel (docs/HyperParallel.md),
/// as JSON or as Python prints it. `text` must be a file of the engine's
/// `SourceFiles`. What the text does not contain is inferred: the ranks from
/// the lists, a stage is on the rank in whose list it occurs. Reports every
/// step that cannot be read; the source of each step is its text. Linear.
llvm::FailureOr<Schedule> importHyperParallel(llvm::StringRef text,
                                              const ListOptions &options,
                                              DiagEngine &diags);

/// True if a text begins like an order: an object or a list that a program
/// cannot begin with.
bool looksLikeHyperParallel(llvm::StringRef text);

} // namespace pipec

#endif // PIPEC_IMPORT_HYPERPARALLELREADER_H
