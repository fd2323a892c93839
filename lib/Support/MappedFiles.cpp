//===- MappedFiles.cpp - Files that are mapped into memory ----------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `MemoryBuffer::dontNeedIfMmap` uses `posix_madvise`, which the GNU C library
// ignores.
//
//===----------------------------------------------------------------------===//

#include "Support/MappedFiles.h"

#include "llvm/Support/Process.h"

#include <sys/mman.h>

using namespace llvm;

namespace pipec {

void forgetBefore(const MemoryBuffer &file, const char *end) {
  if (file.getBufferKind() != MemoryBuffer::MemoryBuffer_MMap)
    return;
  // Mappings start at a page boundary.
  size_t page = sys::Process::getPageSizeEstimate();
  size_t size = size_t(end - file.getBufferStart()) / page * page;
  (void)madvise(const_cast<char *>(file.getBufferStart()), size, MADV_DONTNEED);
}

} // namespace pipec
