//===- TraceText.cpp - The text of a trace --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Calibrate/RankTrace.h"

#include "Support/Diagnostics/CalibrateDiags.h"
#include "Support/Diagnostics/CommandDiags.h"

#include "llvm/Support/SmallVectorMemoryBuffer.h"

#include <zlib.h>

using namespace llvm;

namespace pipec {

/// Bytes that a trace may have once it is decompressed.
static constexpr uint64_t maxTraceBytes = uint64_t(1) << 31;

/// Decompresses one or more members of gzip, which follow each other. Returns
/// the error, or null.
static const char *gunzip(StringRef in, SmallVectorImpl<char> &out,
                          bool &tooLarge) {
  z_stream stream = {};
  // 16: with the header of gzip.
  if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK)
    return "zlib does not start";
  const char *problem = nullptr;
  out.resize_for_overwrite(std::max<size_t>(in.size() * 4, 1 << 16));
  size_t size = 0;
  while (true) {
    // Counts of zlib have 32 bits.
    constexpr size_t most = 1u << 30;
    if (stream.avail_in == 0 && !in.empty()) {
      StringRef part = in.take_front(most);
      in = in.drop_front(part.size());
      stream.next_in =
          reinterpret_cast<Bytef *>(const_cast<char *>(part.data()));
      stream.avail_in = uInt(part.size());
    }
    if (size == out.size())
      out.resize_for_overwrite(out.size() * 2);
    uInt room = uInt(std::min(out.size() - size, most));
    stream.next_out = reinterpret_cast<Bytef *>(out.data() + size);
    stream.avail_out = room;
    int result = inflate(&stream, Z_NO_FLUSH);
    size += room - stream.avail_out;
    if (size > maxTraceBytes) {
      tooLarge = true;
      break;
    }
    bool moreInput = stream.avail_in != 0 || !in.empty();
    if (result == Z_STREAM_END) {
      if (!moreInput)
        break;
      if (inflateReset(&stream) == Z_OK)
        continue;
    }
    if (result == Z_OK || (result == Z_BUF_ERROR && moreInput))
      continue;
    problem = result == Z_BUF_ERROR ? "it ends too early"
              : stream.msg          ? stream.msg
                                    : "its data is damaged";
    break;
  }
  inflateEnd(&stream);
  out.truncate(std::min(size, out.size()));
  return problem;
}

FailureOr<std::unique_ptr<MemoryBuffer>> openTraceText(StringRef path,
                                                       DiagEngine &diags) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> file =
      MemoryBuffer::getFileOrSTDIN(path, /*IsText=*/false,
                                   /*RequiresNullTerminator=*/true);
  if (!file)
    return diags.report(DiagLoc(), diag::FileUnreadable, path,
                        StringRef(file.getError().message()).lower());
  if ((*file)->getBufferSize() > maxTraceBytes)
    return diags.report(DiagLoc(), diag::FileTooLarge, path, maxTraceBytes);
  if (!(*file)->getBuffer().starts_with("\x1f\x8b"))
    return std::move(*file);
  SmallVector<char, 0> text;
  bool tooLarge = false;
  const char *problem = gunzip((*file)->getBuffer(), text, tooLarge);
  if (tooLarge)
    return diags.report(DiagLoc(), diag::FileTooLarge, path, maxTraceBytes);
  if (problem)
    return diags.report(DiagLoc(), diag::TraceNotGzip, path, problem);
  return std::unique_ptr<MemoryBuffer>(new SmallVectorMemoryBuffer(
      std::move(text), (*file)->getBufferIdentifier(),
      /*RequiresNullTerminator=*/true));
}

} // namespace pipec
