//===- SourceFiles.h - The files of one run ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

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

/// A position as shown to users. Lines and columns count from 1, columns in
/// bytes.
struct LineColumn {
  llvm::StringRef file;
  unsigned line = 0;
  unsigned column = 0;
};

/// The maximum number of bytes read from a pipe, a device or standard input.
/// These bytes are held in memory, while large regular files are mapped.
inline constexpr uint64_t maxStreamBytes = uint64_t(1) << 30;
/// For files without a limit of their own.
inline constexpr uint64_t noByteLimit = std::numeric_limits<uint64_t>::max();

/// The range of a part of a source file.
inline llvm::SMRange rangeOf(llvm::StringRef piece) {
  return {llvm::SMLoc::getFromPointer(piece.begin()),
          llvm::SMLoc::getFromPointer(piece.end())};
}

/// The byte order mark that some editors write; it is not part of the text.
inline constexpr llvm::StringLiteral byteOrderMark = "\xEF\xBB\xBF";

/// The error for a file with more bytes than its reader accepts.
class FileTooLargeError : public llvm::ErrorInfo<FileTooLargeError> {
public:
  static char ID;
  explicit FileTooLargeError(uint64_t limit) : limit(limit) {}
  void log(llvm::raw_ostream &os) const override;
  std::error_code convertToErrorCode() const override;

  /// The maximum number of bytes.
  const uint64_t limit;
};

/// The name of the input `path` in messages and output: the path, or `<stdin>`
/// for "-", standard input.
llvm::StringRef shownPath(llvm::StringRef path);

/// Owns every file that a run reads, on top of `llvm::SourceMgr`.
class SourceFiles {
public:
  /// Returns the maximum size of a file, given its first bytes: the whole file,
  /// or slightly more than 1 MiB of a longer one.
  using ByteLimit = llvm::function_ref<uint64_t(llvm::StringRef begin)>;

  /// Reads the file at `path` ("-" is standard input). Returns the text, which
  /// is followed by a NUL byte and lives as long as this object. Fails if the
  /// file cannot be read, if all files together exceed 4 GiB, and with
  /// `FileTooLargeError` if the file is larger than `limit` allows, or larger
  /// than `maxStreamBytes` and not a regular file. Reads no more of a file that
  /// is too large than needed to find out.
  llvm::Expected<llvm::StringRef> open(llvm::StringRef path, ByteLimit limit);
  llvm::Expected<llvm::StringRef> open(llvm::StringRef path,
                                       uint64_t limit = noByteLimit) {
    return open(path, [limit](llvm::StringRef) { return limit; });
  }

  /// Adds a text under a name that messages show. `firstLine` is the number of
  /// its first line, for a text that is part of a file.
  llvm::Expected<llvm::StringRef>
  add(std::unique_ptr<llvm::MemoryBuffer> buffer, unsigned firstLine = 1);

  /// The four-byte form of `loc`; invalid if no file contains it.
  SourceLoc compress(llvm::SMLoc loc) const;
  llvm::SMLoc expand(SourceLoc loc) const;

  /// Returns the length in bytes of the item at the start of `rest`, which
  /// extends to the end of the file; 0 if there is none.
  using ItemLength = size_t (*)(llvm::StringRef rest);
  /// Sets what the `SourceLoc`s of the file of `text` point at: the items that
  /// its reader turns into steps.
  void setItems(llvm::StringRef text, ItemLength length);
  /// The range of the item at `loc`; a single position if the file has no
  /// items.
  llvm::SMRange itemAt(SourceLoc loc) const;

  /// The text of the file that contains `loc`; empty if there is none.
  llvm::StringRef textOf(llvm::SMLoc loc) const;

  /// Marks files below the folder `path` as those of the library, which do not
  /// belong to the user.
  void setLibrary(llvm::StringRef path) { library = path.str(); }
  bool isOfLibrary(llvm::StringRef file) const;
  /// The name of a file in text: its path, or `<library>/zb1p.pipe`.
  std::string shownName(llvm::StringRef file) const;

  /// File, line and column of `loc`, which must be in one of the files.
  LineColumn lineColumn(llvm::SMLoc loc) const;

  /// Gives the memory of a file before `place` back to the system, if the file
  /// is mapped; the system reads the pages again on the next access. Does
  /// nothing to a text that was copied into memory, such as standard input.
  /// Without this the peak memory of reading a list is 1.5 times as high
  /// (benchmarks/README.md).
  void releaseBefore(llvm::SMLoc place) const;

  unsigned numFiles() const { return sourceMgr.getNumBuffers(); }
  /// The i-th file, in the order of reading.
  const llvm::MemoryBuffer &file(unsigned i) const;

private:
  const llvm::MemoryBuffer *bufferOf(llvm::SMLoc loc) const;
  /// The start offsets of the lines of the file with this id in `sourceMgr`.
  llvm::ArrayRef<uint32_t> linesOf(unsigned id) const;

  llvm::SourceMgr sourceMgr;
  /// The folder of the library; empty if there is none.
  std::string library;
  /// The first `SourceLoc` of each file.
  std::vector<uint32_t> starts;
  /// The number of the first line of each file.
  std::vector<unsigned> firstLines;
  /// Null for a file without items.
  std::vector<ItemLength> itemLengths;
  /// Computed for a file at the first lookup.
  mutable std::vector<std::vector<uint32_t>> lineStarts;
};

} // namespace pipec
