//===- SourceFiles.cpp - The files of one run -----------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/SourceFiles.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <limits>

using namespace llvm;

namespace pipec {

Expected<StringRef> SourceFiles::open(StringRef path) {
  // A directory opens but does not read; say so in the words of the system.
  if (path != "-" && sys::fs::is_directory(path))
    return createStringError(std::make_error_code(std::errc::is_a_directory),
                             "is a directory");
  auto buffer = MemoryBuffer::getFileOrSTDIN(path);
  if (!buffer)
    return createStringError(buffer.getError(), buffer.getError().message());
  return add(std::move(*buffer));
}

Expected<StringRef> SourceFiles::add(std::unique_ptr<MemoryBuffer> buffer) {
  uint64_t start = 1;
  if (!starts.empty())
    start = uint64_t(starts.back()) +
            file(starts.size() - 1).getBufferSize() + 1;
  if (start + buffer->getBufferSize() > std::numeric_limits<uint32_t>::max())
    return createStringError(std::make_error_code(std::errc::file_too_large),
                             "the files of this run pass 4 GiB");
  starts.push_back(start);
  StringRef text = buffer->getBuffer();
  sourceMgr.AddNewSourceBuffer(std::move(buffer), SMLoc());
  return text;
}

const MemoryBuffer &SourceFiles::file(unsigned i) const {
  return *sourceMgr.getMemoryBuffer(i + 1);
}

const MemoryBuffer *SourceFiles::bufferOf(SMLoc loc) const {
  if (!loc.isValid())
    return nullptr;
  unsigned id = sourceMgr.FindBufferContainingLoc(loc);
  return id ? sourceMgr.getMemoryBuffer(id) : nullptr;
}

SourceLoc SourceFiles::compress(SMLoc loc) const {
  if (!loc.isValid())
    return {};
  unsigned id = sourceMgr.FindBufferContainingLoc(loc);
  if (!id)
    return {};
  const char *begin = sourceMgr.getMemoryBuffer(id)->getBufferStart();
  return {uint32_t(starts[id - 1] + (loc.getPointer() - begin))};
}

SMLoc SourceFiles::expand(SourceLoc loc) const {
  if (!loc.isValid())
    return {};
  size_t i = llvm::upper_bound(starts, loc.offset) - starts.begin() - 1;
  return SMLoc::getFromPointer(file(i).getBufferStart() +
                               (loc.offset - starts[i]));
}

StringRef SourceFiles::textOf(SMLoc loc) const {
  const MemoryBuffer *buffer = bufferOf(loc);
  return buffer ? buffer->getBuffer() : StringRef();
}

LineColumn SourceFiles::lineColumn(SMLoc loc) const {
  const MemoryBuffer *buffer = bufferOf(loc);
  assert(buffer && "a position outside every file");
  unsigned id = sourceMgr.FindBufferContainingLoc(loc);
  // `getLineAndColumn` searches back for a line end in a way that is quadratic
  // on long lines, so the column is counted here.
  unsigned line = sourceMgr.FindLineNumber(loc, id);
  const char *p = loc.getPointer();
  const char *begin = buffer->getBufferStart();
  const char *lineStart = p;
  while (lineStart != begin && lineStart[-1] != '\n')
    --lineStart;
  return {buffer->getBufferIdentifier(), line, unsigned(p - lineStart) + 1};
}

} // namespace pipec
