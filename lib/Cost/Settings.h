//===- Settings.h - Costs, memory, FSDP and expectations -----*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_COST_SETTINGS_H
#define PIPEC_COST_SETTINGS_H

#include "Cost/StepKind.h"
#include "Support/Rational.h"
#include "Support/SourceLoc.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pipec {

/// A stage that no settings name: `CostSettings::of` then gives the cost in
/// general.
inline constexpr unsigned anyStage = ~0u;

/// How long each kind of step takes, in any one unit of time: the cost model.
/// docs/Simulation.md says what every figure means. Whatever is not set has its
/// default: F = I = W = 1, B = I + W, everything else 0, factors 1.
struct CostSettings {
  /// The costs of single steps, by kind.
  struct Row {
    /// F, B, I and W, indexed by `StepKind`.
    std::optional<Rational> of[4];
    /// UNSHARD, RESHARD and REDUCE_GRAD.
    std::optional<Rational> collectives[3];

    /// The entry of a compute or FSDP kind.
    std::optional<Rational> &at(StepKind kind);
    const std::optional<Rational> &at(StepKind kind) const;
    bool empty() const { return *this == Row(); }
    /// Sets everything that `over` sets.
    void merge(const Row &over);
    friend bool operator==(const Row &, const Row &) = default;
  };
  /// The cost of an overlap with exactly these kinds in this issue order: a
  /// time, or with `isFactor` a number to put in the place of `overlap`.
  struct Overlap {
    llvm::SmallVector<StepKind, 2> members;
    Rational cost;
    bool isFactor = false;
    friend bool operator==(const Overlap &, const Overlap &) = default;
  };
  /// What one transfer takes on a directed edge between two ranks. It is on the
  /// edge for `occupancy`, where no other can be, and is there `p2p` after it
  /// has left it.
  struct Edge {
    std::optional<Rational> p2p;
    std::optional<Rational> occupancy;
    bool empty() const { return !p2p && !occupancy; }
    void merge(const Edge &over);
    friend bool operator==(const Edge &, const Edge &) = default;
  };
  /// Ranks in nodes of `size`, in their order; `edge` is for the edges between
  /// ranks of different nodes.
  struct Nodes {
    // Written out: clang has no implicit one for an optional member of the
    // enclosing class.
    Nodes() {}
    Nodes(unsigned size, Edge edge) : size(size), edge(std::move(edge)) {}
    unsigned size = 1;
    Edge edge;
    friend bool operator==(const Nodes &, const Nodes &) = default;
  };

  Row all;
  /// Overrides of single stages.
  std::map<unsigned, Row> stages;
  /// Overrides of single ranks, which win over those of stages.
  std::map<unsigned, Row> ranks;
  /// Multiply what every compute step takes on a rank, and of a micro-batch.
  std::map<unsigned, Rational> rankFactors;
  std::map<unsigned, Rational> microbatchFactors;
  /// An overlap without a cost of its own takes as long as its longest member,
  /// and at least this factor times the sum of its members; not set: 1.
  std::optional<Rational> overlap;
  /// In the order of definition; no two have the same members.
  std::vector<Overlap> overlaps;
  /// The two figures of an `Edge` for the edges that have none of their own.
  std::optional<Rational> p2p;
  std::optional<Rational> occupancy;
  std::optional<Nodes> nodes;
  /// Overrides of single directed edges, which win over `nodes`.
  std::map<std::pair<unsigned, unsigned>, Edge> edges;

  /// The cost of one compute or FSDP step, defaults applied and factors not;
  /// nothing when I + W overflows. Without a rank, the overrides of ranks are
  /// not looked at.
  std::optional<Rational> of(StepKind kind, unsigned stage,
                             std::optional<unsigned> rank = std::nullopt) const;
  /// The product of the factors of a rank and of a micro-batch; nothing when it
  /// overflows.
  std::optional<Rational> factorOf(unsigned rank, unsigned microbatch) const;
  /// The time of an overlap of `members` if one was set.
  std::optional<Rational> ofOverlap(llvm::ArrayRef<StepKind> members) const;
  /// The factor of an overlap of `members` without a time.
  Rational overlapFactor(llvm::ArrayRef<StepKind> members) const;
  /// How long after it has left its edge a transfer is there (how long it is on
  /// the edge); 0 inside a rank.
  Rational latency(unsigned from, unsigned to) const;
  Rational occupancyOf(unsigned from, unsigned to) const;

  /// Sets the cost of an overlap, in the place of an older one.
  void set(const Overlap &overlap);
  /// Sets everything that `over` sets.
  void merge(const CostSettings &over);

  friend bool operator==(const CostSettings &, const CostSettings &) = default;

private:
  std::optional<Rational> edgeFigure(std::optional<Rational> Edge::*figure,
                                     unsigned from, unsigned to) const;
};

/// What a rank keeps, in units of one chunk's activations: the memory model of
/// docs/Simulation.md. Defaults: F = 1, I = 0, B = -F, W = -(F + I), the sizes
/// 0.
struct MemorySettings {
  struct Row {
    /// What F, B, I and W do to the live activations, indexed by `StepKind`.
    std::optional<Rational> of[4];
    /// The parameters of a stage, whole and sharded.
    std::optional<Rational> parameters;
    std::optional<Rational> sharded;
    /// One received tensor.
    std::optional<Rational> receive;

    bool empty() const { return *this == Row(); }
    void merge(const Row &over);
    friend bool operator==(const Row &, const Row &) = default;
  };

  Row all;
  /// Overrides of single stages.
  std::map<unsigned, Row> stages;
  /// What a rank has room for.
  std::optional<Rational> limit;

  /// What a compute step does to the live activations of its rank; nothing when
  /// F + I overflows.
  std::optional<Rational> delta(StepKind kind, unsigned stage) const;
  /// The sizes for one stage.
  Rational parameters(unsigned stage) const;
  Rational sharded(unsigned stage) const;
  Rational receive(unsigned stage) const;

  bool empty() const { return *this == MemorySettings(); }
  /// Sets everything that `over` sets.
  void merge(const MemorySettings &over);
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

/// A schedule as far as costs see it: its sizes, and what it says of costs,
/// memory and FSDP.
struct ModelSettings {
  std::string name;
  unsigned numRanks = 0;
  unsigned numStages = 0;
  unsigned numMicrobatches = 0;
  CostSettings costs;
  /// Parts of the model that the costs and sizes were given for, before they
  /// were spread over the stages; 0 when they were given per stage. For
  /// reports: step IR says costs per stage, and not where they come from.
  unsigned costParts = 0;
  MemorySettings memory;
  std::optional<FsdpSettings> fsdp;
  /// The place of the schedule's name in its source.
  SourceLoc source;
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

#endif // PIPEC_COST_SETTINGS_H
