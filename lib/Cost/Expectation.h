//===- Expectation.h - Evaluated `expect` clauses ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Support/Rational.h"
#include "Support/SourceLoc.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>

namespace pipec {

/// One `expect` clause, evaluated to a number.
struct Expectation {
  enum class Metric : uint8_t {
#define PIPEC_METRIC(Id, Name, PerRank, Value, Doc) Id,
#include "Cost/Metrics.def"
  };
  enum class Relation : uint8_t { EQ, NE, LT, LE, GT, GE };

  Metric metric;
  Relation relation;
  /// The rank, for a metric that is per rank.
  std::optional<unsigned> rank;
  Rational value;
  SourceLoc source;
};

/// The names of all metrics, in the order of Metrics.def.
llvm::ArrayRef<llvm::StringRef> metricNames();
/// `makespan`, `bubble_span`, ...
llvm::StringRef metricName(Expectation::Metric metric);
std::optional<Expectation::Metric> parseMetric(llvm::StringRef name);
/// True for metrics with one value per rank: `idle`, `peak`.
bool isPerRank(Expectation::Metric metric);

/// `==`, `<=`, ...
llvm::StringRef relationName(Expectation::Relation relation);
std::optional<Expectation::Relation> parseRelation(llvm::StringRef name);

} // namespace pipec
