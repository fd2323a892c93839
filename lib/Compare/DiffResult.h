//===- DiffResult.h - How two schedules differ ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Driver/ScheduleSource.h"
#include "Explain/Report.h"

#include "llvm/Support/JSON.h"

namespace pipec {

/// The first difference between the lists of one rank.
struct Divergence {
  /// The index in the list of either schedule; the size of the list if it ends
  /// first.
  size_t first = 0;
  size_t second = 0;
};

/// The steps that are compared.
enum class CompareSteps {
  All,     // all but bubbles, which take no time
  Compute, // only compute steps
};

/// One of two schedules that are compared.
struct DiffSide {
  std::unique_ptr<ScheduleSource> source;
  /// The schedule of a program.
  const CheckedSchedule *checked = nullptr;
  Schedule schedule;
  Report figures;
};

/// The result of `pipec diff`.
struct DiffResult {
  DiffSide sides[2];
  CompareSteps which = CompareSteps::All;
  /// By rank, where the two lists diverge.
  std::vector<std::optional<Divergence>> divergences;

  /// True if both have the same steps on every rank.
  bool isSame() const;
  /// Why the figures cannot be compared: `8 and 10 micro-batches`, or the work
  /// of models that differ; empty if they can.
  std::string otherWork() const;
  void printText(llvm::raw_ostream &os, const SourceFiles &files,
                 bool colors) const;
  /// Writes the attributes of an object.
  void printJson(llvm::json::OStream &json, const SourceFiles &files) const;
};

/// The first difference for each rank that both schedules have; empty for a
/// rank with equal lists. Steps are equal if they perform the same action and
/// are joined in the same way. Linear.
std::vector<std::optional<Divergence>> findDivergence(const Schedule &first,
                                                      const Schedule &second,
                                                      CompareSteps which);

} // namespace pipec
