//===- Prove.h - One proof for every number of micro-batches ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Proves that a schedule is valid and completes for every number of
// micro-batches from some number on, and by which amount its makespan grows
// (docs/Prove.md).
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Driver/Grid.h"
#include "IRGen/IRGen.h"
#include "Prove/ProofText.h"

#include <functional>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace pipec {

/// A schedule of a program; `lowering` has all its parameters but the number of
/// micro-batches.
struct ProofRequest {
  const CheckedProgram &program;
  const CheckedSchedule &schedule;
  LowerOptions lowering;
  DiagEngine &diags;
  /// Adds transfers, and proves the runs under this model.
  std::optional<WaitModel> model = std::nullopt;
  /// The lists are known to complete, so that steps may take no time.
  bool completes = false;
  /// Also proves the other residues of the step for which this is true, if they
  /// are few.
  std::function<bool(int64_t microbatches)> isWanted = {};
};

/// For every k >= 0, with `from + step * period * k` micro-batches, the
/// schedule is valid, completes under free arrival, and has the makespan
/// `makespan + rate * k`. With any `from + step * n`, it is valid and
/// completes, and further `step * period` micro-batches add `rate`.
struct ScheduleProof {
  int64_t from = 0, step = 1, period = 1;
  /// From this number on the starts and ends of all ranks are linear, too, in
  /// multiples of the step and of this period; smaller ones were simulated.
  int64_t linearFrom = 0, linearPeriod = 1;
  /// With `isWanted`, the remainders by `step` of the numbers of micro-batches
  /// that are neither proven nor always refused.
  std::set<int64_t> open;
  Rational makespan, rate;
  /// The work per micro-batch of the rank with the most.
  Rational work;
  /// By rank, the peak of its activations with `from` micro-batches, and what
  /// `step * period` more add to it.
  std::vector<Rational> peaks, peakRates;
  /// The peaks with all of these numbers are known to grow so.
  bool hasPeaks = true;
  ProofText certificate;
};

/// The result of a proof: the proof, or why there is none.
struct ProofResult {
  std::string name;
  /// The parameters but the number of micro-batches.
  ParamValues params;
  std::variant<std::string, ScheduleProof> what;
  /// One of the schedules.
  Schedule schedule;

  const ScheduleProof *proof() const {
    return std::get_if<ScheduleProof>(&what);
  }
  const std::string &undecided() const { return std::get<std::string>(what); }
};

/// The numbers `first` + `each` n: `32 + 4 n`.
std::string seriesText(int64_t first, int64_t each);

/// Reports a schedule that is wrong or cannot run, with the least number of
/// micro-batches for which it is.
llvm::FailureOr<ProofResult> prove(const ProofRequest &request);

} // namespace pipec
