//===- LineBound.h - A bound for every number of micro-batches --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A lower bound of the makespan that is a line in the number of micro-batches
// (docs/Rationale/Bounds.md): without some of its first and last steps, the
// steps of a rank lie between the least time before and after these.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "IR/Schedule.h"
#include "Simulation/TickCosts.h"

#include <array>
#include <string>

namespace pipec {

/// A line in the number of micro-batches m: `rate` m + `base`.
struct Line {
  Rational rate, base;
  std::optional<Rational> at(int64_t microbatches) const;
  friend bool operator==(const Line &, const Line &) = default;
};

/// The line through `time` at `microbatches` that grows by `rate` for each
/// `more` micro-batches; empty if it does not fit.
std::optional<Line> lineThrough(int64_t microbatches, Rational time,
                                int64_t more, Rational rate);

/// `30 m + 12`; as code `30 * m + 12`.
std::string lineText(const Line &line, bool asCode = false);

/// F, I (B) and W; W only if backwards are split.
inline std::array<StepKind, 3> kindsOfUnits(bool split) {
  return {StepKind::F, split ? StepKind::I : StepKind::B, StepKind::W};
}

/// The steps of a rank that a bound leaves out.
struct LineBound {
  unsigned rank = 0;
  /// The steps of so many of the first and the last micro-batches are left out.
  struct Letter {
    StepKind kind;
    unsigned stage;
    int64_t first = 0, last = 0;
  };
  std::vector<Letter> letters;
};

/// No schedule with the placement, the costs, the memory and the form of
/// backwards of a schedule has less, from so many micro-batches on.
struct ProvenLine {
  Line line;
  int64_t from = 1;
};

/// Stores why nothing is proven in `why`.
std::optional<ProvenLine> proveLine(const LineBound &bound,
                                    const Schedule &schedule,
                                    const TickCosts &costs, std::string &why);

} // namespace pipec
