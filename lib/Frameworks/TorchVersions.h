//===- TorchVersions.h - The supported versions of PyTorch ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Frameworks/TargetRules.h"

#include <array>

namespace pipec {

/// A family of versions of PyTorch that read the same CSV.
struct TorchVersion {
  /// The name for users: a version of the family that the tests run.
  llvm::StringLiteral name;
  /// `PyTorch 2.6 to 2.14`
  llvm::StringLiteral phrase;
  /// The target for check-target.
  Target target;
};

/// The families, oldest first.
inline constexpr std::array<TorchVersion, 2> torchVersions = {{
    {"2.13", "PyTorch 2.6 to 2.14", Target::Torch213},
    {"2.15", "PyTorch 2.15", Target::Torch215},
}};

} // namespace pipec
