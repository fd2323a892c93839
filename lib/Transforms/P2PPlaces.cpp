//===- P2PPlaces.cpp - Where timed transfers are inserted -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Transforms/P2PPlaces.h"

#include "Support/SpanSort.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

void P2PPlaces::start(const StepList &list, size_t numEnds) {
  places.resize(numEnds);
  for (uint32_t k = 0; k != numEnds; ++k)
    places[k].end = k;
  groupBegins.clear();
  if (none_of(list, [](const Step &step) { return step.joined(); }))
    return;
  groupBegins.resize(list.size());
  for (uint32_t i = 1; i < list.size(); ++i)
    groupBegins[i] = list[i - 1].joined() ? groupBegins[i - 1] : i;
}

/// The first place after the producer of `send`.
uint32_t P2PPlaces::earliest(const StepList &list,
                             const TransferEnd &send) const {
  return groupBegins.empty() ? send.index + 1
                             : uint32_t(Schedule::groupEnd(list, send.index));
}

/// The last place before the consumer of `receive`.
uint32_t P2PPlaces::latest(const TransferEnd &receive) const {
  return groupBegins.empty() ? receive.index : groupBegins[receive.index];
}

ArrayRef<P2PPlaces::Place> P2PPlaces::inOneOrder(const StepList &list,
                                                 ArrayRef<TransferEnd> ends,
                                                 P2PFavor favor) {
  start(list, ends.size());
  // From front to back: each send after the producers of all sends so far, and
  // after the receives so far if they have been placed.
  auto placeSends = [&](bool receivesArePlaced) {
    uint32_t first = 0;
    for (auto [place, end] : zip_equal(places, ends)) {
      uint32_t bound = 0;
      if (!end.isReceive)
        bound = earliest(list, end);
      else if (receivesArePlaced)
        bound = place.before;
      place.before = first = std::max(first, bound);
    }
  };
  // From back to front: each receive before the consumers of all receives from
  // here on, and before the sends from here on if they have been placed.
  auto placeReceives = [&](bool sendsArePlaced) {
    uint32_t last = uint32_t(list.size());
    for (size_t k = ends.size(); k-- != 0;) {
      if (ends[k].isReceive)
        places[k].before = last = std::min(last, latest(ends[k]));
      else if (sendsArePlaced)
        last = places[k].before;
    }
  };
  if (favor == P2PFavor::Sends) {
    placeSends(/*receivesArePlaced=*/false);
    placeReceives(/*sendsArePlaced=*/true);
  } else {
    placeReceives(/*sendsArePlaced=*/false);
    placeSends(/*receivesArePlaced=*/true);
  }
  return places;
}

/// The bound of the next place on the edge to or from `peer`; at first
/// `initial`.
uint32_t &P2PPlaces::boundOf(uint32_t peer, uint32_t initial) {
  uint32_t &bound = bounds[peer];
  if (bound == none) {
    usedEdges.push_back(peer);
    bound = initial;
  }
  return bound;
}

void P2PPlaces::clearEdges() {
  for (uint32_t peer : usedEdges)
    bounds[peer] = none;
  usedEdges.clear();
}

ArrayRef<P2PPlaces::Place> P2PPlaces::byEdge(const StepList &list,
                                             ArrayRef<TransferEnd> ends) {
  start(list, ends.size());
  // From front to back: each send after the sends of its edge so far.
  for (auto [place, end] : zip_equal(places, ends)) {
    if (end.isReceive)
      continue;
    uint32_t &first = boundOf(end.peer, 0);
    place.before = first = std::max(first, earliest(list, end));
  }
  clearEdges();
  // From back to front: each receive before those of its edge from here on.
  for (auto [place, end] : reverse(zip_equal(places, ends))) {
    if (!end.isReceive)
      continue;
    uint32_t &last = boundOf(end.peer, uint32_t(list.size()));
    place.before = last = std::min(last, latest(end));
  }
  clearEdges();
  sorted.resize(places.size());
  spanSort<Place>(places, sorted, [&](const Place &place) {
    return 2 * uint64_t(place.before) + ends[place.end].isReceive;
  });
  return sorted;
}

} // namespace pipec
