//===- Samples.h - The samples of one figure --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <vector>

namespace pipec {

/// How the value of a figure was found.
enum class Evidence {
  /// From spans of the device, which has no waits in them.
  Device,
  /// From spans of the host without the waits that the trace has.
  WithoutWaits,
  /// From spans in which the executor does nothing but the step.
  Executor,
  /// From steps whose input was known to be there.
  InputThere,
  /// The lower quartile of spans that have waits inside.
  LowerQuartile,
  /// From the starts of sends and the ends of their receives.
  Transfers,
  /// From allocations.
  Allocations,
};
llvm::StringRef evidenceText(Evidence evidence);

/// Durations in nanoseconds, or sizes in bytes, that were seen for one figure.
struct Samples {
  std::vector<int64_t> all;
  /// Those of steps that did not wait.
  std::vector<int64_t> unwaited;
  Evidence evidence = Evidence::LowerQuartile;

  /// The value of the figure: the median, or the lower quartile where `all` has
  /// waits inside. Sorts `all`; if enough samples did not wait, it drops the
  /// others first.
  int64_t typical();
};

/// The element with a share of `numerator` / 4 below it; of two in the middle
/// the smaller one.
int64_t quartile(llvm::ArrayRef<int64_t> sorted, unsigned numerator);

} // namespace pipec
