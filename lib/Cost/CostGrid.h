//===- CostGrid.h - Figures with many digits --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Times are integers in ticks, so the ticks of all costs of a run must fit 64
// bits together. Sums of floating point numbers such as 1.8399999999999999 have
// no common denominator for that. The functions here round such figures to
// multiples of a power of ten, a grid that depends on the figures alone; see
// docs/Rationale/ExactRationals.md. Rounding twice is rounding once.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Cost/Figure.h"
#include "Support/DiagEngine.h"

#include "llvm/Support/JSON.h"

#include <string>

namespace pipec {

struct CostSettings;
struct LayerFigures;
struct MemorySettings;

/// How figures were rounded; empty for exact figures.
struct CostRounding {
  /// The grids of times, of factors, and of sizes.
  std::optional<Rational> times, factors, sizes;
  /// A figure whose effect rounding removed: one that is now 0, or a factor
  /// that is now 1.
  struct Vanished {
    std::string figure;
    Rational value, result;
  };
  std::vector<Vanished> vanished;

  bool any() const { return times || factors || sizes; }
};

/// Rounds the costs if the number of ticks of the largest would exceed 10^8 and
/// the costs are not all integers: so that it is at most 10^7, or to integers.
/// Rounds factors if the product of their denominators exceeds 10^6. `layers`
/// are costs of kinds of layers beside them.
void roundCosts(CostSettings &costs, CostRounding &rounding,
                llvm::MutableArrayRef<std::optional<LayerFigures>> layers = {});

/// The same for sizes, with limits of 10^12 and 10^8.
void roundSizes(MemorySettings &memory, CostRounding &rounding,
                llvm::MutableArrayRef<std::optional<LayerFigures>> layers = {});

/// Writes the attributes `cost_grid`, `factor_grid` and `size_grid`: the grids,
/// or null for figures that are exact.
void writeRounding(const CostRounding &rounding, llvm::json::OStream &json);

/// Warns of figures that were rounded.
void warnOfRounding(const CostRounding &rounding, DiagLoc loc,
                    DiagEngine &diags);

} // namespace pipec
