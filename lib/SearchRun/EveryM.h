//===- EveryM.h - One schedule for every number of micro-batches *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Prove/ProofText.h"
#include "SearchRun/ScheduleSearch.h"

namespace pipec {

/// A program with a ramp, a repeated block and a ramp on each rank, which is
/// proven (Prove/Prove.h) for `from` + `step` n micro-batches, and a lower
/// bound of the makespan for every number of micro-batches.
struct EveryM {
  std::string program;
  /// The program takes `least` + `step` n micro-batches.
  int64_t least = 1, step = 1;
  /// With `from` + `step` `period` n micro-batches the makespan is a line.
  int64_t from = 1, period = 1;
  Line makespan;
  /// No schedule has less, from `boundFrom` micro-batches on.
  Line bound;
  int64_t boundFrom = 1;
  /// From here on `makespan` is the bound; empty if they differ.
  std::optional<int64_t> optimalFrom;

  /// The numbers of micro-batches of the line: `12 + 2 n`.
  std::string sizes(int64_t first) const;

  /// The proof, with a bound that may be less than `bound`: the line of this.
  ProofText proof;
  ProvenLine proven;
};

/// Makes the program of a readable result and proves it. Reports a result
/// without blocks, and one that is not proven.
llvm::FailureOr<EveryM> makeEveryM(const FoundSchedule &found,
                                   const SearchPath &path, DiagEngine &diags);

} // namespace pipec
