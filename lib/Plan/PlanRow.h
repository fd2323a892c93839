//===- PlanRow.h - The rows of a plan ---------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A row is an object of plan.json: a schedule with its layout and its figures.
// A candidate is a row of `pipec compare`, as JSON.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Plan/PlanRequest.h"

namespace pipec {

/// True if the framework runs a candidate, which has one copy of the model.
bool runsIn(const PlanConsumer &consumer, const llvm::json::Object &candidate);
/// True if it does so without a file; it must run there.
bool isBuiltIn(const PlanConsumer &consumer,
               const llvm::json::Object &candidate);

/// The row of a candidate, with `fits`.
llvm::json::Object rowOf(const llvm::json::Object &candidate, unsigned ranks);
/// Copies the figures of a report into a row.
void readReport(const llvm::json::Object &report, llvm::json::Object &row);

/// The parameters of a row of the library, as words.
CommandWords paramsOf(const llvm::json::Object &row);
/// The words that compile a row of the library.
CommandWords rowWords(const PlanRequest &request,
                      const llvm::json::Object &row);

/// Compares the times of runs, with transfers if their order is known.
bool isFaster(const llvm::json::Object &a, const llvm::json::Object &b);

} // namespace pipec
