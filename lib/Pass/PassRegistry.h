//===- PassRegistry.h - The tables of passes and pipelines ------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_PASS_PASSREGISTRY_H
#define PIPEC_PASS_PASSREGISTRY_H

#include "Pass/Pass.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pipec {

/// One option of a pass.
struct PassOptionInfo {
  llvm::StringLiteral name;
  /// What its value may be: `N`, `adjacent|all`.
  std::string values;
  /// The value when the option is not given; empty when there is none.
  std::string defaultValue;
  llvm::StringLiteral help;
};

/// The texts of a pass's options, one an option in the order of its table row;
/// nothing where the option was not given, empty where it was given alone.
using PassOptionTexts = llvm::SmallVector<std::optional<llvm::StringRef>, 4>;

/// One row of the table of passes.
struct PassInfo {
  /// The pass, or the number of the option whose text is no value of it.
  struct Made {
    std::unique_ptr<Pass> pass;
    unsigned badOption = 0;
  };

  llvm::StringLiteral name;
  llvm::StringLiteral summary;
  /// What it does, with an example where that helps; Markdown.
  llvm::StringLiteral description;
  /// What a list must be for the pass to do its work.
  llvm::StringLiteral needs;
  /// What holds for the list that it leaves.
  llvm::StringLiteral ensures;
  /// Time and memory.
  llvm::StringLiteral cost;
  Made (*make)(const PassOptionTexts &texts);
  std::vector<PassOptionInfo> options;
};

/// A list of passes under one name, which stands wherever a pass may stand.
struct PipelineInfo {
  llvm::StringLiteral name;
  llvm::StringLiteral summary;
  /// The list, as `--passes` takes it.
  llvm::StringLiteral passes;
  /// What holds for the list that it leaves.
  llvm::StringLiteral guarantees;
};

/// All that `--passes` can name. The manager is handed one and knows no pass of
/// its own.
struct PassRegistry {
  llvm::ArrayRef<PassInfo> passes;
  llvm::ArrayRef<PipelineInfo> pipelines;

  const PassInfo *findPass(llvm::StringRef name) const;
  const PipelineInfo *findPipeline(llvm::StringRef name) const;
};

} // namespace pipec

#endif // PIPEC_PASS_PASSREGISTRY_H
