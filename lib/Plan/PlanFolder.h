//===- PlanFolder.h - The files of a plan -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Plan/InnerRuns.h"
#include "Support/DiagEngine.h"

namespace pipec {

/// A file of a plan for a framework.
struct PlanFile {
  /// In the folder of the plan.
  std::string name;
  /// The words of the command that writes it from the schedule, without input
  /// and output.
  CommandWords words;
};

/// A row of Driver/PlanConsumers.def. Lists are separated by blanks.
struct PlanConsumer {
  llvm::StringLiteral key;
  llvm::StringLiteral framework;
  llvm::StringLiteral runsAs;
  bool anyOrder;
  llvm::StringLiteral builtIn;
  llvm::StringLiteral places;
  llvm::StringLiteral placesByTime;

  /// The passes that place the transfers of its files, by the times of
  /// transfers if there are any; empty if the framework does so by rules that
  /// are not known.
  llvm::StringRef passes(bool byTime) const {
    return byTime && !placesByTime.empty() ? placesByTime : places;
  }
};
extern const llvm::ArrayRef<PlanConsumer> planConsumers;

/// The proof of the bound of a plan in its folder, where there is one.
inline constexpr llvm::StringLiteral planCertificate = "certificate";

/// The path of a file in a folder.
std::string pathIn(llvm::StringRef folder, llvm::StringRef name);

struct PlanRequest;

/// Writes the first file of the framework from a schedule. False if the
/// framework does not run the schedule.
bool canWriteFramework(InnerRuns &inner, const PlanRequest &request,
                       llvm::StringRef schedule);

/// Writes the files of a plan from its schedule, which is in the folder: those
/// of the framework, the page, the launch line. Returns their names.
llvm::FailureOr<std::vector<std::string>>
writePlanFiles(InnerRuns &inner, const PlanRequest &request,
               llvm::raw_ostream &out, DiagEngine &diags);

/// The digests of the files of a plan that are not made from its schedule: the
/// costs, the launch line, and plan.json, which is `plan` and these digests. A
/// file that is missing has none.
llvm::json::Object planDigests(llvm::StringRef folder,
                               const llvm::json::Object &plan);

/// Removes the files that an earlier plan in the folder names in `before`, and
/// that are not among `files`.
void removeEarlierFiles(llvm::StringRef folder,
                        llvm::ArrayRef<std::string> before,
                        llvm::ArrayRef<std::string> files);

/// The files that the plan in a folder names; none without a plan.
std::vector<std::string> filesOfPlan(llvm::StringRef folder);

/// `pipec plan --check`: reports where a folder differs from its plan. Returns
/// the makespan of its schedule, as text.
llvm::FailureOr<std::string> checkPlan(InnerRuns &inner, llvm::StringRef folder,
                                       DiagEngine &diags);

} // namespace pipec
