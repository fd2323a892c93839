//===- Expectation.cpp - Evaluated `expect` clauses -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Cost/Expectation.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

/// The enumerator with the index of `name` in the list of names.
template <typename T>
static std::optional<T> find(ArrayRef<StringRef> names, StringRef name) {
  const StringRef *it = llvm::find(names, name);
  return it == names.end() ? std::nullopt
                           : std::optional(T(it - names.begin()));
}

ArrayRef<StringRef> metricNames() {
  static constexpr StringRef names[] = {
#define PIPEC_METRIC(Id, Name, PerRank, Value, Doc) Name,
#include "Cost/Metrics.def"
  };
  return names;
}

StringRef metricName(Expectation::Metric metric) {
  return metricNames()[unsigned(metric)];
}

std::optional<Expectation::Metric> parseMetric(StringRef name) {
  return find<Expectation::Metric>(metricNames(), name);
}

bool isPerRank(Expectation::Metric metric) {
  static constexpr bool perRank[] = {
#define PIPEC_METRIC(Id, Name, PerRank, Value, Doc) PerRank,
#include "Cost/Metrics.def"
  };
  return perRank[unsigned(metric)];
}

/// In the order of `Expectation::Relation`.
static constexpr StringRef relationNames[] = {"==", "!=", "<", "<=", ">", ">="};

StringRef relationName(Expectation::Relation relation) {
  return relationNames[unsigned(relation)];
}

std::optional<Expectation::Relation> parseRelation(StringRef name) {
  return find<Expectation::Relation>(relationNames, name);
}

} // namespace pipec
