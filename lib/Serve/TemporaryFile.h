//===- TemporaryFile.h - Files for one run of the compiler ---- -*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_SERVE_TEMPORARYFILE_H
#define PIPEC_SERVE_TEMPORARYFILE_H

#include "llvm/ADT/StringRef.h"

#include <atomic>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pipec {

/// A file in the folder of this server, removed on destruction.
class TemporaryFile {
public:
  explicit TemporaryFile(std::string path) : name(std::move(path)) {}
  TemporaryFile(TemporaryFile &&other) noexcept
      : name(std::exchange(other.name, "")) {}
  TemporaryFile &operator=(TemporaryFile &&) = delete;
  ~TemporaryFile();

  const std::string &path() const { return name; }
  /// Writes the contents. What cannot be written is reported by the compiler,
  /// which reads a file that is missing or shorter.
  void write(llvm::StringRef contents) const;
  /// The contents; `std::nullopt` if there is no file.
  std::optional<std::string> read() const;

private:
  std::string name;
};

/// An existing folder for the files of this server, whose names are numbers.
class TemporaryFolder {
public:
  explicit TemporaryFolder(std::string path) : path(std::move(path)) {}

  /// The name of a new file, which does not exist yet.
  TemporaryFile file(llvm::StringRef stem, llvm::StringRef extension);

private:
  const std::string path;
  std::atomic<uint64_t> last = 0;
};

/// What messages call a file: its path, and the name that is shown.
using ShownNames = std::vector<std::pair<std::string, std::string>>;

} // namespace pipec

#endif // PIPEC_SERVE_TEMPORARYFILE_H
