//===- CostProfile.h - Costs from files -------------------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_IMPORT_COSTPROFILE_H
#define PIPEC_IMPORT_COSTPROFILE_H

#include "Cost/GivenSettings.h"
#include "Support/DiagEngine.h"

#include "llvm/Support/LogicalResult.h"

namespace pipec {

/// The maximum size of a profile in bytes: sufficient for every stage and a
/// dense map of edges between 500 ranks.
inline constexpr uint64_t maxProfileBytes = uint64_t(1) << 24;

/// Reads a cost profile, a JSON object whose schema is in docs/Simulation.md:
///
///     {"per": "part", "parts": 8,
///      "F": 1, "B": 2, "I": 1.1, "W": "9/10", "p2p": 0.1, "overlap": 0.9,
///      "overlaps": {"F & B": 2.5, "B & F": {"factor": 0.8}},
///      "stages": {"0": {"F": 1.4}},
///      "ranks": {"2": {"factor": 1.2}},
///      "microbatches": {"0": {"factor": 1.5}},
///      "layers": {"L": {"F": 0.5, "B": 1, "activations": 0.1}},
///      "layout": "Et|t|t|tL",
///      "nodes": {"ranks": 8, "p2p": 1},
///      "edges": {"0 -> 1": {"occupancy": 0.5}},
///      "memory": {"parameters": 4, "stages": {"0": {"F": 2}}, "limit": 40}}
///
/// All keys are optional. Numbers are exact decimals, so 0.1 is exactly a
/// tenth; a string may contain a fraction. `text` must be a file of the
/// engine's `SourceFiles`; every error is reported at its position. The cost is
/// linear in the text, except for a logarithmic factor.
llvm::FailureOr<GivenSettings> readCostProfile(llvm::StringRef text,
                                               DiagEngine &diags);

} // namespace pipec

#endif // PIPEC_IMPORT_COSTPROFILE_H
