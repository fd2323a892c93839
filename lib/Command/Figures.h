//===- Figures.h - What two commands compare schedules by -----*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_COMMAND_FIGURES_H
#define PIPEC_COMMAND_FIGURES_H

#include "Analysis/Memory.h"

#include "llvm/Support/JSON.h"

#include <optional>
#include <string>
#include <vector>

namespace pipec {

/// The figures of one rank.
struct RankFigures {
  /// The makespan without its work.
  Rational idle;
  MemoryPeaks memory;
};

/// The figures of one run of a schedule.
struct Figures {
  /// Last end minus first start over all ranks; the longest rank's own last end
  /// minus first start.
  Rational makespan;
  Rational span;
  /// 1 - work / (ranks * makespan), and so for the span.
  Rational bubbleMakespan;
  Rational bubbleSpan;
  /// The work of all ranks.
  Rational work;
  /// The largest peaks of all ranks, each by itself.
  MemoryPeaks memory;
  std::vector<RankFigures> ranks;
  /// Tensors that go from rank to rank, whether the schedule has steps for that
  /// or not.
  uint64_t transfers = 0;
};

/// Runs a schedule: under `model` when it has transfers (`edge` without), else
/// under free arrival. Reports an order that cannot run and figures that do not
/// fit 64 bits. Linear in the steps.
llvm::FailureOr<Figures> measure(const Schedule &schedule,
                                 std::optional<WaitModel> model,
                                 DiagEngine &diags);

/// The general costs of a schedule, defaults applied: `F = 1, B = 2, I = 1, W =
/// 1, p2p = 0`, with the overlaps and stages that have costs of their own.
std::string costText(const CostSettings &costs);

/// A rate to four decimals.
std::string rateText(Rational rate);
/// A number with up to six decimals; `~` and four where it has more.
std::string numberText(Rational value);
/// Writes the attribute `key`: as a number with all its digits where it has
/// few, else as the nearest double, and the fraction as a string in
/// `key`_exact.
void writeExact(llvm::json::OStream &json, llvm::StringRef key, Rational value);

} // namespace pipec

#endif // PIPEC_COMMAND_FIGURES_H
