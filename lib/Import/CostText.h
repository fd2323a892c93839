//===- CostText.h - The texts of costs --------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Costs as users write them: in files (cost profiles) and in options.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Cost/GivenSettings.h"
#include "Support/DiagEngine.h"

namespace pipec {

/// Parses `F & B`; empty if the text is anything else.
llvm::SmallVector<StepKind, 2> parseCostMembers(llvm::StringRef text);

/// Parses a number in the syntax of JSON or in another common form: `7/2`,
/// `1e-3`, `.5`. Decimals are rounded to 18 digits. Nothing if it is not one or
/// does not fit a `Rational`.
std::optional<Rational> parseCostNumber(llvm::StringRef text);

/// A size of memory.
struct MemorySize {
  Rational value;
  /// True if it was written with a unit, and `value` is a number of bytes.
  bool inBytes = false;
};
/// Parses a number, or one with a unit: `20`, `60e6`, `1.5 GiB`. Nothing if it
/// is not one, is negative or does not fit a `Rational`.
std::optional<MemorySize> parseMemorySize(llvm::StringRef text);
/// The units of `parseMemorySize`, as a list in words.
llvm::StringRef memoryUnits();

/// Reads `F=1,B=2,F&B=2.5,p2p=0.1`, the value of `--cost`: the words and
/// overlaps of a cost block.
llvm::FailureOr<CostSettings> readCostOption(llvm::StringRef text,
                                             DiagEngine &diags);

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
