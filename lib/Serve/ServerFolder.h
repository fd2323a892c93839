//===- ServerFolder.h - The folder of a local server ---------- -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace pipec {

/// A folder in the temporary directory for this user alone, removed on
/// destruction. It is locked while the process runs, however that ends, so that
/// a later server can remove the folder of one that was killed.
class ServerFolder {
public:
  /// Removes the folders of servers of this user that do not run any more, and
  /// makes one. On failure `path` is the pattern of its name, and errno says
  /// why.
  ServerFolder();
  ServerFolder(const ServerFolder &) = delete;
  ServerFolder &operator=(const ServerFolder &) = delete;
  ~ServerFolder() { remove(); }

  bool exists() const { return lock >= 0; }
  const std::string &path() const { return name; }
  /// Removes the folder now; for a process that is left without destructors.
  void remove();

private:
  std::string name;
  /// A descriptor of the folder.
  int lock = -1;
};

/// A folder for the files of one run, removed with them on destruction. The
/// names of the files are those that messages have.
class RunFolder {
public:
  /// Makes the folder, in a folder that exists.
  explicit RunFolder(std::string path);
  ~RunFolder();
  RunFolder(const RunFolder &) = delete;
  RunFolder &operator=(const RunFolder &) = delete;

  const std::string &path() const { return name; }
  std::string file(llvm::StringRef stem) const {
    return name + "/" + stem.str();
  }
  /// Writes a file. Errors surface later: the compiler reports a missing or
  /// truncated file.
  void write(llvm::StringRef stem, llvm::StringRef contents) const;
  /// The contents of a file; nullopt if it does not exist.
  std::optional<std::string> read(llvm::StringRef stem) const;

private:
  const std::string name;
};

} // namespace pipec
