//===- Settings.h - Costs, memory and FSDP settings -------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a schedule says of costs, memory and FSDP. Costs and memory are sets of
// figures (Figure.h), and the functions here apply defaults and the order of
// scopes. docs/Simulation.md says what every figure means.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_COST_SETTINGS_H
#define PIPEC_COST_SETTINGS_H

#include "Cost/Figure.h"
#include "Support/SourceLoc.h"

#include <string>

namespace pipec {

/// A stage without settings of its own: the functions below then give what
/// holds in general.
inline constexpr unsigned anyStage = ~0u;

/// How long each kind of step takes, in any one unit of time: the cost model.
struct CostSettings : FigureSet {
  /// The cost of an overlap with exactly these kinds in this issue order: a
  /// time, or with `isFactor` a number that replaces `overlap`.
  struct Overlap {
    llvm::SmallVector<StepKind, 2> members;
    Rational cost;
    bool isFactor = false;
    friend bool operator==(const Overlap &, const Overlap &) = default;
  };
  /// In the order of definition; no two have the same members.
  std::vector<Overlap> overlaps;

  /// A figure for one stage, and with `rank` for that rank, defaults applied;
  /// nothing when I + W overflows.
  std::optional<Rational> of(Figure figure, unsigned stage,
                             std::optional<unsigned> rank = std::nullopt) const;
  /// The cost of one compute or FSDP step; factors are not in it.
  std::optional<Rational>
  of(StepKind kind, unsigned stage,
     std::optional<unsigned> rank = std::nullopt) const {
    return of(costFigure(kind), stage, rank);
  }
  /// The product of the factors of a rank and of a micro-batch; nothing when it
  /// overflows.
  std::optional<Rational> factorOf(unsigned rank, unsigned microbatch) const;
  /// The time of an overlap of `members` if one was set.
  std::optional<Rational> ofOverlap(llvm::ArrayRef<StepKind> members) const;
  /// The factor of an overlap of `members` without a time.
  Rational overlapFactor(llvm::ArrayRef<StepKind> members) const;
  /// A figure of the directed edge between two ranks; 0 inside a rank. A
  /// transfer is on the edge for its occupancy, where no other can be, and
  /// arrives `p2p`, its latency, after it has left it.
  Rational onEdge(Figure figure, unsigned from, unsigned to) const;
  Rational latency(unsigned from, unsigned to) const {
    return onEdge(Figure::P2P, from, to);
  }
  Rational occupancyOf(unsigned from, unsigned to) const {
    return onEdge(Figure::Occupancy, from, to);
  }

  using FigureSet::merge;
  using FigureSet::set;
  /// Sets the cost of an overlap and replaces an older one.
  void set(const Overlap &overlap);
  /// Sets everything that `over` sets.
  void merge(const CostSettings &over);

  friend bool operator==(const CostSettings &, const CostSettings &) = default;
};

/// What a rank keeps, in units of one chunk's activations: the memory model.
struct MemorySettings : FigureSet {
  /// A figure for one stage, defaults applied; nothing when F + I overflows.
  std::optional<Rational> of(Figure figure, unsigned stage) const;
  /// What a compute step does to the live activations of its rank.
  std::optional<Rational> delta(StepKind kind, unsigned stage) const {
    return of(liveFigure(kind), stage);
  }
  /// The sizes for one stage.
  Rational parameters(unsigned stage) const {
    return *of(Figure::Parameters, stage);
  }
  Rational sharded(unsigned stage) const { return *of(Figure::Sharded, stage); }
  Rational receive(unsigned stage) const { return *of(Figure::Receive, stage); }
  /// What a rank has room for.
  std::optional<Rational> limit() const { return get(Figure::Limit); }

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

  ModelSizes sizes() const { return {numRanks, numStages, numMicrobatches}; }
};

} // namespace pipec

#endif // PIPEC_COST_SETTINGS_H
