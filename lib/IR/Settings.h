//===- Settings.h - Costs, memory, FSDP and expectations -----*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_IR_SETTINGS_H
#define PIPEC_IR_SETTINGS_H

#include "IR/Step.h"
#include "Support/Rational.h"

#include "llvm/ADT/SmallVector.h"

#include <map>
#include <optional>
#include <vector>

namespace pipec {

/// How long each kind of step takes, in any one unit of time. Whatever is not
/// set has its default: F = I = W = 1, B = I + W, an overlap the sum of its
/// members, p2p = 0.
struct CostSettings {
  /// Costs of F, B, I and W, indexed by `StepKind`.
  struct Row {
    std::optional<Rational> of[4];
    bool empty() const { return !of[0] && !of[1] && !of[2] && !of[3]; }
    friend bool operator==(const Row &, const Row &) = default;
  };
  /// The cost of an overlap with exactly these kinds in this issue order.
  struct Overlap {
    llvm::SmallVector<StepKind, 2> members;
    Rational cost;
    friend bool operator==(const Overlap &, const Overlap &) = default;
  };

  Row all;
  /// Overrides of single stages.
  std::map<unsigned, Row> stages;
  /// In the order of definition; no two have the same members.
  std::vector<Overlap> overlaps;
  /// The time that a transfer between two ranks takes; free inside a rank.
  std::optional<Rational> p2p;

  /// The cost of one step of a compute kind, defaults applied; nothing when
  /// I + W overflows.
  std::optional<Rational> of(StepKind kind, unsigned stage) const;
  /// The cost of an overlap of `members` if one was set.
  std::optional<Rational> ofOverlap(llvm::ArrayRef<StepKind> members) const;

  /// Sets everything that `over` sets.
  void merge(const CostSettings &over);

  friend bool operator==(const CostSettings &, const CostSettings &) = default;
};

/// What a step does to the live activations of its rank, in units of one
/// chunk's activation. Defaults: F = 1, B = -1, I = 0, W = -1.
struct MemorySettings {
  std::optional<Rational> of[4];
  std::optional<Rational> limit;

  Rational delta(StepKind kind) const;
  bool empty() const { return !of[0] && !of[1] && !of[2] && !of[3] && !limit; }
  friend bool operator==(const MemorySettings &,
                         const MemorySettings &) = default;
};

/// What `inject-fsdp` does unless its options say otherwise.
struct FsdpSettings {
  /// The managed stages in ascending order; nothing means all of them.
  std::optional<std::vector<unsigned>> stages;
  std::optional<unsigned> maxActive;
  std::optional<unsigned> prefetch;
  friend bool operator==(const FsdpSettings &, const FsdpSettings &) = default;
};

/// One `expect` clause, evaluated to a number.
struct Expectation {
  enum class Metric : uint8_t {
    Makespan,
    Span,
    BubbleMakespan,
    BubbleSpan,
    Idle, // of one rank
    Peak, // of one rank
  };
  enum class Relation : uint8_t { EQ, NE, LT, LE, GT, GE };

  Metric metric;
  Relation relation;
  /// The rank of `idle` and `peak`.
  std::optional<unsigned> rank;
  Rational value;
  SourceLoc source;
};

/// `makespan`, `bubble_span`, ...
llvm::StringRef metricName(Expectation::Metric metric);
std::optional<Expectation::Metric> parseMetric(llvm::StringRef name);
/// `==`, `<=`, ...
llvm::StringRef relationName(Expectation::Relation relation);
std::optional<Expectation::Relation> parseRelation(llvm::StringRef name);

} // namespace pipec

#endif // PIPEC_IR_SETTINGS_H
