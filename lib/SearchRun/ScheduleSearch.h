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
  /// The placement `v`, else `loop`; without a `model`.
  bool isV = false;
  /// The placements `loop` and `v` are searched, with up to `chunks` chunks.
  bool anyPlacement = false;
  /// All layouts of the layers of `given` are searched (`searchLayouts`).
  bool anyLayout = false;
  /// Edges between stages in addition to the chain.
  GivenGraph graph;
  /// Backwards are split into I and W; if `anyForm`, in one of the searches.
  bool split = true;
  /// Each backward is split or whole; `split` is true.
  bool mixed = false;
  /// All forms of backwards are searched.
  bool anyForm = false;
  /// The search is of split backwards, which are no worse than other forms, so
  /// that starts of any form count.
  bool takesAnyForm = false;
  /// The result has a word per rank: a start with overlaps, or with another
  /// form of backwards, gives its order only.
  bool onlyWords = false;
  /// The result has one form of backwards.
  bool oneForm = false;
  /// A schedule for the sizes of the request, with its costs, whose placement,
  /// edges and tied stages are kept, and from whose order the search starts;
  /// may be null.
  std::shared_ptr<const Schedule> model = nullptr;
  /// The order of `model` is kept, too: its layout is searched.
  bool isFixed = false;
  /// What keeps the order of micro-batches that have factors, such as
  /// `--keep-order`; empty if it is searched.
  std::string keepsOrder;
  /// What needs a bound of words, so that costs at which overlaps gain are
  /// refused: `a certificate`. Empty if nothing does.
  llvm::StringRef certified = "";
  /// Costs and memory.
  GivenSettings given;
  /// The limits of memory are ignored.
  bool anyMemory = false;
  /// The limit of each rank instead of the given one; empty if these apply.
  std::vector<Rational> limits;
  /// By stage, whether all its units are recomputed, which searches take for a
  /// part of the backward: the bound of the result is 0, and starts are not
  /// used. Empty if none is.
  std::vector<bool> recomputed;
  /// About seconds of one processor; at least 1.
  uint64_t effort = 10;
  /// The search gets one of this many equal parts of the effort.
  uint64_t parts = 1;
  /// `loop`, `v`, `bidirectional` or `explicit`.
  std::string placementName() const;
  bool isBidirectional() const {
    return model && model->placement.bidirectional();
  }
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
    return mixed   ? BackwardForm::Mixed
           : split ? BackwardForm::Split
                   : BackwardForm::Whole;
  }
  /// True if a start can be the result as it is, with its backwards.
  bool takes(const SearchStart &start) const {
    return start.schedule && !onlyWords &&
           (mixed || takesAnyForm || start.form == form());
  }
};

/// The best schedule found, with its bounds and figures.
struct FoundSchedule {
  search::Model model;
  /// Words of Search/Mixed.h if the request is `mixed`.
  search::Words words;
  /// The schedule of the words, with clauses for its makespan and peaks. If
  /// `start` is not empty, it is instead a start of that title as it is.
  Schedule schedule;
  std::string start;
  /// The schedule is of a search of lists, which may have overlaps; the words
  /// are not its own.
  bool isOfLists = false;
  /// What keeps it within the memory limit: "recompute" or "offload"; empty if
  /// nothing has to. Otherwise the words are not its own.
  llvm::StringRef memoryBy;
  BackwardForm form = BackwardForm::Split;
  /// In the units of the costs. The bound holds for every schedule of the same
  /// placement, form of backward and memory, also for those with overlaps; if
  /// the request is `mixed`, for all forms.
  Rational makespan, bound;
  /// The makespan in the given order of the micro-batches, if `schedule` has
  /// another one.
  std::optional<Rational> inGivenOrder;
  /// Orders of micro-batches with factors were searched.
  bool searchedOrders = false;
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
  /// About the work of the search; the same with any number of threads.
  uint64_t spent = 0;
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
  /// If the request is `mixed`: the model with whole backwards.
  std::optional<search::Model> whole = std::nullopt;
  /// Those of the library first.
  std::vector<SearchStart> starts = {};
  std::optional<SearchStart> library = std::nullopt;
  unsigned libraryLeftOut = 0;
  /// The last start is the result of an earlier search.
  bool resumed = false;
  /// If the request is `mixed`: further words to start from (Search/Mixed.h).
  std::vector<search::Words> seeds = {};
  /// Further schedules to start lists from.
  std::vector<Schedule> lists = {};

  std::vector<search::Words> orders() const;
  /// A bound that needs no search.
  search::LowerBound leastBound() const;
  /// A result that has no schedule yet.
  FoundSchedule emptyResult() const;
  /// The next search starts from these words, too.
  void resume(const search::Words &words, Rational makespan);
  void endResume();
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

  /// Replaces the result by a schedule that `memoryBy` keeps within `memory`
  /// unless that is empty, and which comes from a start of the title `start`
  /// unless that is empty. The bound remains, which must hold for it.
  llvm::LogicalResult setSchedule(const SearchProblem &problem,
                                  Schedule schedule, llvm::StringRef memoryBy,
                                  std::string start, FoundSchedule &found);
  /// Verifies and measures the schedule of the result, whose makespan is set,
  /// and adds clauses.
  llvm::LogicalResult measure(const SearchRequest &request,
                              FoundSchedule &found);
  /// Replaces the words of the result.
  llvm::LogicalResult setWords(const SearchProblem &problem,
                               search::Words words, FoundSchedule &found);

private:
  llvm::FailureOr<ScheduleHeader> makeHeader(const SearchRequest &request);
  llvm::FailureOr<FoundSchedule> findMixed(const SearchProblem &problem,
                                           const SearchLimits &limits);
  llvm::FailureOr<FoundSchedule> findBothWays(const SearchProblem &problem,
                                              const SearchLimits &limits);
  llvm::LogicalResult setStart(const SearchProblem &problem,
                               const SearchStart &start, FoundSchedule &found);
  /// True if the result may have overlaps that the search makes.
  static bool makesOverlaps(const SearchProblem &problem);
  void findLists(const SearchProblem &problem, const SearchLimits &limits,
                 const SearchStart *better, FoundSchedule &found);
  void relaxBound(const SearchProblem &problem, const SearchLimits &limits,
                  bool mixed, FoundSchedule &found);
  search::SearchOptions optionsOf(const SearchProblem &problem,
                                  const SearchLimits &limits);
  void show(const SearchRequest &request, std::string figures,
            const char *phase);

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
