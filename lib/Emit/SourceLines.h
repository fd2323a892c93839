//===- SourceLines.h - The source lines of steps ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "IR/Schedule.h"
#include "Support/SourceFiles.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/Path.h"

#include <string>

namespace pipec {

/// Finds the lines of steps. The steps of a rank come from few statements, so
/// each position is only looked up once.
class SourceLines {
public:
  SourceLines(const Schedule &schedule, const SourceFiles &files)
      : files(files) {
    llvm::SMLoc loc = files.expand(schedule.source);
    if (!loc.isValid())
      return;
    std::string path = files.lineColumn(loc).file.str();
    file = llvm::sys::path::filename(path).str();
    fromProgram = llvm::StringRef(file).ends_with(".pipe");
  }

  /// The name of the file, without folders; empty if unknown.
  const std::string &fileName() const { return file; }

  /// The line of a step; 0 if it comes from a list of steps, whose lines add no
  /// information.
  unsigned operator()(Step step) {
    if (!fromProgram || !step.source().isValid())
      return 0;
    auto [it, isNew] = lines.try_emplace(step.source().offset, 0);
    if (isNew)
      it->second = files.lineColumn(files.expand(step.source())).line;
    return it->second;
  }

private:
  const SourceFiles &files;
  std::string file;
  bool fromProgram = false;
  llvm::DenseMap<uint32_t, unsigned> lines;
};

} // namespace pipec
