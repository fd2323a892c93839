//===- SearchStarts.h - Schedules that a search starts from -----*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_RESULTS_SEARCHSTARTS_H
#define PIPEC_RESULTS_SEARCHSTARTS_H

#include "Driver/Grid.h"
#include "Driver/ScheduleSource.h"
#include "Search/Model.h"

namespace pipec {

/// A schedule for the sizes and the placement of a search, within its memory.
struct SearchStart {
  std::string name;
  ParamValues params;
  search::Words words;
  /// Under the costs of the search, as the simulator measures it.
  Rational makespan;
};

/// Makes schedules of files and names into starts.
class SearchStarts {
public:
  SearchStarts(const search::Model &model, const SearchPath &path,
               const Arguments &args, DiagEngine &diags)
      : model(model), path(path), args(args), diags(diags) {}

  /// Adds every schedule of the library that has the sizes and the placement,
  /// and fits; the others are left out.
  void addLibrary();
  /// Adds the schedule of a file or a name; reports one that cannot be used.
  llvm::LogicalResult add(llvm::StringRef input);

  llvm::ArrayRef<SearchStart> all() const { return starts; }
  /// The one of the library with the least makespan, the first of several; null
  /// without one.
  const SearchStart *bestOfLibrary() const;

private:
  llvm::FailureOr<Schedule> lower(const ScheduleSource &source,
                                  const CheckedSchedule &schedule);
  bool addWords(const Schedule &schedule, ParamValues params);

  const search::Model &model;
  const SearchPath &path;
  const Arguments &args;
  DiagEngine &diags;
  std::vector<SearchStart> starts;
  size_t numOfLibrary = 0;
};

/// The makespan of `schedule` under free arrival; nothing when its order cannot
/// run.
std::optional<Rational> makespanOf(const Schedule &schedule, DiagEngine &diags);

} // namespace pipec

#endif // PIPEC_RESULTS_SEARCHSTARTS_H
