//===- ScheduleSearch.h - A search and its result ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From sizes, costs and memory to a schedule that is verified and measured like
// any other one, with a lower bound of its makespan.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Cost/GivenSettings.h"
#include "IR/GraphBuilder.h"
#include "Search/Periodic.h"
#include "Search/Relaxation.h"
#include "SearchRun/SearchStarts.h"
#include "Support/Progress.h"

namespace pipec {

/// The problem and the options of a search.
struct SearchRequest {
  unsigned ranks = 1;
  unsigned microbatches = 1;
  unsigned chunks = 1;
  /// The slices of a micro-batch.
  unsigned slices = 1;
  /// The placement `v`, else `loop`.
  bool isV = false;
  /// Edges between stages in addition to the chain.
  GivenGraph graph;
  /// Backwards are split into I and W; if `anyForm`, in one of the searches.
  bool split = true;
  /// Both forms of backwards are searched, and a start that mixes them counts.
  bool anyForm = false;
  /// The result has a word per rank: a start with overlaps, or with mixed
  /// backwards, gives its order only.
  bool onlyWords = false;
  /// The bound is to be certified, so that costs at which overlaps gain are
  /// refused.
  bool certified = false;
  /// Costs and memory.
  GivenSettings given;
  /// The limits of memory are ignored.
  bool anyMemory = false;
  /// The limit of each rank instead of the given one; empty if these apply.
  std::vector<Rational> limits;
  /// By chunk, whether all its units are recomputed, which searches take for a
  /// part of the backward: the bound of the result is 0, and starts are not
  /// used. Empty if none is.
  std::vector<bool> recomputed;
  /// About seconds of one processor; at least 1.
  uint64_t effort = 10;
  /// The search gets one of this many equal parts of the effort.
  uint64_t parts = 1;
  uint64_t work() const { return effort * search::workPerEffort / parts; }
  uint64_t seed = 1;
  unsigned threads = 1;
  /// Ends once the makespan is at most this many millionths above the bound.
  uint64_t within = 0;
  /// Proves by cases as well, with as much work again.
  bool prove = false;
  /// Starts from the schedules of the library that fit, too.
  bool library = true;
  /// Files and names of schedules to start from.
  std::vector<std::string> starts;
  /// Ends the search when another thread sets it; may be null.
  const std::atomic<bool> *stop = nullptr;
  /// Gets a line for each better makespan or bound; may be null.
  llvm::raw_ostream *log = nullptr;

  BackwardForm form() const {
    return split ? BackwardForm::Split : BackwardForm::Whole;
  }
  /// True if a start can be the result as it is, with its backwards.
  bool takes(const SearchStart &start) const {
    return start.schedule && !onlyWords && start.form == form();
  }
  /// The same for a start with mixed backwards, whatever `split` is.
  bool takesMixed(const SearchStart &start) const {
    return start.schedule && !onlyWords && anyForm &&
           start.form == BackwardForm::Mixed;
  }
};

/// The best schedule found, with its bounds and figures.
struct FoundSchedule {
  search::Model model;
  search::Words words;
  /// The schedule of the words, with clauses for its makespan and peaks. If
  /// `start` is not empty, it is instead a start of that title as it is, which
  /// has overlaps or mixed backwards.
  Schedule schedule;
  std::string start;
  /// What keeps it within the memory limit: "recompute" or "offload"; empty if
  /// nothing has to. Otherwise the words are not its own.
  llvm::StringRef memoryBy;
  BackwardForm form = BackwardForm::Split;
  /// In the units of the costs. The bound holds for every schedule of the same
  /// placement, form of backward and memory, also for those with overlaps; for
  /// the form `Mixed`, for all forms.
  Rational makespan, bound;
  /// That of words; of no meaning if `overlapsGain`, or for a start.
  search::Ticks boundTicks = 0;
  /// Overlaps gain, and the bound comes from a problem with shorter times.
  bool overlapsGain = false;
  search::BoundSource source = search::BoundSource::Paths;
  /// The proof of a bound by cases.
  std::optional<search::Refutation> proof;
  /// The peak activations of each rank.
  std::vector<Rational> peaks;
  /// The peak memory of each rank, with its parameters.
  std::vector<Rational> totals;
  /// The best of the library that fits, and how many of it were not read for
  /// lack of time.
  std::optional<SearchStart> library;
  unsigned libraryLeftOut = 0;
  /// `stop` was set before the search ended.
  bool stopped = false;
  /// Where `makeReadable` found any: the blocks of `words`.
  std::optional<search::Periodic> blocks;
  /// The makespan before `makeReadable`.
  std::optional<Rational> bestMakespan;

  bool isOptimal() const { return makespan == bound; }
  /// Adopts the bound of `other`, which also holds for this schedule.
  void takeBound(const FoundSchedule &other);
};

/// A request, with its model and starts.
struct SearchProblem {
  SearchRequest request;
  search::Model model;
  /// Those of the library first.
  std::vector<SearchStart> starts;
  std::optional<SearchStart> library;
  unsigned libraryLeftOut = 0;

  std::vector<search::Words> orders() const;
};

/// How much a search does.
struct SearchLimits {
  /// In units of work.
  uint64_t work = 0;
  /// Ends when the bound is at least this, which makes the schedule useless.
  std::optional<Rational> uselessBound = {};
  /// Ends at a makespan of at most this.
  std::optional<Rational> goal = {};
};

/// The settings without the limits of ranks.
MemorySettings withoutLimits(const MemorySettings &memory);

class ScheduleSearch {
public:
  /// `path` and `args` say where schedules to start from are found, and how
  /// they are read.
  ScheduleSearch(const SearchPath &path, const Arguments &args,
                 Progress &progress, DiagEngine &diags)
      : path(path), args(args), progress(progress), diags(diags),
        library(path, args, diags) {}

  /// Makes the problem of a request, without starts. Reports unsupported costs
  /// and memory, and ranks that cannot hold one micro-batch.
  llvm::FailureOr<SearchProblem> prepare(const SearchRequest &request);
  /// Adds the schedules of the library and the `starts` of the request. A start
  /// that cannot be used is an error or, with `used`, left out and not marked.
  llvm::LogicalResult addStarts(SearchProblem &problem,
                                std::vector<char> *used = nullptr);
  /// Reports the first start of the request that is not `used`, with the reason
  /// why `problem` cannot use it.
  llvm::LogicalResult checkUsed(SearchProblem &problem,
                                llvm::ArrayRef<char> used);
  /// Searches. Reports only figures that exceed the simulator.
  llvm::FailureOr<FoundSchedule> find(const SearchProblem &problem,
                                      const SearchLimits &limits);

  /// Replaces the result by the best schedule in which each rank repeats a
  /// block of steps, if there is one, with as much work again.
  llvm::LogicalResult makeReadable(const SearchProblem &problem,
                                   const SearchLimits &limits,
                                   FoundSchedule &found);

  /// Replaces the result by a schedule that `memoryBy` keeps within `memory`,
  /// which comes from a start of the title `start` unless that is empty. The
  /// bound remains, which must hold for it.
  llvm::LogicalResult setSaved(const SearchProblem &problem, Schedule schedule,
                               llvm::StringRef memoryBy, std::string start,
                               FoundSchedule &found);
  /// Replaces the words of the result.
  llvm::LogicalResult setWords(const SearchProblem &problem,
                               search::Words words, FoundSchedule &found);
  /// Replaces the result by the best start with mixed backwards, and the bound
  /// by a bound of all forms, if that start is allowed and better.
  llvm::LogicalResult takeMixed(const SearchProblem &problem,
                                const SearchLimits &limits,
                                FoundSchedule &found);

private:
  llvm::LogicalResult setStart(const SearchProblem &problem,
                               const SearchStart &start, FoundSchedule &found);
  void relaxBound(const SearchProblem &problem, const SearchLimits &limits,
                  bool mixed, FoundSchedule &found);
  search::SearchOptions optionsOf(const SearchProblem &problem,
                                  const SearchLimits &limits);
  llvm::LogicalResult measure(const SearchRequest &request,
                              FoundSchedule &found);

  const SearchPath &path;
  const Arguments &args;
  Progress &progress;
  DiagEngine &diags;
  StartLibrary library;
  /// For the lines of `log`.
  std::chrono::steady_clock::time_point start =
      std::chrono::steady_clock::now();
  std::string logged;
  uint64_t workOnLibrary = 0;
};

} // namespace pipec
