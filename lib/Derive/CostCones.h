//===- CostCones.h - Sets of costs with one formula -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Support/Rational.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <array>
#include <bitset>
#include <optional>
#include <vector>

namespace pipec {

/// The costs that formulas have letters for, in the order of their sums.
enum class CostLetter : uint8_t { F, B, I, W, Overlap, P2P };
inline constexpr unsigned numCostLetters = 6;

/// A set of letters; bit L is letter L.
using LetterSet = std::bitset<numCostLetters>;
/// A cost of each letter.
using CostVector = std::array<Rational, numCostLetters>;

/// A row of CostCones.def.
struct CostCone {
  /// The letters of the steps, without p2p.
  LetterSet steps;
  /// In the syntax of programs, with `cost(&)` for the cost of the overlap;
  /// empty for all costs.
  llvm::StringRef condition;
  /// The letters of the sum, in ascending order.
  std::vector<CostLetter> letters;
  std::vector<CostVector> rays;

  /// The sum of the rays.
  CostVector inside() const;
  bool contains(const CostVector &costs) const;
  bool contains(const CostCone &other) const;
  /// The factors of the letters in the sum that has the given values at the
  /// rays, if there is one.
  std::optional<std::vector<Rational>>
  factors(llvm::ArrayRef<Rational> values) const;
};

/// All rows of the table.
llvm::ArrayRef<CostCone> allCostCones();

} // namespace pipec
