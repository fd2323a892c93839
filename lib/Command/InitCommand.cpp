//===- InitCommand.cpp - The init command ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `pipec init FOLDER` writes a folder for new schedules, with tests
// (docs/TestingSchedules.md). The files are templates/init/.
//
//===----------------------------------------------------------------------===//

#include "Command/CommandRun.h"
#include "Driver/Io.h"
#include "Support/Diagnostics/CommandDiags.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace pipec {

// clang-format off
static constexpr std::pair<StringLiteral, const char *> initFiles[] = {
    {"schedule.pipe",
#include "Command/init/schedule.pipe.inc"
    }, {"tests/schedule.test",
#include "Command/init/schedule.test.inc"
    }, {"tests/lit.cfg.py",
#include "Command/init/lit.cfg.py.inc"
    }, {".github/workflows/schedules.yml",
#include "Command/init/schedules.yml.inc"
    }};
// clang-format on

/// Writes a file that does not exist, and the folders that it is in.
static std::error_code writeNewFile(StringRef path, StringRef text,
                                    raw_ostream &out) {
  if (auto error = sys::fs::create_directories(sys::path::parent_path(path)))
    return error;
  OutputFile file(path);
  if (auto error = file.open(out))
    return error;
  file.stream() << text;
  return file.commit();
}

LogicalResult runInit(const CommandRun &run) {
  ArrayRef<std::string> words = run.args.words();
  if (failed(checkInputCount(run.args, words, run.diags)))
    return failure();
  if (words.empty())
    return reportMissingInput(run.diags);
  SmallVector<std::string> paths;
  for (const auto &[name, text] : initFiles) {
    SmallString<128> path(words[0]);
    sys::path::append(path, name);
    paths.push_back(path.str().str());
    // Nothing is written if a file would be replaced.
    if (sys::fs::exists(path))
      return run.diags.report(
          DiagLoc(), diag::FileUnwritable, path,
          std::make_error_code(std::errc::file_exists).message());
  }
  for (const auto &[path, file] : zip_equal(paths, initFiles)) {
    if (auto error = writeNewFile(path, file.second, run.standardOutput()))
      return run.diags.report(DiagLoc(), diag::FileUnwritable, path,
                              error.message());
    if (failed(run.announce("wrote " + path)))
      return failure();
  }
  return success();
}

} // namespace pipec
