//===- LargePages.h - Large pages for large lists ---------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_SUPPORT_LARGEPAGES_H
#define PIPEC_SUPPORT_LARGEPAGES_H

namespace pipec {

/// Makes the allocator use 2 MB pages for large lists where the system supports
/// them, and reuse freed memory for the next list. Call it in `main` before the
/// first list is built. Without it, a whole run of 25 million steps takes 1.13
/// times as long (benchmarks/README.md). It has no effect on small runs, and
/// none on systems other than Linux with the GNU C library.
void useLargePages();

} // namespace pipec

#endif // PIPEC_SUPPORT_LARGEPAGES_H
