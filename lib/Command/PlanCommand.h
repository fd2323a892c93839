//===- PlanCommand.h - The parts of the plan command ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `pipec plan` runs other commands of pipec, in the same process, and reads what
// they print as JSON. Each of them can be repeated on a command line.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Command/CommandRun.h"

#include <string>
#include <vector>

namespace pipec {

/// The words of a command line after `pipec`.
using CommandWords = std::vector<std::string>;

/// Runs commands of pipec in this process.
class InnerRuns {
public:
  InnerRuns(const CommandRun &run) : run(run) {}

  /// Runs a command; its messages are kept in `messages`. Returns the exit
  /// status.
  int call(const CommandWords &words, std::string &printed);
  /// The object that a command prints with `--format=json`. If the command
  /// fails, its messages are printed, and the result is a failure.
  llvm::FailureOr<llvm::json::Object> ask(CommandWords words);
  /// Runs a command that prints nothing that is needed.
  llvm::LogicalResult write(const CommandWords &words);

  /// The messages of the last command.
  std::string messages;

private:
  const CommandRun &run;
};

/// What a framework is given: the files of a plan beside its schedule.
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
};
extern const llvm::ArrayRef<PlanConsumer> planConsumers;

/// The files of a framework.
std::vector<PlanFile> planFiles(const PlanConsumer &consumer);

/// The proof of the bound of a plan in its folder, where there is one.
inline constexpr llvm::StringLiteral planCertificate = "certificate";

/// Writes the files of a plan from its schedule, which is in the folder: those
/// of the framework, the page, the launch line. Returns their names.
llvm::FailureOr<std::vector<std::string>>
writePlanFiles(InnerRuns &inner, const PlanConsumer &consumer,
               llvm::StringRef folder, const CommandRun &run);

/// Writes a file of a plan.
llvm::LogicalResult writePlanText(llvm::StringRef path, llvm::StringRef text,
                                  const CommandRun &run);

/// `pipec plan --check`: reports where a folder differs from its plan.
llvm::LogicalResult checkPlan(InnerRuns &inner, llvm::StringRef folder,
                              const CommandRun &run);

/// Copies a figure of a JSON object with its exact value.
void copyFigure(const llvm::json::Object &from, llvm::StringRef key,
                llvm::json::Object &to, llvm::StringRef as);
/// The value of a figure for comparisons; infinity if it is null or absent.
double figureOf(const llvm::json::Object &object, llvm::StringRef key);

} // namespace pipec
