//===- SettingsText.h - Costs in one line -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Cost/CostUse.h"

#include "llvm/Support/JSON.h"

#include <string>

namespace pipec {

/// The members of an overlap: `F & B`.
std::string overlapText(llvm::ArrayRef<StepKind> members);

/// A list of costs, each of which may differ between places: `F 1, B 2 to 3, I
/// ~0.5`, where `~` marks costs that were assumed.
class CostLine {
public:
  void add(llvm::StringRef name, llvm::StringRef least, llvm::StringRef most,
           bool isAssumed = false);
  void add(llvm::StringRef name, Rational least, Rational most,
           bool isAssumed = false);
  /// Adds a figure of all its places: `p2p 0.2 to 0.4 (6 edges)`. Adds no time
  /// that is 0 everywhere.
  void add(const CostSettings &costs, Figure figure);
  /// Adds the times of overlaps, and their factors.
  void addOverlaps(const CostSettings &costs, bool factors);
  /// Adds a remark in parentheses.
  void remark(llvm::StringRef text);
  const std::string &text() const { return line; }

private:
  std::string line;
};

/// The costs that a schedule uses: the compute kinds in `use`, and all others
/// that were given: `F 2 to 3, B 4 (8 stages), p2p 0.5`.
std::string costText(const CostSettings &costs, const CostUse &use);

/// The title of such a line: `costs per stage`, or `costs per stage, given per
/// part (1/8 of the model)` if they were given for parts of the model.
std::string costTitle(const ModelSettings &settings);

/// Writes the basis of the costs: the attributes `per` (`stage` or `part`),
/// `parts` (their number or null), `layout` (its text or null), `assumed` and
/// `cost_grid`.
void writeCostBasis(const ModelSettings &settings, const AssumedCosts &assumed,
                    llvm::json::OStream &json);

} // namespace pipec
