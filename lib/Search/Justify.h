//===- Justify.h - Better words from the slack of others --------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_SEARCH_JUSTIFY_H
#define PIPEC_SEARCH_JUSTIFY_H

#include "Search/Budget.h"
#include "Search/Decoder.h"
#include "Search/Timing.h"

namespace pipec::search {

/// Words and their makespan.
struct Found {
  Words words;
  Ticks makespan = 0;
};

/// Decodes with the latest starts of the steps of `found` as targets, again and
/// again while the makespan falls.
void justify(const Problem &problem, Found &found, Decoder &decoder,
             Timing &timing, Budget &budget);

} // namespace pipec::search

#endif // PIPEC_SEARCH_JUSTIFY_H
