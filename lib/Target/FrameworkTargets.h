//===- FrameworkTargets.h - Frameworks that lint judges ---------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_TARGET_FRAMEWORKTARGETS_H
#define PIPEC_TARGET_FRAMEWORKTARGETS_H

#include "Target/TargetRules.h"

#include <array>

namespace pipec {

/// A framework other than PyTorch for which `pipec lint --for=NAME` checks
/// schedules.
struct FrameworkTarget {
  llvm::StringLiteral name;
  /// The name in texts.
  llvm::StringLiteral title;
  /// The target for check-target.
  Target target;
};

inline constexpr std::array<FrameworkTarget, 3> frameworkTargets = {{
    {"d9d", "d9d", Target::D9d},
    {"deepspeed", "DeepSpeed", Target::Deepspeed},
    {"primus", "Primus", Target::Primus},
}};

} // namespace pipec

#endif // PIPEC_TARGET_FRAMEWORKTARGETS_H
