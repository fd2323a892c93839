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

/// The maximum number of bytes of the program of a page.
inline constexpr size_t maxProgramBytes = size_t(1) << 18;

/// The maximum number of bytes of a cost profile that a page sends with each
/// order. A link contains it, too.
inline constexpr size_t maxProfileBytes = size_t(1) << 18;

/// The files with those texts of an order that the compiler reads from files;
/// empty for what the order lacks.
struct OrderPaths {
  std::string steps, profile;
};

/// A program and the options about it, read from the body of a request. What is
/// not an option that the page offers cannot be expressed.
struct ProgramOrder {
  /// Reads an order. Returns what is wrong with it; empty if nothing is. Does
  /// not look names up.
  std::string read(const llvm::json::Object &body);

  /// The arguments about the input, sizes and costs of a compilation.
  std::vector<std::string> lowering(const OrderPaths &paths) const;
  /// The arguments of `check` for the same program, sizes and costs.
  std::vector<std::string> checking(const OrderPaths &paths) const;
  /// Those of `--with`; empty if there is no second schedule.
  std::vector<std::string> withSecond(const OrderPaths &paths) const;
  /// The arguments that give `compare` and `search` their sizes and costs.
  std::vector<std::string> modelArguments(const OrderPaths &paths) const;

  std::string program;
  /// The schedule, if the program has several.
  std::string schedule;
  /// Names or roles of parameters, and integers.
  std::vector<std::pair<std::string, std::string>> sizes;
  /// The value of `--cost`, `--memory-limit` and `--target`, or empty.
  std::string costs, memoryLimit, target;
  /// The text of a cost profile, or empty.
  std::string profile;
  /// The number of parts of the model that costs and profile are for; 0 if not
  /// known.
  int64_t parts = 0;
  /// The second schedule: a name of the library, or step IR.
  std::string withName, withSteps;
  /// The file of `withName`; `read` does not set it.
  std::string withFile;
  /// Sizes of the schedule that is compared or searched for; 0 if not given.
  int64_t ranks = 0, microbatches = 0, chunks = 0;
  std::string placement;
  /// The form of backwards of a search; empty for the default.
  std::string backward;
  /// The effort of a search, about seconds.
  int64_t effort = 10;
  /// Identifies the page; a new order of a page replaces the one before.
  std::string tab;
  /// Orders of a page with higher numbers are newer.
  int64_t serial = 0;
};

} // namespace pipec

#endif // PIPEC_SERVE_PROGRAMORDER_H
