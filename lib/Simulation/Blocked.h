//===- Blocked.h - Reporting an order that cannot run -----*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_SIMULATION_BLOCKED_H
#define PIPEC_SIMULATION_BLOCKED_H

#include "IR/Schedule.h"
#include "Support/DiagEngine.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace pipec {

/// The step whose result `step` takes, as an F or a B; nothing for one that
/// takes none.
std::optional<Step> supplierOf(const Schedule &schedule, Step step);

/// Reports an order that cannot run: `heads[r]` is the place in the list of
/// rank r of the group that waits, the size of the list when none does; `lacks`
/// says of a step with a supplier that its data has not been made. Each rank
/// that waits gets a note, up to a limit.
InFlightDiagnostic reportBlocked(const Schedule &schedule,
                                 llvm::ArrayRef<size_t> heads,
                                 llvm::function_ref<bool(Step)> lacks,
                                 DiagEngine &diags);

} // namespace pipec

#endif // PIPEC_SIMULATION_BLOCKED_H
