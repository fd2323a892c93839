//===- OrderCommand.h - Weights and orders of commands ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Command/CommandRun.h"
#include "Order/BatchOrder.h"

namespace pipec {

/// Reads the file of `--weights`. A limit in it is left out if there is one of
/// `--memory-limit`.
llvm::FailureOr<BatchWeights> readWeights(const Arguments &args,
                                          DiagEngine &diags);

/// Prints an order and its times, in the forms of `pipec order`.
void printOrder(const BatchOrder &order, llvm::raw_ostream &os);
void printOrder(const BatchOrder &order, llvm::json::OStream &json);

} // namespace pipec
