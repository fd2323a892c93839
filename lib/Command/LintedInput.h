//===- LintedInput.h - One input of the lint command ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Command/CommandRun.h"
#include "Driver/Input.h"
#include "Frameworks/FrameworkTargets.h"
#include "Lint/Findings.h"
#include "Lint/Lint.h"

#include "llvm/Support/JSON.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace pipec {

/// One input of the command, and the verdicts about it.
class LintedInput {
public:
  /// `request` is null if the command line cannot be used.
  LintedInput(const CommandRun &run, const InputRequest *request);

  /// Finds and reads the schedule; if that fails, nothing is checked.
  llvm::FailureOr<Schedule> load();
  void printText(llvm::raw_ostream &os, const Schedule &schedule);
  /// Writes the attributes of its object, also if the input cannot be read, or
  /// the command line cannot be used for the reasons in `unusable`; the errors
  /// are the findings.
  void printJson(llvm::json::OStream &json,
                 llvm::ArrayRef<Diagnostic> unusable);
  /// All findings; the errors, if the input cannot be read.
  FileFindings collect();

private:
  /// Runs `body` and passes its findings to `show`: those in a list at once,
  /// those in a program at the end, one per statement.
  void showFindings(DiagEngine::Handler show, llvm::function_ref<void()> body);
  LintResult find(const Schedule &schedule);
  /// Sets `reasons`, and reports those against the version given by --pytorch.
  /// --grade and -W do not affect this.
  void judge(const Schedule &schedule, const LintResult &result);
  /// The absent ranks, for messages: `rank 0` or `ranks 0 and 3`; empty if
  /// there are none.
  std::string absentText() const;
  bool isGoodForFramework() const { return isRead && frameworkReasons.empty(); }
  /// True if that version loads the schedule and trains correctly with it.
  bool isGoodFor(size_t version) const {
    return isRead && reasons[version].empty();
  }

  const CommandRun &run;
  const Arguments &args;
  DiagSession &session;
  DiagEngine &diags;
  const InputRequest *request;
  bool isRead = false;
  /// The reasons against each of `torchVersions`. If a schedule cannot be read,
  /// or its list has faults, these errors are reasons against all versions.
  std::array<std::vector<Diagnostic>, torchVersions.size()> reasons;
  /// Whether verdicts about PyTorch are printed.
  bool aboutTorch() const;
  /// Sets the reasons against `framework`, and reports them.
  void judgeFramework(const Schedule &schedule);

  /// The framework given by --for, unless it is PyTorch, and the reasons
  /// against it.
  const FrameworkInfo *framework = nullptr;
  std::vector<Diagnostic> frameworkReasons;
  LintOptions options;
  std::optional<InputKind> kind;
};

} // namespace pipec
