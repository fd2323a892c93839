//===- LargePages.h - Large pages for large lists ---------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_SUPPORT_LARGEPAGES_H
#define PIPEC_SUPPORT_LARGEPAGES_H

namespace pipec {

/// Lets this program take the memory of its large lists in pages of 2 MB where
/// the system has them, and keep what it gives back for its next list. For
/// `main`, before the first list. A whole run of 25 million steps otherwise
/// takes 1.13 times as long (benchmarks/README.md). Small runs, and systems
/// other than Linux with the GNU library, see no difference.
void useLargePages();

} // namespace pipec

#endif // PIPEC_SUPPORT_LARGEPAGES_H
