//===- OrderProof.h - The certificate of an order's bound -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Order/ScheduleLists.h"

#include "pipec/order.h"

#include "llvm/Support/raw_ostream.h"

namespace pipec {

/// What a schedule needs a proof of paths for, and a certificate cannot have;
/// empty if it has nothing of this.
llvm::StringRef uncertifiedCosts(const Schedule &schedule);

/// Writes the certificate of the bound of `found` (docs/Order.md).
void writeOrderProof(const Schedule &schedule, const order::Weights &weights,
                     const order::Result &found, const order::Proof &proof,
                     llvm::ArrayRef<JobStep> steps, llvm::raw_ostream &os);

} // namespace pipec
