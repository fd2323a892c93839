//===- OutputFile.h - Writing output files atomically -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <memory>
#include <string>
#include <system_error>

namespace pipec {

/// The output of a run. A file is written under a temporary name and renamed by
/// `commit`; without a commit nothing changes on disk. Standard output, devices
/// and pipes are written directly.
///
/// Symbolic links are followed, even to a file that does not exist yet. An
/// existing file keeps its mode, owner, group and hard links: if replacing it
/// would change one of them, or if its folder does not allow new files,
/// `commit` overwrites its contents after all output has been produced. A file
/// without write permission is refused, whatever the permissions of its folder.
class OutputFile {
public:
  explicit OutputFile(llvm::StringRef path) : path(path.str()) {}
  ~OutputFile();
  OutputFile(const OutputFile &) = delete;
  OutputFile &operator=(const OutputFile &) = delete;

  /// Opens the file for writing; the path "-" writes to `out`.
  std::error_code open(llvm::raw_ostream &out);
  llvm::raw_ostream &stream() { return *os; }
  /// Makes the output final. If it cannot be written completely, the file is
  /// unchanged.
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
  /// The destination of the file: `path` with symbolic links followed.
  std::string target;
  /// The temporary file; empty if there is none.
  std::string temporary;
  int descriptor = -1;
  /// True if the contents of the target are overwritten instead of replacing
  /// the file.
  bool inPlace = false;
  std::unique_ptr<llvm::raw_fd_ostream> owned;
  llvm::raw_ostream *os = nullptr;
};

} // namespace pipec
