//===- SourceFiles.h - The files of one run -------------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_SUPPORT_SOURCEFILES_H
#define PIPEC_SUPPORT_SOURCEFILES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/SMLoc.h"
#include "llvm/Support/SourceMgr.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace pipec {

/// A position in any file of a run, in four bytes: the files lie end to end in
/// one numbering of bytes, and 0 is "no position". This is what a step keeps of
/// its source; `SourceFiles` turns it into an `SMLoc` and back.
struct SourceLoc {
  uint32_t offset = 0;
  bool isValid() const { return offset != 0; }
  friend bool operator==(SourceLoc, SourceLoc) = default;
};

/// A position as people write it. Line and column count from 1, the column in
/// bytes.
struct LineColumn {
  llvm::StringRef file;
  unsigned line = 0;
  unsigned column = 0;
};

/// Owns every file that a run reads, on top of `llvm::SourceMgr`.
class SourceFiles {
public:
  /// Reads the file at `path` ("-" is standard input). Returns the text, which
  /// ends in a NUL byte behind its last character; it lives as long as this
  /// object. Fails when the file cannot be read, or when all files together
  /// would pass 4 GiB.
  llvm::Expected<llvm::StringRef> open(llvm::StringRef path);

  /// Adds a text under a name that messages show.
  llvm::Expected<llvm::StringRef> add(std::unique_ptr<llvm::MemoryBuffer> buffer);

  /// The four-byte form of `loc`, invalid when no file holds it.
  SourceLoc compress(llvm::SMLoc loc) const;
  llvm::SMLoc expand(SourceLoc loc) const;

  /// The file that holds `loc`, whole; empty when none does.
  llvm::StringRef textOf(llvm::SMLoc loc) const;

  /// File, line and column of `loc`, which some file must hold.
  LineColumn lineColumn(llvm::SMLoc loc) const;

  unsigned numFiles() const { return sourceMgr.getNumBuffers(); }
  /// The i-th file, in the order of reading.
  const llvm::MemoryBuffer &file(unsigned i) const;

private:
  const llvm::MemoryBuffer *bufferOf(llvm::SMLoc loc) const;

  llvm::SourceMgr sourceMgr;
  /// Where each file starts in the numbering of `SourceLoc`.
  std::vector<uint32_t> starts;
};

} // namespace pipec

#endif // PIPEC_SUPPORT_SOURCEFILES_H
