//===- SettingsText.h - Costs in one line -----*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_IR_SETTINGSTEXT_H
#define PIPEC_IR_SETTINGSTEXT_H

#include "IR/Settings.h"

#include <string>

namespace pipec {

/// The general costs of a schedule, defaults applied: `F = 1, B = 2, I = 1, W =
/// 1, p2p = 0`, with the overlaps and stages that have costs of their own.
std::string costText(const CostSettings &costs);

} // namespace pipec

#endif // PIPEC_IR_SETTINGSTEXT_H
