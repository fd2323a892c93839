//===- OrderCertificate.h - A proof that no order is faster -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A certificate of `pipec order`: the weights of a batch, an order of it, and a
// proof that no order is shorter than a bound (docs/Order.md describes its
// lines). A chain of steps is a list in which each step waits for the previous
// step, on the same rank or for its data. No order is shorter than any chain,
// and so than a weighted mean of chains. Under the best order
// for a mean, that is a sum of sorted numbers or an assignment. The checker
// shares no code with include/pipec/order.h.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "IR/Schedule.h"
#include "Support/DiagEngine.h"

namespace pipec {

/// True for the text of such a certificate.
bool isOrderCertificate(llvm::StringRef text);

struct CheckedOrder {
  /// The makespan of the order in the certificate, and the bound of all orders.
  Rational makespan, bound;
};

/// Checks a certificate for a verified schedule, whose list of compute steps it
/// refers to. Reports the first line that is wrong.
llvm::FailureOr<CheckedOrder> checkOrderCertificate(llvm::StringRef text,
                                                    const Schedule &schedule,
                                                    DiagEngine &diags);

} // namespace pipec
