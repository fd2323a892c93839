//===- CostCones.h - Sets of costs with one formula -------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// The time of a run in a fixed order is the length of the longest path, which
// is a sum of costs, so it is a convex function of the costs that is
// homogeneous: twice the costs take twice the time. If such a function has the
// values of a sum of costs at all rays of a cone and at one point inside, it
// has them everywhere in the cone: nowhere can it be larger, by convexity, nor
// smaller, since then it would be smaller than the sum at the point inside.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_DERIVE_COSTCONES_H
#define PIPEC_DERIVE_COSTCONES_H

#include "Support/Rational.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <array>
#include <string>
#include <vector>

namespace pipec {

/// The costs that formulas have letters for.
enum class CostLetter : uint8_t { F, B, I, W, Overlap, P2P };
inline constexpr unsigned numCostLetters = 6;

/// A cost of each letter.
using CostVector = std::array<Rational, numCostLetters>;

/// A row of CostCones.def.
struct CostCone {
  /// The letters of the steps, `&` for overlaps: `FB&`.
  llvm::StringRef steps;
  /// In the syntax of programs, with `cost(&)` for the cost of the overlap;
  /// empty for all costs.
  llvm::StringRef condition;
  /// The letters of the sum.
  std::vector<CostLetter> letters;
  std::vector<CostVector> rays;

  /// The sum of the rays.
  CostVector inside() const;
  bool contains(const CostVector &costs) const;
  bool contains(const CostCone &other) const;
  /// The factors of the letters in the sum that has the given values at the
  /// rays; nothing if there is none, or if it does not fit.
  std::optional<std::vector<Rational>>
  factors(llvm::ArrayRef<Rational> values) const;
};

/// The cones for schedules with these steps, in the order of the table.
std::vector<CostCone> costConesFor(llvm::StringRef steps);
/// All rows of the table.
llvm::ArrayRef<CostCone> allCostCones();

} // namespace pipec

#endif // PIPEC_DERIVE_COSTCONES_H
