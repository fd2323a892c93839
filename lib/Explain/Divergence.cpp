//===- Divergence.cpp - Finding where two schedules diverge ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Explain/Divergence.h"

#include "IR/DataFlow.h"

using namespace llvm;

namespace pipec {

/// Advances `at` to the next step that is compared, or to the end.
static void skip(const StepList &list, size_t &at, CompareSteps which) {
  while (at != list.size() &&
         (which == CompareSteps::Compute ? !isCompute(list[at].kind())
                                         : list[at].kind() == StepKind::Bubble))
    ++at;
}

/// Compares two lists; `same` compares two steps.
template <typename Same>
static std::optional<Divergence> compareLists(const StepList &first,
                                              const StepList &second,
                                              CompareSteps which, Same same) {
  Divergence at;
  while (true) {
    skip(first, at.first, which);
    skip(second, at.second, which);
    bool ended = at.first == first.size();
    if (ended != (at.second == second.size()))
      return at;
    if (ended)
      return std::nullopt;
    if (!same(first[at.first], second[at.second]))
      return at;
    ++at.first;
    ++at.second;
  }
}

std::vector<std::optional<Divergence>> findDivergence(const Schedule &first,
                                                      const Schedule &second,
                                                      CompareSteps which) {
  // The same port is another edge in another stage graph.
  bool sameGraph = first.graph == second.graph;
  std::optional<DataFlow> flows[2];
  if (!sameGraph) {
    flows[0].emplace(first);
    flows[1].emplace(second);
  }
  auto same = [&](Step a, Step b) {
    if (sameGraph || !(isP2P(a.kind()) || isSendWait(a.kind())))
      return a.sameAction(b);
    const DataFlow::Port *ports[] = {flows[0]->transfer(a), nullptr};
    a.setPort(0);
    if (a.kind() == b.kind())
      ports[1] = flows[1]->transfer(b);
    b.setPort(0);
    return a.sameAction(b) &&
           (ports[0] && ports[1] ? ports[0]->stage == ports[1]->stage
                                 : ports[0] == ports[1]);
  };
  std::vector<std::optional<Divergence>> divergences;
  for (size_t rank = 0, end = std::min(first.numRanks, second.numRanks);
       rank != end; ++rank)
    divergences.push_back(
        compareLists(first.ranks[rank], second.ranks[rank], which, same));
  return divergences;
}

} // namespace pipec
