//===- Communicators.cpp - The communicators of a job ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Waiting/Communicators.h"

#include "Support/Diagnostics/AnalysisDiags.h"
#include "Waiting/Waiting.h"

#include "llvm/ADT/STLExtras.h"

#include <map>
#include <set>

using namespace llvm;

namespace pipec {

Communicators::Communicators(std::vector<std::vector<Edge>> edges,
                             std::string name, SourceLoc place)
    : members(std::move(edges)), fileName(std::move(name)), listPlace(place) {
  for (const auto &[number, own] : enumerate(members))
    for (Edge edge : own)
      numbers[edge] = unsigned(number);
}

std::vector<unsigned> Communicators::ranks(size_t number) const {
  std::set<unsigned> all;
  for (auto [from, to] : members[number]) {
    all.insert(from);
    all.insert(to);
  }
  return {all.begin(), all.end()};
}

std::string CommModel::phrase() const {
  if (!groups)
    return waitModelPhrase(row).str();
  return ("the communicators of `" + groups->name() + "`").str();
}

/// Calls `visit` with each P2P step of the lists and its edge.
static void forEachEnd(const Schedule &schedule, const DataFlow &flow,
                       function_ref<void(Step, Communicators::Edge)> visit) {
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
    for (Step step : schedule.ranks[rank])
      if (const DataFlow::Port *port =
              isP2P(step.kind()) ? flow.transfer(step) : nullptr)
        visit(step, isSend(step.kind())
                        ? Communicators::Edge(rank, port->rank)
                        : Communicators::Edge(port->rank, rank));
}

LogicalResult checkEdges(const Schedule &schedule, const CommModel &model,
                         DiagEngine &diags) {
  const Communicators *groups = model.communicators();
  if (!groups)
    return success();
  std::optional<Communicators::Edge> missing;
  forEachEnd(schedule, DataFlow(schedule), [&](Step, Communicators::Edge edge) {
    if (groups->find(edge.first, edge.second) == Communicators::none)
      missing = missing ? std::min(*missing, edge) : edge;
  });
  if (!missing)
    return success();
  return diags.report(groups->place(), diag::EdgeWithoutCommunicator,
                      missing->first, missing->second, schedule.name);
}

//===----------------------------------------------------------------------===//
// The fewest communicators
//===----------------------------------------------------------------------===//

using EdgeGroups = std::vector<std::vector<Communicators::Edge>>;

static bool endsWith(const Schedule &schedule, const Transfers &transfers,
                     const EdgeGroups &groups) {
  return Waiting(schedule, transfers,
                 CommModel(std::make_shared<const Communicators>(groups)))
      .ends();
}

/// The edges by a key, in the order of the first edge of each key.
static EdgeGroups groupedBy(ArrayRef<Communicators::Edge> edges,
                            function_ref<uint64_t(unsigned, unsigned)> keyOf) {
  EdgeGroups groups;
  std::map<uint64_t, size_t> numbers;
  for (auto [from, to] : edges) {
    auto [it, isNew] = numbers.try_emplace(keyOf(from, to), groups.size());
    if (isNew)
      groups.emplace_back();
    groups[it->second].push_back({from, to});
  }
  return groups;
}

NeededCommunicators neededCommunicators(const Schedule &schedule,
                                        const Transfers &transfers) {
  std::set<Communicators::Edge> found;
  forEachEnd(schedule, transfers.flow(),
             [&](Step, Communicators::Edge edge) { found.insert(edge); });
  std::vector<Communicators::Edge> edges(found.begin(), found.end());
  auto one = [](unsigned, unsigned) { return uint64_t(0); };
  auto direction = [](unsigned from, unsigned to) {
    return uint64_t(from > to);
  };
  auto pair = [](unsigned from, unsigned to) {
    return uint64_t(std::min(from, to)) << 32 | std::max(from, to);
  };
  auto edge = [](unsigned from, unsigned to) {
    return uint64_t(from) << 32 | to;
  };

  NeededCommunicators result;
  EdgeGroups groups = groupedBy(edges, one);
  bool ends = endsWith(schedule, transfers, groups);
  if (ends) {
    result.communicators = Communicators(std::move(groups));
    result.smallest = true;
    return result;
  }
  for (function_ref<uint64_t(unsigned, unsigned)> keyOf :
       {function_ref<uint64_t(unsigned, unsigned)>(direction),
        function_ref<uint64_t(unsigned, unsigned)>(pair),
        function_ref<uint64_t(unsigned, unsigned)>(edge)}) {
    groups = groupedBy(edges, keyOf);
    ends = endsWith(schedule, transfers, groups);
    if (ends)
      break;
  }
  if (!ends)
    return result;

  // Each communicator joins the first one that it can. Since a schedule that
  // finishes with some communicators finishes if one of them is split, those
  // that cannot be joined now cannot be joined later.
  for (size_t next = 1; next < groups.size();) {
    bool joined = false;
    for (size_t into = 0; into != next && !joined; ++into) {
      EdgeGroups tried = groups;
      append_range(tried[into], tried[next]);
      tried.erase(tried.begin() + next);
      joined = endsWith(schedule, transfers, tried);
      if (joined)
        groups = std::move(tried);
    }
    next += !joined;
  }
  for (std::vector<Communicators::Edge> &own : groups)
    llvm::sort(own);
  llvm::sort(groups);
  result.smallest = groups.size() == 2;
  result.communicators = Communicators(std::move(groups));
  return result;
}

} // namespace pipec
