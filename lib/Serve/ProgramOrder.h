//===- ProgramOrder.h - What a page asks to be compiled ------- -*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_SERVE_PROGRAMORDER_H
#define PIPEC_SERVE_PROGRAMORDER_H

#include "llvm/Support/JSON.h"

#include <string>
#include <utility>
#include <vector>

namespace pipec {

/// A program and the options about it, read from the body of a request. What is
/// not an option that the page offers cannot be expressed.
struct ProgramOrder {
  /// Reads an order. Returns what is wrong with it; empty if nothing is.
  std::string read(const llvm::json::Object &body);

  /// The arguments about the input, sizes and costs of a compilation.
  std::vector<std::string> lowering() const;
  /// Those of `--with`; empty if there is no second schedule. `stepsFile` is
  /// the file that contains `withSteps`.
  std::vector<std::string> withSecond(const std::string &stepsFile) const;
  /// The arguments about the second schedule as the only one, which has these
  /// parameters; empty if there is none.
  std::vector<std::string>
  loweringOfSecond(const std::string &stepsFile,
                   llvm::ArrayRef<std::string> parameters) const;
  /// The arguments that give `compare` and `search` their sizes and costs.
  std::vector<std::string> modelArguments() const;

  std::string program;
  /// The schedule, if the program has several.
  std::string schedule;
  /// Names or roles of parameters, and integers.
  std::vector<std::pair<std::string, std::string>> sizes;
  /// The value of `--cost`, `--memory-limit` and `--target`, or empty.
  std::string costs, memoryLimit, target;
  /// The second schedule: a name of the library, or step IR.
  std::string withName, withSteps;
  /// Sizes of the schedule that is compared or searched for; 0 if not given.
  int64_t ranks = 0, microbatches = 0, chunks = 0;
  std::string placement;
  /// The effort of a search, about seconds.
  int64_t effort = 10;
  /// Identifies the page; a new order of a page replaces the one before.
  std::string tab;
};

/// Parses an object; nothing if it is not one or is nested too deeply for
/// LLVM's recursive parser.
std::optional<llvm::json::Object> readObject(llvm::StringRef text);

} // namespace pipec

#endif // PIPEC_SERVE_PROGRAMORDER_H
