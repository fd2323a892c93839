//===- Settings.h - Costs, memory and FSDP settings -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The costs, memory figures and FSDP settings of a schedule. Costs and memory
// are sets of figures (Figure.h); the functions here apply the defaults and the
// precedence of scopes. docs/Simulation.md defines each figure.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Cost/CostGrid.h"
#include "Cost/Figure.h"
#include "Cost/LayerLayout.h"
#include "Support/DiagEngine.h"
#include "Support/SourceLoc.h"

#include "llvm/ADT/STLExtras.h"

#include <array>
#include <functional>
#include <map>
#include <string>

namespace pipec {

/// Stands for a stage without settings of its own: the functions below then
/// return the general figures.
inline constexpr unsigned anyStage = ~0u;

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

/// Where the cost of a compute kind comes from. All but `Given` are assumptions
/// about a cost that was not given.
enum class CostRule : uint8_t {
  /// It was given, or it is the default because no compute cost was given.
  Given,
  /// F: half of a given B, or of I + W.
  HalfOfB,
  HalfOfSum,
  /// B: I + W, where a half that is not given is as long as the other.
  Sum,
  /// B: two forwards, if only F is given.
  TwiceF,
  /// I or W: B minus the given half.
  RestOfB,
  /// I or W: half of B, if the other is not given or leaves nothing.
  HalfBackward,
  /// I or W: as long as the given half, if B is not given.
  OtherHalf,
  /// I or W: as long as a forward, if only F is given.
  AsF,
};

/// A cost and its rule; the cost is empty if it does not fit 64 bits.
struct ComputeCost {
  CostRule rule = CostRule::Given;
  std::optional<Rational> cost;
  bool isAssumed() const { return rule != CostRule::Given; }
};

/// The costs of F, B, I and W that are given for one place, indexed by kind.
using GivenCosts = std::array<std::optional<Rational>, 4>;

/// The cost of F, B, I or W. The one rule for costs that are not given, for
/// stages, ranks, parts of the model and kinds of layers.
ComputeCost computeCost(Figure figure, const GivenCosts &given);

/// The sum of the compute costs of parts of a stage, some of which may be
/// assumed.
class ComputeSum {
public:
  /// Adds `share` times the costs of a part, with the rule above applied.
  void add(const GivenCosts &given, Rational share);
  /// False if a sum does not fit 64 bits.
  bool fits() const { return llvm::all_of(sums, std::identity()); }
  std::optional<Rational> sum(Figure figure) const {
    return sums[unsigned(figure)];
  }
  CostRule rule(Figure figure) const { return rules[unsigned(figure)]; }
  /// Replaces a sum that was given.
  void set(Figure figure, Rational sum) { sums[unsigned(figure)] = sum; }
  /// The figures that make the costs of a stage these sums: those that were
  /// given if the others then follow from the same rules, else all of them.
  GivenCosts needed() const;
  friend bool operator==(const ComputeSum &, const ComputeSum &) = default;

private:
  std::array<std::optional<Rational>, 4> sums = {Rational(), Rational(),
                                                 Rational(), Rational()};
  std::array<CostRule, 4> rules = {};
};

/// The cost model: the duration of each kind of step, in any one unit of time.
struct CostSettings : FigureSet {
  /// The cost of an overlap of exactly these kinds in this issue order: a time,
  /// or with `isFactor` a number that replaces `overlap`.
  struct Overlap {
    llvm::SmallVector<StepKind, 2> members;
    Rational cost;
    bool isFactor = false;
    friend bool operator==(const Overlap &, const Overlap &) = default;
  };
  /// In the order of definition, with distinct members.
  std::vector<Overlap> overlaps;
  /// Streams that run one step at a time, on each `ranks` consecutive ranks
  /// together. `Link` stands for the ports of transfers.
  struct Share {
    unsigned ranks = 1;
    llvm::SmallVector<Stream, 4> streams;
    friend bool operator==(const Share &, const Share &) = default;
  };
  /// With distinct streams.
  std::vector<Share> shares;
  /// Adds a stream to the last share. Reports at `place` a name that is not one
  /// of a stream, and a stream that has a share.
  llvm::LogicalResult addShared(llvm::StringRef name, llvm::SMRange place,
                                DiagEngine &diags);
  /// The rules of figures of a place that are sums over parts or layers, some
  /// of whose costs were assumed. Indexed by kind. Not part of step IR.
  std::map<Place, std::array<CostRule, 4>> assumedSums;

  /// The cost of F, B, I or W for a stage, and with `rank` and `unit` for that
  /// rank and those units.
  ComputeCost compute(Figure figure, unsigned stage,
                      std::optional<unsigned> rank = std::nullopt,
                      UnitPlace unit = {}) const;
  /// Where the cost of F, B, I, W or R comes from. An R is assumed to cost as
  /// much as an F if other costs are given.
  CostRule ruleOf(StepKind kind, unsigned stage,
                  std::optional<unsigned> rank = std::nullopt,
                  UnitPlace unit = {}) const;
  /// The costs of F, B, I and W that are given for a stage, a rank and units.
  GivenCosts given(unsigned stage, std::optional<unsigned> rank = std::nullopt,
                   UnitPlace unit = {}) const;
  /// The figure for a stage, and with `rank` and `unit` for that rank and those
  /// units, with the rule for costs that are not given and defaults applied.
  /// Empty if it overflows.
  std::optional<Rational> of(Figure figure, unsigned stage,
                             std::optional<unsigned> rank = std::nullopt,
                             UnitPlace unit = {}) const;
  /// The cost of one compute or FSDP step, without factors.
  std::optional<Rational> of(StepKind kind, unsigned stage,
                             std::optional<unsigned> rank = std::nullopt,
                             UnitPlace unit = {}) const {
    return of(costFigure(kind), stage, rank, unit);
  }
  /// The product of the factors of a rank, of the micro-batch and the slice of
  /// a unit, and of the micro-batch on a stage; empty if it overflows.
  std::optional<Rational> factorOf(unsigned stage, unsigned rank, unsigned unit,
                                   unsigned slices) const;
  /// The time of an overlap of `members`, if it was set.
  std::optional<Rational> ofOverlap(llvm::ArrayRef<StepKind> members) const;
  /// The factor of an overlap of `members` whose time was not set.
  Rational overlapFactor(llvm::ArrayRef<StepKind> members) const;
  /// The time of an overlap of `members` under the general costs of its steps;
  /// empty if it overflows.
  std::optional<Rational>
  generalOverlap(llvm::ArrayRef<StepKind> members) const;
  /// The figure of the directed edge between two ranks; 0 within a rank. A
  /// transfer occupies the edge exclusively for its occupancy, and two ports
  /// for `port`, and arrives `p2p` (the latency) after that.
  Rational onEdge(Figure figure, unsigned from, unsigned to) const;
  Rational latency(unsigned from, unsigned to) const {
    return onEdge(Figure::P2P, from, to);
  }
  Rational occupancyOf(unsigned from, unsigned to) const {
    return onEdge(Figure::Occupancy, from, to);
  }

  /// The time from the start of a transfer to its arrival; empty if it
  /// overflows.
  std::optional<Rational> hop(unsigned from, unsigned to) const {
    return Rational::add(
        std::max(occupancyOf(from, to), onEdge(Figure::Port, from, to)),
        latency(from, to));
  }

  using FigureSet::merge;
  using FigureSet::set;
  /// Sets the compute costs of a place to sums.
  void set(Place place, const ComputeSum &sum);
  /// Sets the cost of an overlap, replacing a previous one.
  void set(const Overlap &overlap);
  /// Sets everything that is set in `over`.
  void merge(const CostSettings &over);

  friend bool operator==(const CostSettings &, const CostSettings &) = default;
};

/// The memory model of a rank, in units of one chunk's activations.
struct MemorySettings : FigureSet {
  /// The figure for a stage, and with `unit` for those units, defaults applied;
  /// empty if F + I overflows.
  std::optional<Rational> of(Figure figure, unsigned stage,
                             UnitPlace unit = {}) const;
  /// The change of the live activations of the rank by a compute step.
  std::optional<Rational> delta(StepKind kind, unsigned stage,
                                UnitPlace unit = {}) const {
    return of(liveFigure(kind), stage, unit);
  }
  /// The additional memory of the rank while a compute step runs.
  Rational during(StepKind kind, unsigned stage, UnitPlace unit = {}) const {
    return *of(duringFigure(kind), stage, unit);
  }
  /// The sizes for one stage.
  Rational parameters(unsigned stage) const {
    return *of(Figure::Parameters, stage);
  }
  Rational sharded(unsigned stage) const { return *of(Figure::Sharded, stage); }
  Rational receive(unsigned stage) const { return *of(Figure::Receive, stage); }
  /// The memory that is available on a rank.
  std::optional<Rational> limit(unsigned rank) const {
    std::optional<Rational> own = get(Figure::Limit, {FigureScope::Rank, rank});
    return own ? own : get(Figure::Limit);
  }
  /// True if some rank may have a limit.
  bool hasLimit() const { return get(Figure::Limit) || has(FigureScope::Rank); }

  friend bool operator==(const MemorySettings &,
                         const MemorySettings &) = default;
};

/// The defaults of the options of `inject-fsdp`, and which stages are to have a
/// `REDUCE_GRAD`.
struct FsdpSettings {
  /// The managed stages in ascending order; nothing means all of them.
  std::optional<std::vector<unsigned>> stages;
  std::optional<unsigned> maxActive;
  std::optional<unsigned> prefetch;
  /// The stages whose gradients are reduced, in ascending order; nothing means
  /// all of them.
  std::optional<std::vector<unsigned>> reduced;
  bool reduces(unsigned stage) const {
    return !reduced || llvm::is_contained(*reduced, stage);
  }
  friend bool operator==(const FsdpSettings &, const FsdpSettings &) = default;
};

/// The part of a schedule that the cost model uses: its sizes and its costs,
/// memory and FSDP settings.
struct ModelSettings {
  std::string name;
  unsigned numRanks = 0;
  unsigned numStages = 0;
  /// The number of units of work: of micro-batches, or of their slices. Unit u
  /// is slice u % numSlices of micro-batch u / numSlices.
  unsigned numUnits = 0;
  /// The slices of a micro-batch along its sequence; 1 if it is not sliced.
  unsigned numSlices = 1;
  CostSettings costs;
  /// The number of parts of the model that the costs and sizes were given for
  /// before they were spread over the stages; 0 if they were given per stage.
  /// Only for reports: step IR stores costs per stage, not their origin.
  unsigned costParts = 0;
  /// How costs and sizes with many digits were rounded. Not part of step IR,
  /// which has the rounded ones.
  CostRounding rounding;
  /// True if the costs were given per layer.
  bool costsPerLayer = false;
  /// The layers of each stage, which change no cost; empty if they are not
  /// known. Otherwise as many as there are stages.
  StageLayers layers;
  /// Where the layers are in their text; empty if there is none.
  LayerPlaces layerPlaces;
  MemorySettings memory;
  /// Sizes and limits are numbers of bytes, which people read in units.
  bool memoryInBytes = false;
  std::optional<FsdpSettings> fsdp;
  /// By micro-batch of the lists, its number in the batch, whose costs and
  /// sizes it has; empty if they are the same. Otherwise a permutation.
  std::vector<uint32_t> order;
  /// The place of the schedule's name in its source.
  SourceLoc source;

  /// True if the gradients of `stage` are reduced in a list with FSDP steps.
  bool reduces(unsigned stage) const { return !fsdp || fsdp->reduces(stage); }
  unsigned numMicrobatches() const { return numUnits / numSlices; }
  /// The unit of the batch that is unit `unit` of the lists.
  unsigned unitOfBatch(unsigned unit) const {
    return order.empty()
               ? unit
               : order[unit / numSlices] * numSlices + unit % numSlices;
  }
  /// The micro-batch of the batch and the slice of a unit of the lists.
  UnitPlace placeOf(unsigned unit) const {
    return {unitOfBatch(unit) / numSlices, unit % numSlices};
  }
  unsigned backwardOrder(unsigned unit) const {
    return pipec::backwardOrder(unit, numSlices);
  }
  ModelSizes sizes() const {
    return {numRanks, numStages, numMicrobatches(), numSlices};
  }
};

} // namespace pipec
