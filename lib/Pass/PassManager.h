//===- PassManager.h - Running a list of passes -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Pass/PassRegistry.h"

#include "llvm/Support/raw_ostream.h"

namespace pipec {

/// Observes the run of a pipeline.
class PassInstrumentation {
public:
  virtual ~PassInstrumentation() = default;
  virtual void beforePass(const PipelineEntry &entry,
                          const Schedule &schedule) {}
  /// Called after a pass that succeeded. Failure ends the run.
  virtual llvm::LogicalResult afterPass(const PipelineEntry &entry,
                                        const Schedule &schedule,
                                        DiagEngine &diags) {
    return llvm::success();
  }
  /// Called once, even if a pass failed.
  virtual void afterPipeline(const Schedule &schedule) {}
};

/// Prints the schedule to `os` after every pass, with a comment that names the
/// pass.
std::unique_ptr<PassInstrumentation> makePrintAfterAll(llvm::raw_ostream &os);

/// The same before every pass.
std::unique_ptr<PassInstrumentation> makePrintBeforeAll(llvm::raw_ostream &os);

/// Runs the verifier after every pass.
std::unique_ptr<PassInstrumentation> makeVerifyEach();

/// Prints a table of the passes with their times to `os` at the end:
///
///     milliseconds   steps after   ns per step  pass
///            1.204         23040          52.3  insert-p2p{order=column}
///            1.204                              total
std::unique_ptr<PassInstrumentation> makeTimePasses(llvm::raw_ostream &os);

/// Runs passes over a schedule.
class PassManager {
public:
  explicit PassManager(Pipeline pipeline) : pipeline(std::move(pipeline)) {}

  void add(std::unique_ptr<PassInstrumentation> instrumentation) {
    instrumentations.push_back(std::move(instrumentation));
  }
  bool empty() const { return pipeline.empty(); }
  /// True if the result of a pass may depend on costs or memory settings.
  bool usesCosts() const;

  /// Runs the passes in order and stops at the first that fails, which has
  /// reported why. The schedule is then the result of the previous pass.
  llvm::LogicalResult run(Schedule &schedule, DiagEngine &diags);

private:
  llvm::LogicalResult runPasses(Schedule &schedule, DiagEngine &diags);

  Pipeline pipeline;
  std::vector<std::unique_ptr<PassInstrumentation>> instrumentations;
};

} // namespace pipec
