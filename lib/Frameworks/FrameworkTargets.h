//===- FrameworkTargets.h - Frameworks that lint judges ---------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_FRAMEWORKS_FRAMEWORKTARGETS_H
#define PIPEC_FRAMEWORKS_FRAMEWORKTARGETS_H

#include "Frameworks/TargetRules.h"

#include <array>
#include <optional>

namespace pipec {

/// A framework for which `pipec lint --for=NAME` checks schedules.
struct FrameworkTarget {
  llvm::StringLiteral name;
  /// The name in texts.
  llvm::StringLiteral title;
  /// The target for check-target. Without one, the rules are those of the
  /// framework's column of `pipec compare` (Compare/Frameworks.def).
  std::optional<Target> target;
  /// Whether it trains with the runtime of PyTorch.
  bool usesTorch = false;
};

inline constexpr std::array<FrameworkTarget, 6> frameworkTargets = {{
    {"d9d", "d9d", Target::D9d},
    {"deepspeed", "DeepSpeed", Target::Deepspeed},
    {"megatron", "Megatron-LM", std::nullopt},
    {"primus", "Primus", Target::Primus},
    {"pytorch", "PyTorch", std::nullopt, /*usesTorch=*/true},
    {"torchtitan", "torchtitan", std::nullopt, /*usesTorch=*/true},
}};

} // namespace pipec

#endif // PIPEC_FRAMEWORKS_FRAMEWORKTARGETS_H
