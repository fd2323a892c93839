//===- OutputFile.h - A file that a run writes as a whole -------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_DRIVER_OUTPUTFILE_H
#define PIPEC_DRIVER_OUTPUTFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <memory>
#include <string>
#include <system_error>

namespace pipec {

/// The output of a run. A file is written under another name and takes its
/// place in `commit`; without a commit nothing changes on disk. Standard
/// output, devices and pipes are written directly.
///
/// A symbolic link is followed, also to a file that does not exist yet. A file
/// that exists keeps its mode, owner, group and hard links: where replacing it
/// would change one of them, or where its folder takes no new file, `commit`
/// overwrites its contents once all of the output is there. A file that nobody
/// may write is refused, whatever its folder allows.
class OutputFile {
public:
  explicit OutputFile(llvm::StringRef path) : path(path.str()) {}
  ~OutputFile();
  OutputFile(const OutputFile &) = delete;
  OutputFile &operator=(const OutputFile &) = delete;

  /// Opens the file for writing; the path "-" writes to `out`.
  std::error_code open(llvm::raw_ostream &out);
  llvm::raw_ostream &stream() { return *os; }
  /// Makes the output final. When not all of it could be written, the file is
  /// as it was before the run.
  std::error_code commit();

private:
  std::error_code openFile();
  std::error_code makeTemporary(bool exists,
                                const llvm::sys::fs::file_status &old);
  std::error_code createBeside();
  std::error_code moveToTarget();
  std::error_code copyToTarget();
  void removeTemporary();

  const std::string path;
  /// Where the file goes: `path` with its symbolic links followed.
  std::string target;
  /// The file that is written, empty when there is none.
  std::string temporary;
  int descriptor = -1;
  /// The contents of the target are overwritten, not the file replaced.
  bool inPlace = false;
  std::unique_ptr<llvm::raw_fd_ostream> owned;
  llvm::raw_ostream *os = nullptr;
};

} // namespace pipec

#endif // PIPEC_DRIVER_OUTPUTFILE_H
