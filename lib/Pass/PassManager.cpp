//===- PassManager.cpp - Running a list of passes -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Pass/PassManager.h"

#include "StepText/StepPrinter.h"
#include "Support/Diagnostics/PassesDiags.h"
#include "Verify/Verifier.h"

#include "llvm/Support/Format.h"

#include <chrono>

using namespace llvm;

namespace pipec {

LogicalResult PassManager::run(Schedule &schedule, DiagEngine &diags) {
  LogicalResult result = runPasses(schedule, diags);
  for (auto &instrumentation : instrumentations)
    instrumentation->afterPipeline(schedule);
  return result;
}

LogicalResult PassManager::runPasses(Schedule &schedule, DiagEngine &diags) {
  for (const PipelineEntry &entry : pipeline) {
    for (auto &instrumentation : instrumentations)
      instrumentation->beforePass(entry, schedule);
    if (failed(entry.pass->run(schedule, diags)))
      return failure();
    for (auto &instrumentation : instrumentations)
      if (failed(instrumentation->afterPass(entry, schedule, diags)))
        return failure();
  }
  return success();
}

namespace {

/// Prints the schedule before or after every pass.
class PrintAll : public PassInstrumentation {
public:
  PrintAll(raw_ostream &os, bool before) : os(os), before(before) {}
  void beforePass(const PipelineEntry &entry,
                  const Schedule &schedule) override {
    if (before)
      print("before", entry, schedule);
  }
  LogicalResult afterPass(const PipelineEntry &entry, const Schedule &schedule,
                          DiagEngine &) override {
    if (!before)
      print("after", entry, schedule);
    return success();
  }

private:
  void print(StringRef when, const PipelineEntry &entry,
             const Schedule &schedule) {
    os << "// " << when << ' ' << entry.text << '\n';
    printSteps(schedule, os);
  }

  raw_ostream &os;
  bool before;
};

class VerifyEach : public PassInstrumentation {
  LogicalResult afterPass(const PipelineEntry &entry, const Schedule &schedule,
                          DiagEngine &diags) override {
    if (succeeded(verify(schedule, diags)))
      return success();
    return diags.report(schedule.source, diag::PassResultUnverified,
                        entry.text);
  }
};

class TimePasses : public PassInstrumentation {
public:
  explicit TimePasses(raw_ostream &os) : os(os) {}

  void beforePass(const PipelineEntry &, const Schedule &) override {
    start = std::chrono::steady_clock::now();
  }

  LogicalResult afterPass(const PipelineEntry &entry, const Schedule &schedule,
                          DiagEngine &) override {
    std::chrono::duration<double> time =
        std::chrono::steady_clock::now() - start;
    rows.push_back({entry.text, time.count(), schedule.numSteps()});
    return success();
  }

  void afterPipeline(const Schedule &) override {
    double total = 0;
    os << "    milliseconds   steps after ns per step  pass\n";
    for (const Row &row : rows) {
      total += row.seconds;
      double perStep = row.steps ? row.seconds * 1e9 / double(row.steps) : 0;
      os << format("%16.3f%14zu%12.1f  ", row.seconds * 1e3, row.steps, perStep)
         << row.text << '\n';
    }
    os << format("%16.3f", total * 1e3);
    os.indent(28) << "total\n";
  }

private:
  struct Row {
    std::string text;
    double seconds;
    size_t steps;
  };

  raw_ostream &os;
  std::chrono::steady_clock::time_point start;
  std::vector<Row> rows;
};

} // namespace

bool PassManager::usesCosts() const {
  return any_of(pipeline, [](const PipelineEntry &entry) {
    return entry.pass->usesCosts();
  });
}

std::unique_ptr<PassInstrumentation> makePrintAfterAll(raw_ostream &os) {
  return std::make_unique<PrintAll>(os, /*before=*/false);
}

std::unique_ptr<PassInstrumentation> makePrintBeforeAll(raw_ostream &os) {
  return std::make_unique<PrintAll>(os, /*before=*/true);
}

std::unique_ptr<PassInstrumentation> makeVerifyEach() {
  return std::make_unique<VerifyEach>();
}

std::unique_ptr<PassInstrumentation> makeTimePasses(raw_ostream &os) {
  return std::make_unique<TimePasses>(os);
}

} // namespace pipec
