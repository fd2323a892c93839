//===- CppSteps.h - Step code of generated executors -----*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_EMIT_CPPSTEPS_H
#define PIPEC_EMIT_CPPSTEPS_H

#include "Emit/CppFamilies.h"

#include "llvm/Support/raw_ostream.h"

namespace pipec {

/// From a step to the line of the `.pipe` source that it comes from, 0 when it
/// has none.
using LineOf = llvm::function_ref<unsigned(Step)>;

/// Writes the function of a family of ranks, its table in front if it has one.
void writeFamily(const Schedule &schedule, const RankFamily &family,
                 const LoopTree &tree, LineOf lineOf, llvm::raw_ostream &os);

/// Writes the steps of one rank as a constant table.
void writeTable(const Schedule &schedule, unsigned rank, LineOf lineOf,
                llvm::raw_ostream &os);

/// Writes numbers between commas, as many to a line as fit.
void writeNumbers(llvm::ArrayRef<int64_t> numbers, unsigned indent,
                  llvm::raw_ostream &os);

} // namespace pipec

#endif // PIPEC_EMIT_CPPSTEPS_H
