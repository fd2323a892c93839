//===- LayoutSearch.h - The layouts of one placement and form ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Search/Splits.h"
#include "SearchRun/PlacementSearch.h"

#include "llvm/ADT/StringSet.h"

#include <queue>
#include <set>

namespace pipec {

/// The layouts with one placement and one form of the backward.
class Layouts {
public:
  /// Warnings in `warnings` are not repeated; starts in `used` were usable
  /// before.
  Layouts(ScheduleSearch &search, const SearchRequest &request,
          llvm::StringSet<> &warnings, std::vector<char> &used,
          DiagEngine &diags);

  llvm::LogicalResult start();
  /// After `start`: true if the schedules of all layouts with other backwards
  /// are covered.
  bool coversAll();
  /// A bound of all layouts, if the best makespan is `known`; empty if
  /// none has a schedule.
  std::optional<Rational> bound(std::optional<Rational> known);
  /// Searches for a makespan below `known` with `work` units of work.
  llvm::LogicalResult run(std::optional<Rational> known, uint64_t work);
  /// Searches the best layout with `work` units of work.
  llvm::LogicalResult finish(uint64_t work);
  /// Searches this layout, too, unless it was searched or has no schedule.
  llvm::LogicalResult also(const StageLayers &stages,
                           std::optional<Rational> known, uint64_t work);
  /// The bound of a layout that was searched.
  std::optional<search::LowerBound> boundOf(const StageLayers &stages) const;
  /// After `start`: the layouts of `known`, as text, that need proofs of their
  /// own for `bound`, which is lowered to what holds for all others.
  std::vector<StageLayers> withoutProof(const llvm::StringSet<> &known,
                                        Rational &bound) const;
  /// All layers, and the kinds of these: the model `perLayer` has a stage of
  /// one layer of each kind on each rank.
  llvm::StringRef allLayers() const { return layers; }
  std::string kinds() const { return request.given.layout->letters(); }
  const search::Model &perLayer() const { return probed; }
  /// Lists the layouts that were searched, and the others.
  void list(PlacementTrial trial, std::vector<PlacementTrial> &each);
  bool isSame(const Layouts &other) const {
    return request.chunks == other.request.chunks &&
           request.isV == other.request.isV;
  }
  BackwardForm form() const { return request.form(); }

  std::optional<PlacementResult> best;
  StageLayers bestStages;
  LayoutSummary summary;
  /// The work that was done, and that a longer search was stopped.
  uint64_t spent = 0;
  bool wasStopped = false;
  /// Why a layout has no schedule.
  std::string reason;

private:
  /// A layout with a bound of its own.
  struct Candidate {
    Rational bound;
    unsigned number;
    StageLayers stages;
    /// The smallest bound comes first.
    bool operator<(const Candidate &other) const {
      if (bound != other.bound)
        return other.bound < bound;
      return number > other.number;
    }
  };
  // Limits of the work on bounds.
  static constexpr size_t maxNodes = size_t(1) << 18;
  static constexpr unsigned maxBounded = 1u << 14;
  static constexpr unsigned maxSearches = 24;

  llvm::FailureOr<search::Model> probe() const;
  llvm::FailureOr<Schedule> scheduleOf(const StageLayers &stages);
  std::optional<Rational> makespanFixed(const StageLayers &stages);
  llvm::FailureOr<PlacementResult> keepOrder(const StageLayers &stages);
  search::SplitSpace spaceOf(const search::Model &model) const;
  StageLayers stagesOf(const search::SplitQueue::Split &split) const;
  llvm::FailureOr<SearchProblem> prepare(const StageLayers &stages);
  std::optional<Candidate> candidateOf(StageLayers stages);
  std::optional<Candidate> nextOfAll();
  std::optional<Candidate> nextNear();
  void dropSearched();
  llvm::LogicalResult searchOne(const Candidate &candidate, uint64_t work);
  llvm::FailureOr<PlacementResult> runOne(const StageLayers &stages,
                                          uint64_t work);
  /// The makespan that is to be improved.
  std::optional<Rational> toBeat() const {
    if (!best || (limit && *limit < best->found.makespan))
      return limit;
    return best->found.makespan;
  }
  bool isUseless(Rational bound) const {
    std::optional<Rational> known = toBeat();
    return known && bound >= *known;
  }
  bool stopped() const { return request.stop && *request.stop; }
  /// No more layouts get a bound: as much work as half of the searches is done.
  bool isBounded() const {
    return summary.bounded >= maxBounded || workOnBounds > work || stopped();
  }
  /// A bound of all layouts that were not searched; empty if there are none.
  std::optional<Rational> openBound();

  ScheduleSearch &search;
  SearchRequest request;
  uint64_t work = 0;
  llvm::StringSet<> &warnings;
  std::vector<char> &used;
  DiagEngine &diags;
  /// The best makespan of other layouts.
  std::optional<Rational> limit;
  /// All layers, in order.
  std::string layers;
  /// The rank of each stage.
  std::vector<uint32_t> map;
  unsigned numStages;
  bool isMegatron;
  /// Of layers; and with the times of its bounds.
  search::Model probed, model;
  std::optional<search::SplitQueue> queue;
  /// The splits of the queue that were not searched, and maybe others.
  std::priority_queue<Candidate> candidates;
  /// The neighbours of `nearStages`, the smallest bound last.
  std::vector<Candidate> near;
  StageLayers nearStages;
  std::set<StageLayers> searched;
  /// Those that were searched, and the place of the best one.
  struct Result {
    StageLayers stages;
    Rational makespan, bound;
    search::BoundSource source;
  };
  std::vector<Result> results;
  size_t bestNumber = 0;
  uint64_t workOnBounds = 0;
};

} // namespace pipec
