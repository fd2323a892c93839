//===- Machine.h - Interpreter of the flat form -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "IRGen/Code.h"
#include "IRGen/StepBuilder.h"
#include "Sema/Sema.h"
#include "Support/DiagEngine.h"

#include <optional>

namespace pipec {

/// Runs code and reports errors, with the loop values and calls that led to
/// them.
class Machine {
public:
  Machine(const Code &code, uint64_t maxSteps, DiagEngine &diags)
      : code(code), slots(code.slots), maxSteps(maxSteps), fuel(maxSteps),
        diags(diags), remembered(code.fnEntries.size()) {}

  int64_t value(const ast::Variable *variable) const {
    return slots[variable->id];
  }
  void setValue(const ast::Variable *variable, int64_t value) {
    slots[variable->id] = value;
  }

  /// Returns the value of an expression; nothing if an error was reported.
  std::optional<int64_t> evaluate(Segment segment);
  /// Returns the value of `fn` for these arguments; nothing if an error was
  /// reported.
  std::optional<int64_t> call(const ast::FnDecl *fn,
                              llvm::ArrayRef<int64_t> args);
  /// Returns `stage(chunk)` on the current rank. If there is no such chunk,
  /// reports it at `range` and returns nothing.
  std::optional<int64_t> stage(int64_t chunk, llvm::SMRange range);
  /// Runs the body of a schedule for a rank; `builder` receives the steps.
  llvm::LogicalResult runRank(uint32_t entry, unsigned rank,
                              StepBuilder &builder);
  /// Sets the rank that notes mention; `runRank` does this too.
  void setRank(std::optional<unsigned> rank) { currentRank = rank; }

  /// While quiet, errors still end the run but are not reported.
  void setQuiet(bool on) { quiet = on; }

private:
  llvm::LogicalResult run(uint32_t entry);
  void remember(std::vector<int64_t> &results, int64_t argument,
                int64_t result);

  // MachineErrors.cpp
  /// Reports an error at an instruction, unless the machine is quiet.
  template <typename Kind, typename... Args>
  llvm::LogicalResult fail(uint32_t at, Kind kind, Args &&...args) {
    if (quiet)
      return llvm::failure();
    InFlightDiagnostic diagnostic =
        diags.report(code.ranges[at], kind, std::forward<Args>(args)...);
    addNotes(diagnostic, at);
    return llvm::failure();
  }
  llvm::LogicalResult fail(const StepError &error);
  void addNotes(InFlightDiagnostic &diagnostic, uint32_t at);
  llvm::LogicalResult overflow(uint32_t at);

  const Code &code;
  std::vector<int64_t> slots;
  uint64_t maxSteps;
  /// The remaining number of steps, iterations and calls.
  uint64_t fuel;
  DiagEngine &diags;
  StepBuilder *builder = nullptr;
  std::vector<uint32_t> returns;
  /// The results of pure functions, by function and argument.
  std::vector<std::vector<int64_t>> remembered;
  /// The number of entries of `remembered`.
  size_t places = 0;
  std::optional<unsigned> currentRank;
  bool quiet = false;
};

} // namespace pipec
