//===- LiveSettings.h - What the live page is served with ----- -*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_SERVE_LIVESETTINGS_H
#define PIPEC_SERVE_LIVESETTINGS_H

#include "Serve/ChildRun.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace pipec {

/// What does not change while a server runs.
struct LiveSettings {
  /// A run of the compiler with these arguments and input, which is ended after
  /// `time` and has the memory of all runs.
  ChildRequest run(std::vector<std::string> arguments, std::string input,
                   std::chrono::seconds time) const;
  /// The same for a command that reads programs, with the folders of imports.
  ChildRequest runProgram(std::vector<std::string> arguments, std::string input,
                          std::chrono::seconds time) const;

  /// The path of pipec, which compiles.
  std::string compiler;
  /// Where imports of the program are looked for first, and further folders.
  std::string folder;
  std::vector<std::string> includes;
  /// An existing folder for files of this server.
  std::string temporary;
  /// The files of the schedules of the library by name.
  std::map<std::string, std::string> library;
  /// The targets, and whether they have a pass that uses costs.
  std::map<std::string, bool> targets;
  /// The forms of backwards of a search.
  std::set<std::string> backwards;
  /// The page, complete.
  std::string page;
};

} // namespace pipec

#endif // PIPEC_SERVE_LIVESETTINGS_H
