//===- Grid.h - Many sizes of a schedule -----*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_COMMAND_GRID_H
#define PIPEC_COMMAND_GRID_H

#include "AST/Decl.h"
#include "Support/DiagEngine.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/CommandLine.h"

#include <string>
#include <utility>
#include <vector>

namespace pipec {

/// Values for parameters, as `-D` gives them: label or name, and value.
using ParamValues = std::vector<std::pair<std::string, int64_t>>;

/// Some parameters, each with a list of values; the points are all
/// combinations.
class Grid {
public:
  /// Adds the parameter and the values of `ranks=2,4,8`, `m=4..16` or
  /// `m=1,4..6`; both ends of a range belong to it, and a value that comes
  /// twice counts once. Reports what is no such text and a parameter that was
  /// given before.
  llvm::LogicalResult add(llvm::StringRef text, DiagEngine &diags);

  /// Adds the parameters of `values`, those of `-D`, each with its last value.
  llvm::LogicalResult add(const ParamValues &values, DiagEngine &diags);

  /// Reports the parameters that none of `schedules` has, and those that one of
  /// them has under two words.
  llvm::LogicalResult fit(llvm::ArrayRef<const ast::ScheduleDecl *> schedules,
                          DiagEngine &diags) const;

  /// Calls `visit` for every point of the parameters that `schedule` has, in
  /// the order of the text, the last one changing fastest.
  void forEachPoint(const ast::ScheduleDecl &schedule,
                    llvm::function_ref<void(const ParamValues &)> visit) const;
  /// The number of these points, at most 2^63.
  uint64_t numPoints(const ast::ScheduleDecl &schedule) const;

private:
  struct Dimension {
    std::string name;
    std::vector<int64_t> values;
  };
  std::vector<const Dimension *>
  dimensionsOf(const ast::ScheduleDecl &schedule) const;

  std::vector<Dimension> dimensions;
};

/// The words of a command that looks at many inputs and sizes.
struct GridFlags {
  /// `overview` says what is done with every combination of values.
  GridFlags(llvm::cl::OptionCategory &category, llvm::StringRef overview);
  /// Adds what `--grid` gives to `grid`, also in the words behind it, and takes
  /// the other words as `inputs`.
  llvm::LogicalResult read(Grid &grid, std::vector<std::string> &inputs,
                           DiagEngine &diags) const;

  llvm::cl::list<std::string> words;
  llvm::cl::list<std::string> grid;
};

/// `ranks = 4, microbatches = 8`
std::string paramText(const ParamValues &values);

} // namespace pipec

#endif // PIPEC_COMMAND_GRID_H
