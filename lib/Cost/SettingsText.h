//===- SettingsText.h - Costs in one line -----------------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_COST_SETTINGSTEXT_H
#define PIPEC_COST_SETTINGSTEXT_H

#include "Cost/Settings.h"

#include "llvm/Support/JSON.h"

#include <string>

namespace pipec {

/// The general costs of a schedule, defaults applied: `F = 1, B = 2, I = 1, W =
/// 1, p2p = 0`, with the overlaps and stages that have costs of their own.
std::string costText(const CostSettings &costs);

/// The title of such a line: `costs per stage`, or `costs per stage, given per
/// part (1/8 of the model)` if they were given for parts of the model.
std::string costTitle(const ModelSettings &settings);

/// Writes what the costs were given for: the attributes `per` (`stage` or
/// `part`), `parts` (their number or null) and `layout` (its text or null).
void writeCostBasis(const ModelSettings &settings, llvm::json::OStream &json);

} // namespace pipec

#endif // PIPEC_COST_SETTINGSTEXT_H
