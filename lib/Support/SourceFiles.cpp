//===- SourceFiles.cpp - The files of one run -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Support/SourceFiles.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <sys/mman.h>

using namespace llvm;

namespace pipec {

/// The number of leading bytes from which the limit of a file is determined.
static constexpr uint64_t beginBytes = uint64_t(1) << 20;
static constexpr size_t chunkBytes = size_t(1) << 16;

char FileTooLargeError::ID = 0;

void FileTooLargeError::log(raw_ostream &os) const {
  os << "larger than the limit of " << limit << " bytes";
}

std::error_code FileTooLargeError::convertToErrorCode() const {
  return std::make_error_code(std::errc::file_too_large);
}

/// Appends to `text` until the end of `file`, or until `text` has more than
/// `limit` bytes.
static Error readOn(sys::fs::file_t file, uint64_t limit,
                    SmallVectorImpl<char> &text) {
  while (text.size() <= limit) {
    size_t size = text.size();
    size_t chunk = std::min<uint64_t>(chunkBytes, limit - size + 1);
    text.resize_for_overwrite(size + chunk);
    Expected<size_t> count = sys::fs::readNativeFile(
        file, MutableArrayRef<char>(text).drop_front(size));
    text.truncate(size + (count ? *count : 0));
    if (!count)
      return count.takeError();
    if (*count == 0)
      break;
  }
  return Error::success();
}

static Error systemError(std::error_code error) {
  return createStringError(error, error.message());
}

static Expected<std::unique_ptr<MemoryBuffer>>
readFile(sys::fs::file_t file, StringRef name, SourceFiles::ByteLimit limit) {
  sys::fs::file_status status;
  if (std::error_code error = sys::fs::status(file, status))
    return systemError(error);
  // Opening a directory succeeds but reading does not; report the error of the
  // system.
  if (sys::fs::is_directory(status))
    return systemError(std::make_error_code(std::errc::is_a_directory));

  SmallVector<char, 0> text;
  if (Error error = readOn(file, beginBytes, text))
    return error;
  uint64_t allowed = limit(StringRef(text.data(), text.size()));
  if (text.size() > beginBytes) {
    // The size of standard input says nothing about how much of it remains.
    if (sys::fs::is_regular_file(status) && status.getSize() >= text.size() &&
        file != sys::fs::getStdinHandle()) {
      if (status.getSize() > allowed)
        return make_error<FileTooLargeError>(allowed);
      auto buffer = MemoryBuffer::getOpenFile(file, name, /*FileSize=*/-1);
      if (!buffer)
        return systemError(buffer.getError());
      return std::move(*buffer);
    }
    allowed = std::min(allowed, maxStreamBytes);
    if (Error error = readOn(file, allowed, text))
      return error;
  }
  if (text.size() > allowed)
    return make_error<FileTooLargeError>(allowed);
  return std::make_unique<SmallVectorMemoryBuffer>(std::move(text), name);
}

StringRef shownPath(StringRef path) { return path == "-" ? "<stdin>" : path; }

Expected<StringRef> SourceFiles::open(StringRef path, ByteLimit limit) {
  auto read = [&]() -> Expected<std::unique_ptr<MemoryBuffer>> {
    if (path == "-")
      return readFile(sys::fs::getStdinHandle(), shownPath(path), limit);
    Expected<sys::fs::file_t> file = sys::fs::openNativeFileForRead(path);
    if (!file)
      return systemError(errorToErrorCode(file.takeError()));
    auto close = make_scope_exit([&] { (void)sys::fs::closeFile(*file); });
    return readFile(*file, path, limit);
  };
  Expected<std::unique_ptr<MemoryBuffer>> buffer = read();
  if (!buffer)
    return buffer.takeError();
  return add(std::move(*buffer));
}

Expected<StringRef> SourceFiles::add(std::unique_ptr<MemoryBuffer> buffer,
                                     unsigned firstLine) {
  uint64_t start = 1;
  if (!starts.empty())
    start =
        uint64_t(starts.back()) + file(starts.size() - 1).getBufferSize() + 1;
  if (start + buffer->getBufferSize() > std::numeric_limits<uint32_t>::max())
    return createStringError(std::make_error_code(std::errc::file_too_large),
                             "the files of this run pass 4 GiB");
  starts.push_back(start);
  firstLines.push_back(firstLine);
  itemLengths.push_back(nullptr);
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

void SourceFiles::setItems(StringRef text, ItemLength length) {
  if (unsigned id = sourceMgr.FindBufferContainingLoc(
          SMLoc::getFromPointer(text.begin())))
    itemLengths[id - 1] = length;
}

SMRange SourceFiles::itemAt(SourceLoc loc) const {
  if (!loc.isValid())
    return {};
  size_t i = llvm::upper_bound(starts, loc.offset) - starts.begin() - 1;
  StringRef rest = file(i).getBuffer().drop_front(loc.offset - starts[i]);
  size_t length = itemLengths[i] ? itemLengths[i](rest) : 0;
  return {SMLoc::getFromPointer(rest.begin()),
          SMLoc::getFromPointer(rest.begin() + length)};
}

StringRef SourceFiles::textOf(SMLoc loc) const {
  const MemoryBuffer *buffer = bufferOf(loc);
  return buffer ? buffer->getBuffer() : StringRef();
}

ArrayRef<uint32_t> SourceFiles::linesOf(unsigned id) const {
  if (lineStarts.size() < id)
    lineStarts.resize(id);
  std::vector<uint32_t> &lines = lineStarts[id - 1];
  if (lines.empty()) {
    StringRef text = sourceMgr.getMemoryBuffer(id)->getBuffer();
    size_t start = 0;
    do {
      lines.push_back(start);
      start = text.find('\n', start) + 1;
    } while (start != 0);
  }
  return lines;
}

LineColumn SourceFiles::lineColumn(SMLoc loc) const {
  unsigned id = sourceMgr.FindBufferContainingLoc(loc);
  assert(id && "a position outside every file");
  const MemoryBuffer *buffer = sourceMgr.getMemoryBuffer(id);
  // `SourceMgr` scans from the start of the line for each lookup.
  uint32_t offset = loc.getPointer() - buffer->getBufferStart();
  ArrayRef<uint32_t> lines = linesOf(id);
  size_t line = llvm::upper_bound(lines, offset) - lines.begin();
  return {buffer->getBufferIdentifier(),
          unsigned(line) - 1 + firstLines[id - 1],
          offset - lines[line - 1] + 1};
}

bool SourceFiles::isOfLibrary(StringRef file) const {
  return !library.empty() && file.consume_front(library) &&
         file.starts_with("/");
}

std::string SourceFiles::shownName(StringRef file) const {
  if (!isOfLibrary(file))
    return file.str();
  return ("<library>" + file.drop_front(library.size())).str();
}

// `MemoryBuffer::dontNeedIfMmap` uses `posix_madvise`, which the GNU C library
// ignores.
void SourceFiles::releaseBefore(SMLoc place) const {
  const MemoryBuffer *file = bufferOf(place);
  if (!file || file->getBufferKind() != MemoryBuffer::MemoryBuffer_MMap)
    return;
  // Mappings start at a page boundary.
  char *begin = const_cast<char *>(file->getBufferStart());
  size_t page = sys::Process::getPageSizeEstimate();
  size_t size = size_t(place.getPointer() - begin) / page * page;
  (void)madvise(begin, size, MADV_DONTNEED);
}

} // namespace pipec
