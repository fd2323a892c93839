//===- Plan.h - A schedule and a layout for a job ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Plan/PlanRequest.h"
#include "Support/Progress.h"

#include <optional>

namespace pipec {

/// The result of `pipec plan`. Rows are objects of plan.json, with the keys
/// that docs/Plan.md describes.
struct Plan {
  std::optional<llvm::json::Object> now, best, builtIn;
  llvm::json::Array alternatives;
  /// The placements, forms and layouts of the search, as `search` lists them.
  llvm::json::Value searched = nullptr;
  std::vector<std::string> files;
  /// Of planDigests; empty while it is printed for these.
  llvm::json::Object digests;

  /// The attributes of plan.json.
  void print(const PlanRequest &request, llvm::json::OStream &json) const;
  /// A line per row, the bound, the assumptions, and the files.
  void printText(const PlanRequest &request, llvm::raw_ostream &os) const;
};

/// Makes a plan and its folder. Reports all errors, also that nothing fits.
llvm::FailureOr<Plan> makePlan(PlanRequest &request, InnerRuns &inner,
                               Progress &progress, llvm::raw_ostream &out,
                               DiagEngine &diags);

} // namespace pipec
