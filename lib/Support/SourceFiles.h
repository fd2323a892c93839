//===- SourceFiles.h - The files of one run ---------------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_SUPPORT_SOURCEFILES_H
#define PIPEC_SUPPORT_SOURCEFILES_H

#include "Support/SourceLoc.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/SMLoc.h"
#include "llvm/Support/SourceMgr.h"

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace pipec {

/// A position as people write it. Line and column count from 1, the column in
/// bytes.
struct LineColumn {
  llvm::StringRef file;
  unsigned line = 0;
  unsigned column = 0;
};

/// Bytes that may come from a pipe, a device or standard input. They are held
/// in memory, while a large regular file is mapped.
inline constexpr uint64_t maxStreamBytes = uint64_t(1) << 30;
/// A limit for files that have none of their own.
inline constexpr uint64_t noByteLimit = std::numeric_limits<uint64_t>::max();

/// What editors of some systems put before the text of a file; not part of it.
inline constexpr llvm::StringLiteral byteOrderMark = "\xEF\xBB\xBF";

/// A file has more bytes than the reader of it accepts.
class FileTooLargeError : public llvm::ErrorInfo<FileTooLargeError> {
public:
  static char ID;
  explicit FileTooLargeError(uint64_t limit) : limit(limit) {}
  void log(llvm::raw_ostream &os) const override;
  std::error_code convertToErrorCode() const override;

  /// Bytes that were allowed.
  const uint64_t limit;
};

/// Owns every file that a run reads, on top of `llvm::SourceMgr`.
class SourceFiles {
public:
  /// Says how many bytes a file may have that begins with these: with all of
  /// it, or with a little more than 1 MiB of a longer one.
  using ByteLimit = llvm::function_ref<uint64_t(llvm::StringRef begin)>;

  /// Reads the file at `path` ("-" is standard input). Returns the text, which
  /// is followed by a NUL byte and lives as long as this object. Fails when the
  /// file cannot be read, when all files together would pass 4 GiB, and with
  /// `FileTooLargeError` when the file has more bytes than `limit` says, or
  /// than `maxStreamBytes` where it is not a regular file. Of a file that is
  /// too large, no more is read than it takes to know that.
  llvm::Expected<llvm::StringRef> open(llvm::StringRef path, ByteLimit limit);
  llvm::Expected<llvm::StringRef> open(llvm::StringRef path,
                                       uint64_t limit = noByteLimit) {
    return open(path, [limit](llvm::StringRef) { return limit; });
  }

  /// Adds a text under a name that messages show. `firstLine` is the number of
  /// its first line, for a text that is a part of a file.
  llvm::Expected<llvm::StringRef>
  add(std::unique_ptr<llvm::MemoryBuffer> buffer, unsigned firstLine = 1);

  /// The four-byte form of `loc`, invalid when no file holds it.
  SourceLoc compress(llvm::SMLoc loc) const;
  llvm::SMLoc expand(SourceLoc loc) const;

  /// Tells how many bytes the item has that `rest`, the end of a file, begins
  /// with; 0 for none.
  using ItemLength = size_t (*)(llvm::StringRef rest);
  /// Says what the `SourceLoc`s of a file point at: the items of which its
  /// reader makes steps. `text` is of that file.
  void setItems(llvm::StringRef text, ItemLength length);
  /// The item at `loc`; a single position in a file without items.
  llvm::SMRange itemAt(SourceLoc loc) const;

  /// The file that holds `loc`, whole; empty when none does.
  llvm::StringRef textOf(llvm::SMLoc loc) const;

  /// File, line and column of `loc`, which some file must hold.
  LineColumn lineColumn(llvm::SMLoc loc) const;

  unsigned numFiles() const { return sourceMgr.getNumBuffers(); }
  /// The i-th file, in the order of reading.
  const llvm::MemoryBuffer &file(unsigned i) const;

private:
  const llvm::MemoryBuffer *bufferOf(llvm::SMLoc loc) const;
  /// Where the lines of the file with this number of `sourceMgr` begin.
  llvm::ArrayRef<uint32_t> linesOf(unsigned id) const;

  llvm::SourceMgr sourceMgr;
  /// Where each file starts in the numbering of `SourceLoc`.
  std::vector<uint32_t> starts;
  /// The number of the first line of each file.
  std::vector<unsigned> firstLines;
  /// Null for a file without items.
  std::vector<ItemLength> itemLengths;
  /// Made for a file when a position in it is first asked for.
  mutable std::vector<std::vector<uint32_t>> lineStarts;
};

} // namespace pipec

#endif // PIPEC_SUPPORT_SOURCEFILES_H
