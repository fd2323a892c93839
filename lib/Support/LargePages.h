//===- LargePages.h - Large pages for large lists ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

namespace pipec {

/// Makes the allocator use 2 MB pages for large lists where the system supports
/// them, and reuse freed memory for the next list. Call it in `main` before the
/// first list is built. Without it, a whole run of 25 million steps takes 1.13
/// times as long (benchmarks/README.md). It has no effect on small runs, and
/// none on systems other than Linux with the GNU C library.
void useLargePages();

} // namespace pipec
