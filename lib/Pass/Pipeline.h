//===- Pipeline.h - A list of passes from text ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Pass/PassRegistry.h"

namespace pipec {

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
