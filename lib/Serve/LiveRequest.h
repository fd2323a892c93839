//===- LiveRequest.h - A run that the live page asks for ------ -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <map>
#include <string>
#include <vector>

namespace pipec {

/// The maximum number of bytes of the program of a page.
inline constexpr size_t maxProgramBytes = size_t(1) << 18;
/// The maximum number of bytes of a cost profile that a page keeps in its
/// state: each request and each link contains it.
inline constexpr size_t maxProfileBytes = size_t(1) << 18;

/// A run of a command, from the body of a request: a line of JSON, followed by
/// the contents of the traces, one after the other.
///
///     {"program": "...", "options": {"D": ["ranks=4"], "cost": "F=2"},
///      "files": {"cost-profile": "..."}, "traces": [3436, 3502],
///      "tab": "...", "serial": 3}
///
/// All members are optional. Options are those with a row PIPEC_LIVE
/// (Driver/Options.def) and have a text, an integer or a list of them as value;
/// the command checks it.
struct LiveRequest {
  /// Reads a body, which must outlive the request. `library` has the files of
  /// the schedules of the library, by name. Fails at the first member that is
  /// not as above.
  static llvm::Expected<LiveRequest>
  read(llvm::StringRef body, const std::map<std::string, std::string> &library);

  /// A file that the run reads; its path follows `option` in an argument.
  struct File {
    std::string option;
    std::string name;
    std::string text;
    /// The contents of a trace, in place of `text`.
    llvm::StringRef trace;
  };

  std::string program;
  std::vector<std::string> arguments;
  std::vector<File> files;
  /// Identifies the page; a new request of a page replaces its previous one.
  std::string tab;
  /// Requests of a page with higher numbers are newer.
  int64_t serial = 0;
};

} // namespace pipec
