//===- PassRegistry.h - Passes, their tables and lists of them --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table row of a pass (name, summary, options) is in Transforms/Passes.def;
// the manager has no list of passes of its own; the registry is an argument.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "IR/Schedule.h"
#include "Support/DiagEngine.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pipec {

/// One run of a transformation or check. A pass that fails has reported why,
/// and leaves the schedule unchanged.
class Pass {
public:
  virtual ~Pass() = default;
  virtual llvm::LogicalResult run(Schedule &schedule, DiagEngine &diags) = 0;
  /// True if the result may depend on the costs or the memory settings of the
  /// schedule.
  virtual bool usesCosts() const { return false; }
};

/// One option of a pass.
struct PassOptionInfo {
  llvm::StringLiteral name;
  /// The allowed values: `N`, `adjacent|all`.
  std::string values;
  /// The value if the option is not given; empty if there is none.
  std::string defaultValue;
  llvm::StringLiteral help;
};

/// The texts of a pass's options in the order of its table row: nothing for an
/// option that was not given, empty for one without a value.
using PassOptionTexts = llvm::SmallVector<std::optional<llvm::StringRef>, 4>;

/// A row of the table of passes.
struct PassInfo {
  /// The pass, or the index of the option with an invalid value.
  struct Made {
    std::unique_ptr<Pass> pass;
    unsigned badOption = 0;
  };

  llvm::StringLiteral name;
  llvm::StringLiteral summary;
  /// A description of the pass, perhaps with an example; Markdown.
  llvm::StringLiteral description;
  /// The requirements on the list.
  llvm::StringLiteral needs;
  /// The properties of the resulting list.
  llvm::StringLiteral ensures;
  /// The cost in time and memory.
  llvm::StringLiteral cost;
  Made (*make)(const PassOptionTexts &texts);
  std::vector<PassOptionInfo> options;
};

/// A named list of passes, which may be used in place of a pass.
struct PipelineInfo {
  llvm::StringLiteral name;
  llvm::StringLiteral summary;
  /// The list in the syntax of `--passes`.
  llvm::StringLiteral passes;
  /// The properties of the resulting list.
  llvm::StringLiteral guarantees;
};

/// All names that `--passes` accepts. The manager takes the registry as an
/// argument.
struct PassRegistry {
  llvm::ArrayRef<PassInfo> passes;
  llvm::ArrayRef<PipelineInfo> pipelines;

  const PassInfo *findPass(llvm::StringRef name) const;
  const PipelineInfo *findPipeline(llvm::StringRef name) const;
};

/// One pass of a pipeline, ready to run.
struct PipelineEntry {
  const PassInfo *info;
  /// The pass and its options as given: `insert-p2p{order=column}`.
  std::string text;
  std::unique_ptr<Pass> pass;
};

/// Passes in the order in which they run; named pipelines are expanded.
using Pipeline = std::vector<PipelineEntry>;

/// Parses `NAME{OPTION=VALUE,...},NAME,...`, the syntax of `--passes`; spaces
/// around the parts and an empty list are allowed. Reports the first error of
/// every entry.
llvm::FailureOr<Pipeline> parsePipeline(llvm::StringRef text,
                                        const PassRegistry &registry,
                                        DiagEngine &diags);

} // namespace pipec
