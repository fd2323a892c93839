//===- SearchStarts.h - Schedules that a search starts from -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Driver/Grid.h"
#include "Driver/ScheduleSource.h"
#include "Search/Budget.h"
#include "Search/Model.h"

#include <map>
#include <memory>

namespace pipec {

/// The forms of the backwards of a schedule: all split into I and W, all whole,
/// or some of each.
enum class BackwardForm { Split, Whole, Mixed };

inline llvm::StringRef nameOf(BackwardForm form) {
  static constexpr llvm::StringLiteral names[] = {"split", "whole", "mixed"};
  return names[unsigned(form)];
}
/// The form of the steps of a schedule.
BackwardForm formOf(const Schedule &schedule);

/// A schedule for the sizes and the placement of a search, within its memory.
struct SearchStart {
  std::string name;
  ParamValues params;
  /// Its order, with backwards in the form of the problem and without overlaps;
  /// empty if this cannot run or does not fit.
  search::Words words;
  /// Under the costs of the search, as the simulator measures it.
  Rational makespan;
  /// The schedule as it is, if it fits and differs from the words: its
  /// backwards have another form, or it has overlaps.
  std::shared_ptr<const Schedule> schedule = nullptr;
  BackwardForm form = BackwardForm::Split;
  bool overlaps = false;
  bool ofLibrary = false;
  /// The peak memory of each rank.
  std::vector<Rational> totals = {};

  /// `zbv`, `interleaved_zb (chunks = 2)`
  std::string title() const;
  /// True if it fits under these limits as it is.
  bool fits(const MemorySettings &memory) const;
};

/// The schedules of the library, read once, and lowered once for problems of
/// the same sizes.
class StartLibrary {
public:
  StartLibrary(const SearchPath &path, const Arguments &args, DiagEngine &diags)
      : path(path), args(args), diags(diags) {}

  size_t size();
  struct Entry {
    Schedule schedule;
    ParamValues params;
  };
  /// A schedule for these sizes; null if it does not exist, or has another
  /// number of stages.
  const Entry *get(size_t index, const search::Model &model);

private:
  const SearchPath &path;
  const Arguments &args;
  DiagEngine &diags;
  std::optional<ScheduleList> list;
  /// By index, ranks, micro-batches and chunks.
  std::map<std::array<size_t, 4>, std::optional<Entry>> lowered;
};

/// Makes schedules of files and names into starts.
class SearchStarts {
public:
  SearchStarts(const search::Model &model, const SearchPath &path,
               const Arguments &args, DiagEngine &diags)
      : model(model), path(path), args(args), diags(diags) {}

  /// Adds every schedule of the library that has the sizes and the placement,
  /// and fits; the others are left out. Returns how many there was no time for.
  unsigned addLibrary(StartLibrary &library, search::Budget &budget);
  /// Adds the schedule whose placement is kept, if its order can run and fits.
  void addModel(const Schedule &schedule);
  /// Adds the schedule of a file or a name; reports one that cannot be used.
  llvm::LogicalResult add(llvm::StringRef input);

  const std::vector<SearchStart> &all() const { return starts; }
  std::vector<SearchStart> take() { return std::move(starts); }

private:
  bool addSchedule(const Schedule &schedule, ParamValues params);
  bool measure(const Schedule &schedule, SearchStart &start);

  const search::Model &model;
  const SearchPath &path;
  const Arguments &args;
  DiagEngine &diags;
  std::vector<SearchStart> starts;
};

/// The start with the least makespan, which is less than `than` if that is
/// given, of those for which `holds`; the first of several, null without one.
const SearchStart *
bestStart(llvm::ArrayRef<SearchStart> starts, std::optional<Rational> than,
          llvm::function_ref<bool(const SearchStart &)> holds);
/// The start of the library with the least makespan that fits these limits as
/// it is; the first of several, empty without one.
std::optional<SearchStart> bestOfLibrary(llvm::ArrayRef<SearchStart> starts,
                                         const MemorySettings &memory);

/// The makespan of `schedule` under free arrival; empty if its order cannot
/// run.
std::optional<Rational> makespanOf(const Schedule &schedule, DiagEngine &diags);

/// True if the totals of all ranks are within their limits.
bool areWithin(llvm::ArrayRef<Rational> totals, const MemorySettings &memory);

/// The largest total of each rank.
llvm::FailureOr<std::vector<Rational>> totalsOf(const Schedule &schedule,
                                                DiagEngine &diags);

} // namespace pipec
