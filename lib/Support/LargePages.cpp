//===- LargePages.cpp - Large pages for large lists -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linux grants huge pages on request (`madvise`, the usual setting of
// transparent huge pages), but the GNU C library requests them only if the
// environment says so (glibc.malloc.hugetlb). Here `operator new` requests
// them. If a large block comes from the heap, the request covers all of the
// heap that no earlier request has covered; otherwise it covers the block. The
// heap grows in large pieces and keeps them, so requests are rare and no page
// is faulted in twice.
//
// This file is part of a static library, so a program gets these operators only
// if it calls `useLargePages`. Sanitizers replace them with their own.
//
//===----------------------------------------------------------------------===//

#include "Support/FatalErrors.h"

#include "llvm/Support/Compiler.h"

#include <cstdint>
#include <cstdlib> // defines __GLIBC__

#if defined(__linux__) && defined(__GLIBC__) && !LLVM_ADDRESS_SANITIZER_BUILD

#include <algorithm>
#include <atomic>
#include <malloc.h>
#include <new>
#include <sys/mman.h>
#include <unistd.h>

/// The minimum size of a block for a request.
static constexpr size_t largeBlock = size_t(1) << 18;
static constexpr size_t smallPage = 4096;
/// The minimum growth of the heap.
static constexpr int heapPiece = 64 << 20;

/// The end of the part of the heap that requests have covered. A stale value
/// only causes a repeated request.
static std::atomic<uintptr_t> asked = 0;

static void askForLargePages(void *block, size_t size) {
  uintptr_t begin = uintptr_t(block);
  uintptr_t heapEnd = uintptr_t(sbrk(0));
  uintptr_t end = begin + size;
  if (begin < heapEnd) {
    uintptr_t before = asked.load(std::memory_order_relaxed);
    if (end <= before)
      return;
    begin = std::max(begin, before);
    end = heapEnd;
    asked.store(end, std::memory_order_relaxed);
  }
  begin = (begin + smallPage - 1) / smallPage * smallPage;
  end = end / smallPage * smallPage;
  // Failure is harmless.
  if (begin < end)
    (void)madvise(reinterpret_cast<void *>(begin), end - begin, MADV_HUGEPAGE);
}

void *operator new(size_t size) {
  for (;;) {
    if (void *block = std::malloc(size ? size : 1)) {
      if (size >= largeBlock)
        askForLargePages(block, size);
      return block;
    }
    std::new_handler handler = std::get_new_handler();
    if (!handler)
      throw std::bad_alloc();
    handler();
  }
}

void operator delete(void *block) noexcept { std::free(block); }
void operator delete(void *block, size_t) noexcept { std::free(block); }

void pipec::useLargePages() {
  // Blocks of several large pages are mapped separately, which avoids holes in
  // the heap.
  mallopt(M_MMAP_THRESHOLD, 4 << 20);
  mallopt(M_TOP_PAD, heapPiece);
  mallopt(M_TRIM_THRESHOLD, -1);
}

#else

void pipec::useLargePages() {}

#endif
