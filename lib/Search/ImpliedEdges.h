//===- ImpliedEdges.h - Edges that others imply -----------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_SEARCH_IMPLIEDEDGES_H
#define PIPEC_SEARCH_IMPLIEDEDGES_H

#include "Search/Problem.h"

namespace pipec::search {

/// Removes the edges between whose ends other ways take at least as long, forth
/// and back: their data are not there later than those of the others. Looks at
/// all ways from one stage at a time, unless that takes too long.
void dropImpliedEdges(Problem &problem);

} // namespace pipec::search

#endif // PIPEC_SEARCH_IMPLIEDEDGES_H
