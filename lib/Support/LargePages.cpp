//===- LargePages.cpp - Large pages for large lists -----------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Linux gives large pages to memory for which `madvise` was called (the usual
// setting of transparent huge pages), and the GNU library calls it only when
// the environment says so (glibc.malloc.hugetlb). So `operator new` calls it:
// when a large block comes from the heap, for all of the heap for which it was
// not called yet, and otherwise for the block. The heap grows in large pieces
// and keeps them, so that there are few calls, and no page is taken twice.
//
// A program gets these operators only by calling `useLargePages`, since this
// file is part of a static library. Sanitizers bring their own.
//
//===----------------------------------------------------------------------===//

#include "Support/LargePages.h"

#include "llvm/Support/Compiler.h"

#include <cstdint>
#include <cstdlib> // says which C library this is

#if defined(__linux__) && defined(__GLIBC__) && !LLVM_ADDRESS_SANITIZER_BUILD

#include <algorithm>
#include <atomic>
#include <malloc.h>
#include <new>
#include <sys/mman.h>
#include <unistd.h>

/// Blocks of this size and more are worth a call.
static constexpr size_t largeBlock = size_t(1) << 18;
static constexpr size_t smallPage = 4096;
/// By how much the heap grows at least.
static constexpr int heapPiece = 64 << 20;

/// The end of the part of the heap for which large pages were requested. A
/// thread that reads an old value requests them twice.
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
  // A refusal changes nothing.
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
  // A block of several large pages is mapped alone, and leaves no hole.
  mallopt(M_MMAP_THRESHOLD, 4 << 20);
  mallopt(M_TOP_PAD, heapPiece);
  mallopt(M_TRIM_THRESHOLD, -1);
}

#else

void pipec::useLargePages() {}

#endif
