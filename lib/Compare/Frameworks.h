//===- Frameworks.h - Where a schedule runs ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether training frameworks run a schedule: as a file that pipec writes, or
// because it is one of their own. The frameworks are rows of
// Frameworks/Frameworks.def; the order of the compute steps decides, never the
// name.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Frameworks/FrameworkTargets.h"
#include "Frameworks/TorchVersions.h"
#include "IR/Schedule.h"
#include "Pass/PassManager.h"
#include "Support/DiagEngine.h"

#include <array>
#include <vector>

namespace pipec {

/// Empty, `csv`, `json`, `built-in`, `executor`.
llvm::StringRef runsAsName(RunsAs how);

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
  explicit FrameworkJudge(DiagEngine &diags);

  /// Judges a verified schedule. `computes` are its compute steps alone;
  /// `shipped`, the list for PyTorch `version`; `layout`, the layers
  /// of its stages, or empty. A layout of decoder layers alone is taken as that
  /// of a model whose other layers do not matter. `only` judges one framework.
  /// Linear in the steps.
  Verdicts judge(const Schedule &computes, const Schedule &shipped,
                 const TorchVersion &version,
                 llvm::ArrayRef<std::string> layout,
                 std::optional<Framework> only = std::nullopt);

private:
  class Rules;

  DiagEngine &diags;
  /// The passes of the target of each framework, indexed by Framework.
  std::vector<PassManager> passes;
};

} // namespace pipec
