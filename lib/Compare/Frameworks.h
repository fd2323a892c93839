//===- Frameworks.h - Where a schedule runs ---------------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whether training frameworks run a schedule: as a file that pipec writes, or
// because it is one of their own. The rules are data, Frameworks.def; the order
// of the compute steps decides, never the name.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_COMPARE_FRAMEWORKS_H
#define PIPEC_COMPARE_FRAMEWORKS_H

#include "Frameworks/TorchVersions.h"
#include "IR/Schedule.h"
#include "Support/DiagEngine.h"

#include <array>

namespace pipec {

/// A row of Frameworks.def.
enum class Framework : uint8_t {
#define PIPEC_FRAMEWORK(Id, Name, Key, How, Target, Emit, Takes) Id,
#include "Compare/Frameworks.def"
};

/// How a framework runs a schedule. `Executor` is PyTorch without its runtime,
/// by `pipec.torch.executor`.
enum class RunsAs : uint8_t { No, Csv, Json, BuiltIn, Executor };
/// Empty, `csv`, `json`, `built-in`, `executor`.
llvm::StringRef runsAsName(RunsAs how);

struct FrameworkInfo {
  Framework framework;
  llvm::StringLiteral name;
  llvm::StringLiteral key;
  RunsAs how;
  /// The target of the file that it reads, and the output format if the
  /// extension of the file does not tell; both may be empty.
  llvm::StringLiteral target;
  llvm::StringLiteral emit;
};

inline constexpr FrameworkInfo frameworkTable[] = {
#define PIPEC_FRAMEWORK(Id, Name, Key, How, Target, Emit, Takes)               \
  {Framework::Id, Name, Key, RunsAs::How, Target, Emit},
#include "Compare/Frameworks.def"
};
inline constexpr size_t numFrameworks = std::size(frameworkTable);

/// Whether a framework runs a schedule.
struct Verdict {
  RunsAs how = RunsAs::No;
  /// Why it does not, or why only as `Executor`; a Markdown sentence without a
  /// full stop.
  std::string reason;
  /// For a schedule of the framework itself: the settings that choose it.
  std::string settings;
};
/// Indexed by Framework.
using Verdicts = std::array<Verdict, numFrameworks>;

/// Decides which frameworks run a schedule.
class FrameworkJudge {
public:
  explicit FrameworkJudge(DiagEngine &diags) : diags(diags) {}

  /// Judges a verified schedule. `computes` are its compute steps alone;
  /// `shipped`, what is given to PyTorch `version`; `layout`, the layers
  /// of its stages, or empty. A layout of decoder layers alone is taken as that
  /// of a model whose other layers do not matter. Linear in the steps.
  Verdicts judge(const Schedule &computes, const Schedule &shipped,
                 const TorchVersion &version,
                 llvm::ArrayRef<std::string> layout);

private:
  class Rules;

  DiagEngine &diags;
};

} // namespace pipec

#endif // PIPEC_COMPARE_FRAMEWORKS_H
