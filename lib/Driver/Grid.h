//===- Grid.h - The sizes on a command line ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A size is a value of a parameter, given by role or name. The forms
//
//   --ranks=8   -Dranks=8   -Dp=8   ranks=8   p=8   --grid ranks=8
//
// are equivalent for a schedule whose number of ranks is its parameter `p`, and
// giving two of them is an error. Steps and CSV have no parameters; for them, a
// value given by role is compared with the actual number. Commands that handle
// many sizes accept lists of values, `ranks=2,4..8`.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "AST/Decl.h"
#include "Cost/Settings.h"
#include "Driver/Arguments.h"
#include "Driver/InputFormat.h"
#include "Support/DiagEngine.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <string>
#include <utility>
#include <vector>

namespace pipec {

/// Values of parameters: role or name, and value.
using ParamValues = std::vector<std::pair<std::string, int64_t>>;

/// Parameters, each with a list of values. The points of the grid are all
/// combinations.
class Grid {
public:
  /// How many values a parameter may have.
  enum class Values { One, Many };

  /// Reads the sizes of a command line, and adds words that are not NAME=VALUE
  /// to `inputs`. Reports texts that are not sizes, and duplicate names.
  static llvm::FailureOr<Grid> read(const Arguments &args, Values values,
                                    std::vector<std::string> &inputs,
                                    DiagEngine &diags);

  /// Adds values of a parameter for the schedules that have it and for which
  /// the command line gives no value.
  void setDefault(llvm::StringRef name, llvm::ArrayRef<int64_t> values);

  /// Adds the numbers of ranks and micro-batches of a schedule in the same way.
  void setSizesOf(const ModelSettings &schedule);

  /// The first parameter that has none of these names, as written; empty if
  /// there is none.
  std::string writtenBut(llvm::ArrayRef<llvm::StringRef> names) const;
  /// The values of a parameter by this name; empty if there are none.
  llvm::ArrayRef<int64_t> valuesOf(llvm::StringRef name) const;

  bool empty() const { return dimensions.empty(); }
  /// The first value as written, `ranks=8`; empty if there is none.
  std::string firstWritten() const {
    return dimensions.empty() ? "" : dimensions.front().written;
  }
  /// The only value given for `name`, if there is one. Reports more
  /// than one value.
  llvm::FailureOr<std::optional<int64_t>> only(llvm::StringRef name,
                                               DiagEngine &diags) const;
  /// The value of that parameter, from 1 to `most`; `otherwise` if it was not
  /// given. Reports if it is neither, or out of range.
  llvm::FailureOr<unsigned>
  required(const Arguments &args, llvm::StringRef name, unsigned most,
           DiagEngine &diags,
           std::optional<unsigned> otherwise = std::nullopt) const;

  /// Reports the parameters that none of `schedules` has, with a list of their
  /// parameters, and those that one schedule has under two of the given names.
  /// `otherInputs` means that some inputs are lists of steps, whose numbers of
  /// ranks and micro-batches are compared with the command line.
  llvm::LogicalResult fit(llvm::ArrayRef<const ast::ScheduleDecl *> schedules,
                          bool otherInputs, DiagEngine &diags) const;
  /// The options about lists of steps: the sizes that the values
  /// of `ranks` and `microbatches`, in any spelling, and --stages require, and
  /// --dialect.
  InputOptions wanted(const Arguments &args) const;

  /// Calls `visit` for every combination of values of the parameters that
  /// `schedule` has, in the order of the command line; the last parameter
  /// changes fastest.
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
    /// As given, for messages; empty for a default.
    std::string written;

    /// True for a size that steps have too, and which must match.
    bool insists() const {
      return !written.empty() &&
             (name == "ranks" || name == "stages" || name == "microbatches");
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
