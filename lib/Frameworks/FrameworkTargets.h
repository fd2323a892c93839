//===- FrameworkTargets.h - The frameworks that pipec knows -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Frameworks.def as data.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <iterator>

namespace pipec {

/// A row of Frameworks.def.
enum class Framework : uint8_t {
#define PIPEC_FRAMEWORK(Id, Column, Key, Title, How, Target, Outputs, Input,   \
                        Runs)                                                  \
  Id,
#include "Frameworks/Frameworks.def"
};

/// How a framework runs a schedule. `Executor` is PyTorch without its runtime,
/// by `pipec.torch.executor`.
enum class RunsAs : uint8_t { No, Csv, Json, BuiltIn, Executor };

struct FrameworkInfo {
  Framework framework;
  /// The heading of its column in `pipec compare`.
  llvm::StringLiteral column;
  /// The name on the command line, in CSV and in JSON.
  llvm::StringLiteral key;
  /// The name in texts.
  llvm::StringLiteral title;
  RunsAs how;
  /// The target that makes its lists; empty if it runs orders of its own.
  llvm::StringLiteral target;
  /// Output formats, separated by blanks; `--emit=KEY` is the first.
  llvm::StringLiteral outputs;
  /// The format of its files as input; may be empty.
  llvm::StringLiteral input;

  /// True if it trains with the runtime of PyTorch.
  bool usesTorch() const { return target.starts_with("torch"); }
  llvm::StringRef output() const { return outputs.split(' ').first; }
};

inline constexpr FrameworkInfo frameworkTable[] = {
#define PIPEC_FRAMEWORK(Id, Column, Key, Title, How, Target, Outputs, Input,   \
                        Runs)                                                  \
  {Framework::Id, Column, Key, Title, RunsAs::How, Target, Outputs, Input},
#include "Frameworks/Frameworks.def"
};
inline constexpr size_t numFrameworks = std::size(frameworkTable);

/// The framework with that key; null if there is none.
inline const FrameworkInfo *findFramework(llvm::StringRef key) {
  for (const FrameworkInfo &info : frameworkTable)
    if (info.key == key)
      return &info;
  return nullptr;
}

} // namespace pipec
