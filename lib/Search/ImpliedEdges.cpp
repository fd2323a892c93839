//===- ImpliedEdges.cpp - Edges that others imply -------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Search/ImpliedEdges.h"

#include <algorithm>

namespace pipec::search {

void dropImpliedEdges(Problem &problem) {
  constexpr uint64_t most = 1u << 30;
  std::vector<Edge> &edges = problem.edges;
  unsigned stages = problem.numStages();
  if (uint64_t(stages) * edges.size() > most)
    return;
  constexpr __int128 none = -1;
  // By stage: the longest way from one stage, between the end of one step and
  // the start of the other. Of all ways, and of those of two edges or more.
  struct Way {
    __int128 forth = none, back = none;
    void take(__int128 otherForth, __int128 otherBack) {
      forth = std::max(forth, otherForth);
      back = std::max(back, otherBack);
    }
  };
  std::vector<Way> all(stages), longer(stages);
  std::vector<char> implied(edges.size());
  for (size_t first = 0, end; first != edges.size(); first = end) {
    unsigned from = edges[first].from;
    for (end = first; end != edges.size() && edges[end].from == from;)
      ++end;
    if (end - first == 1)
      continue;
    std::fill(all.begin() + from, all.end(), Way());
    std::fill(longer.begin() + from, longer.end(), Way());
    for (size_t i = first; i != edges.size(); ++i) {
      const Edge &edge = edges[i];
      if (edge.from == from) {
        all[edge.to].take(edge.hopF, edge.hopI);
        continue;
      }
      const Way &way = all[edge.from];
      if (way.forth == none)
        continue;
      const StageFigures &middle = problem.stages[edge.from];
      __int128 forth = way.forth + middle.time[LetterF] + edge.hopF;
      __int128 back = way.back + middle.time[LetterI] + edge.hopI;
      all[edge.to].take(forth, back);
      longer[edge.to].take(forth, back);
    }
    for (size_t i = first; i != end; ++i)
      implied[i] = longer[edges[i].to].forth >= edges[i].hopF &&
                   longer[edges[i].to].back >= edges[i].hopI;
  }
  size_t kept = 0;
  for (size_t i = 0; i != edges.size(); ++i)
    if (!implied[i])
      edges[kept++] = edges[i];
  edges.resize(kept);
}

} // namespace pipec::search
