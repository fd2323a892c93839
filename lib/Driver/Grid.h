//===- Grid.h - The sizes that a command line gives -------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A size is a value of a parameter, by its role or its name. All of
//
//   --ranks=8   -Dranks=8   -Dp=8   ranks=8   p=8   --grid ranks=8
//
// say the same of a schedule whose number of ranks is its parameter `p`, and
// two of them on one command line are an error. Steps and CSV have no
// parameters; by its role, a value insists on their number. Commands that look at many
// sizes take lists of values, `ranks=2,4..8`.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_DRIVER_GRID_H
#define PIPEC_DRIVER_GRID_H

#include "AST/Decl.h"
#include "Driver/Arguments.h"
#include "Driver/InputFormat.h"
#include "Support/DiagEngine.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <string>
#include <utility>
#include <vector>

namespace pipec {

/// Values for parameters: role or name, and value.
using ParamValues = std::vector<std::pair<std::string, int64_t>>;

/// Some parameters, each with a list of values; the points are all
/// combinations.
class Grid {
public:
  /// How many values a parameter may have.
  enum class Values { One, Many };

  /// Reads the sizes of a command line; words that are not NAME=VALUE are put
  /// into `inputs`. Reports texts that are not sizes, and a name that is given
  /// twice.
  static llvm::FailureOr<Grid> read(const Arguments &args, Values values,
                                    std::vector<std::string> &inputs,
                                    DiagEngine &diags);

  /// Adds values of a parameter for the schedules that have it and whose value
  /// is not given otherwise.
  void setDefault(llvm::StringRef name, llvm::ArrayRef<int64_t> values);

  bool empty() const { return dimensions.empty(); }
  /// The first value as it was given, `ranks=8`; empty when none was.
  std::string firstWritten() const {
    return dimensions.empty() ? "" : dimensions.front().written;
  }
  /// The only value given under `name`; nothing when none was given. Reports
  /// more than one.
  llvm::FailureOr<std::optional<int64_t>> only(llvm::StringRef name,
                                               DiagEngine &diags) const;

  /// Reports the parameters that none of `schedules` has, with those that they
  /// have, and those that one of them has under two names. `otherInputs` says
  /// that some inputs hold steps, on whose numbers of ranks and micro-batches
  /// the command line insists.
  llvm::LogicalResult fit(llvm::ArrayRef<const ast::ScheduleDecl *> schedules,
                          bool otherInputs, DiagEngine &diags) const;
  /// What the values of `ranks` and `microbatches`, in any spelling, and
  /// --stages demand of steps.
  WantedSizes wanted(const Arguments &args) const;

  /// Calls `visit` for every point of the parameters that `schedule` has, in
  /// the order of the command line, the last one changing fastest.
  void forEachPoint(const ast::ScheduleDecl &schedule,
                    llvm::function_ref<void(const ParamValues &)> visit) const;
  /// The first of these points.
  ParamValues point(const ast::ScheduleDecl &schedule) const;
  /// The number of these points, at most 2^63.
  uint64_t numPoints(const ast::ScheduleDecl &schedule) const;

private:
  struct Dimension {
    std::string name;
    std::vector<int64_t> values;
    /// As it was given, for messages; empty for a default.
    std::string written;

    /// True for a size that steps have too, which the command line insists on.
    bool insists() const {
      return !written.empty() && (name == "ranks" || name == "microbatches");
    }
  };
  llvm::LogicalResult add(llvm::StringRef name, llvm::StringRef list,
                          std::string written, Values values,
                          DiagEngine &diags);
  std::vector<const Dimension *>
  dimensionsOf(const ast::ScheduleDecl &schedule) const;

  std::vector<Dimension> dimensions;
};

/// `ranks = 4, microbatches = 8`
std::string paramText(const ParamValues &values);

} // namespace pipec

#endif // PIPEC_DRIVER_GRID_H
