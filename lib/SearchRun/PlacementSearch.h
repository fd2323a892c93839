//===- PlacementSearch.h - Placements, layouts, less memory -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Driver/Figures.h"
#include "SearchRun/ScheduleSearch.h"

namespace pipec {

/// A placement with a number of chunks, a form of the backward and, if layouts
/// are searched, one or all of them; and the outcome of its search.
struct PlacementTrial {
  unsigned chunks = 1;
  bool isV = false;
  BackwardForm form = BackwardForm::Split;
  enum class Outcome {
    Best,
    Slower,
    /// Its bound is not below the makespan of the best.
    Excluded,
    /// Its schedules are no better than those with split backwards, whose bound
    /// covers them.
    Covered,
    /// It has none that fits; `reason` says why.
    NoSchedule,
    /// The search was stopped before.
    NotSearched,
  } outcome = Outcome::NotSearched;
  std::optional<Rational> makespan = std::nullopt, bound = std::nullopt;
  search::BoundSource source = search::BoundSource::Paths;
  std::string reason = "";
  /// The layout, as text; empty if the trial is of several.
  std::string layout = "";
  /// The proof of the bound by cases or charges, for the same placement.
  std::optional<search::Refutation> proof = std::nullopt;

  bool hasSchedules() const {
    return outcome != Outcome::Covered && outcome != Outcome::NoSchedule;
  }
};
inline llvm::StringRef nameOf(PlacementTrial::Outcome outcome) {
  static constexpr llvm::StringLiteral names[] = {
      "best", "slower", "excluded", "covered", "no schedule", "not searched"};
  return names[unsigned(outcome)];
}
/// The outcome of a search with this bound when another makespan is the best.
inline PlacementTrial::Outcome lostTo(Rational makespan, Rational bound) {
  return bound >= makespan ? PlacementTrial::Outcome::Excluded
                           : PlacementTrial::Outcome::Slower;
}

/// The placements and forms of a request: `loop` with 1 to `chunks` chunks and
/// `v` with 2, 4, ... chunks if it has `anyPlacement`, else its own placement;
/// all forms if it has `anyForm`, but `Mixed` only if it does not need words.
/// The forms of a placement follow each other, split ones first.
std::vector<PlacementTrial> trialsOf(const SearchRequest &request);
/// The request of one of these.
SearchRequest requestOf(const SearchRequest &request,
                        const PlacementTrial &trial);

/// The schedules that a bound holds for: all backwards split, all whole, either
/// of these, or any.
enum class Coverage { Split, Whole, Either, All };
/// `with split backwards`; empty for all schedules.
inline llvm::StringRef coverText(Coverage coverage) {
  static constexpr llvm::StringLiteral texts[] = {
      "with split backwards", "with whole backwards",
      "with backwards all split or all whole", ""};
  return texts[unsigned(coverage)];
}

struct PlacementResult {
  /// That of the best placement and form.
  SearchProblem problem;
  FoundSchedule found;
  /// One for each placement and form.
  std::vector<PlacementTrial> trials;
  /// The bound of the other form of the placement, where it was searched, too.
  std::optional<search::LowerBound> other = std::nullopt;
  Coverage coverage = Coverage::Split;
  /// Under a limit of memory: the bound also holds for schedules that
  /// recomputation or copies keep within it.
  bool coversSaved = false;
  /// If `found` has recomputations or copies: the best makespan without, and
  /// its bound; empty if no schedule fits without. The other bounds then leave
  /// out the limit of memory.
  struct Plain {
    Rational makespan;
    search::LowerBound bound;
  };
  std::optional<Plain> plain = std::nullopt;

  /// No schedule of the placement that `coverage` names has a smaller makespan.
  search::LowerBound bound() const {
    if (other && other->bound < found.bound)
      return *other;
    return {found.bound, found.source};
  }
  /// The same for all placements, forms and layouts: the least of their bounds.
  Rational boundOfAll() const;
};

/// Searches the placements and forms of a request, each with a short search in
/// the order of their bounds, and those that can still be the best with the
/// rest of the effort. One whose bound shows that it cannot be the best is not
/// searched. If there are several placements, the costs are per part of the
/// model.
llvm::FailureOr<PlacementResult> searchPlacements(ScheduleSearch &search,
                                                  const SearchRequest &request,
                                                  DiagEngine &diags);

/// Searches like `searchPlacements` and, if the memory is limited, for
/// schedules that fit with recomputation or copies to the host, with as much
/// work again. Returns the best; those without these if they are as good.
/// Reports what `searchPlacements` does.
llvm::FailureOr<PlacementResult>
searchWithinMemory(ScheduleSearch &search, const SearchRequest &request,
                   DiagEngine &diags);

/// The results for all layouts of a model.
struct LayoutSummary {
  /// The best one, as text.
  std::string best;
  /// No layout has a schedule with a smaller makespan. Unlike the bound of what
  /// was found, this is not for its layout alone.
  Rational bound;
  /// How many layouts were searched, and how many got a bound of their own; the
  /// others are covered by bounds of beginnings.
  unsigned searched = 0, bounded = 0;
  /// The even layout, and its makespan if it has a schedule.
  std::string even;
  std::optional<Rational> evenMakespan;
  /// The layouts that were searched, and all others, of each placement and
  /// form.
  std::vector<PlacementTrial> each;
};

struct LayoutResult {
  /// Those of the best layout. The trials are for all layouts.
  PlacementResult result;
  LayoutSummary summary;
};

/// Searches for the layers of each stage, and for the order of the steps, with
/// the placements and forms of the request. The layout of `request` is an even
/// one; every stage gets at least one of its layers, in their order. If
/// Megatron-LM builds models with these layers, only layouts that it accepts
/// are searched. Each placement and form, in the order of their bounds, begins
/// with the even layout; the others follow in the order of their bounds, until
/// no layout can be better. The rest of the effort is for the best layouts.
/// Reports costs that cannot be searched, too few layers, and when no layout
/// has a schedule.
llvm::FailureOr<LayoutResult> searchLayouts(ScheduleSearch &search,
                                            const SearchRequest &request,
                                            DiagEngine &diags);

/// The result of a search under a limit.
struct MemoryPoint {
  /// The largest limit of all ranks.
  Rational limit;
  /// The largest peak of all ranks.
  Rational peak;
  Rational makespan, bound;

  Rational gap() const { return excess(makespan, bound).value_or(0); }
};

/// The least limit with a makespan of at most `goal`.
struct MinimalMemory {
  Rational goal;
  Rational limit;
  /// No schedule with less than this has such a makespan; not above `limit`.
  Rational bound;
};

/// Replaces `problem` and `found`, its best schedule, by the problem and
/// schedule of the least limit with a makespan at most `slack` millionths above
/// the makespan of `found`.
llvm::FailureOr<MinimalMemory>
minimizeMemory(ScheduleSearch &search, uint64_t slack, uint64_t work,
               SearchProblem &problem, FoundSchedule &found, DiagEngine &diags);

/// Searches under up to twelve limits between the least limit for one
/// micro-batch and the memory of `found`. Replaces `found` by a better
/// schedule.
llvm::FailureOr<std::vector<MemoryPoint>>
searchFrontier(ScheduleSearch &search, uint64_t work,
               const SearchProblem &problem, FoundSchedule &found,
               DiagEngine &diags);

} // namespace pipec
