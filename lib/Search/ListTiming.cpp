//===- ListTiming.cpp - The times of lists --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Search/ListTiming.h"

#include <algorithm>

namespace pipec::search {

//===----------------------------------------------------------------------===//
// Order and memory
//===----------------------------------------------------------------------===//

/// True if a step uses one that comes later in the checked part.
bool ListTiming::waitsInside(StepCode code) const {
  uint32_t slot = ListProblem::slotOf(code);
  auto is = [&](StepKind kind) {
    return isWaiting(ListProblem::code(kind, slot));
  };
  switch (ListProblem::kindOf(code)) {
  case StepKind::W:
    return is(StepKind::I);
  case StepKind::R:
    return is(StepKind::F);
  case StepKind::B:
  case StepKind::I:
    if (is(StepKind::F) || is(StepKind::R))
      return true;
    break;
  default:
    break;
  }
  uint32_t slots = problem.slots(), unit = problem.unitOf(slot);
  for (const ListProblem::Port &port : problem.locals(code)) {
    uint32_t datum = port.base + unit;
    if (datum < slots
            ? isWaiting(ListProblem::code(StepKind::F, datum))
            : isWaiting(ListProblem::code(StepKind::B, datum - slots)) ||
                  isWaiting(ListProblem::code(StepKind::I, datum - slots)))
      return true;
  }
  return false;
}

/// True if no step of these items uses one that is not before it.
bool ListTiming::ordered(llvm::ArrayRef<ListItem> items) {
  ++waitStamp;
  for (const ListItem &item : items)
    forEach(item, [&](StepCode code) { waiting[code] = waitStamp; });
  for (const ListItem &item : items) {
    if (waitsInside(item.first) || (item.isPair() && waitsInside(item.second)))
      return false;
    forEach(item, [&](StepCode code) { waiting[code] = 0; });
  }
  return true;
}

ListProblem::Sizes ListTiming::sizesOf(const ListItem &item,
                                       uint32_t flipped) const {
  ListProblem::Sizes sum;
  forEach(item, [&](StepCode code) {
    uint32_t slot = ListProblem::slotOf(code);
    const ListProblem::Sizes &own =
        problem.sizes(code, recomputed[slot] != (slot == flipped));
    sum.taken += own.taken;
    sum.change += own.change;
  });
  return sum;
}

bool ListTiming::isAllowed(const Change &change) {
  work += change.part.size() * 2 + 2;
  if (!ordered(change.part))
    return false;
  unsigned rank = change.rank;
  const ItemList &old = lists[rank];
  const std::vector<Ticks> &own = levels[rank];
  uint32_t newEnd = change.newEnd(), i = change.begin;
  if (change.flipped != none)
    i = std::min(i, places[ListProblem::code(StepKind::F, change.flipped)]);
  uint32_t first = i;
  Ticks level = i ? own[i - 1] : 0;
  uint32_t size = old.size() - change.oldEnd + newEnd;
  for (; i != size; ++i) {
    uint32_t before = i < newEnd ? i : i - newEnd + change.oldEnd;
    // The rest is unchanged.
    if (i >= newEnd && before && level == own[before - 1])
      break;
    const ListItem &item = i >= change.begin && i < newEnd
                               ? change.part[i - change.begin]
                               : old[before];
    ListProblem::Sizes sizes = sizesOf(item, change.flipped);
    if (level + sizes.taken > problem.cap(rank))
      return false;
    level += sizes.change;
  }
  work += i - first;
  return true;
}

void ListTiming::findPlaces(unsigned rank) {
  const ItemList &list = lists[rank];
  levels[rank].resize(list.size());
  Ticks level = 0;
  for (uint32_t i = 0; i != list.size(); ++i) {
    forEach(list[i], [&](StepCode code) { places[code] = i; });
    level += sizesOf(list[i], none).change;
    levels[rank][i] = level;
  }
  work += list.size();
}

//===----------------------------------------------------------------------===//
// Times
//===----------------------------------------------------------------------===//

/// Raises the start of a step to the arrival of its data; false if one is not
/// known.
bool ListTiming::arrivals(StepCode code, const Change *change,
                          Ticks &start) const {
  if (!ListProblem::makesData(code))
    return true;
  uint32_t unit = problem.unitOf(ListProblem::slotOf(code));
  for (const ListProblem::Port &port : problem.sources(code)) {
    uint32_t from = port.base + unit;
    Ticks end;
    if (stamps[from] == stamp)
      end = newDataEnds[from];
    else if (change && dataEnds[from] < unchanged)
      end = dataEnds[from];
    else
      return false;
    start = std::max(start, end + port.hop);
  }
  return true;
}

/// Runs a rank until it waits for a step whose time is not known.
bool ListTiming::runRank(unsigned rank, const Change *change, Ticks limit) {
  bool isChanged = change && change->rank == rank;
  uint32_t begin = isChanged ? change->begin : 0;
  uint32_t newEnd = isChanged ? change->newEnd() : 0;
  uint32_t shift = isChanged ? change->oldEnd - newEnd : 0;
  const ItemList &own = lists[rank];
  std::vector<Ticks> &times = newEnds[rank];
  uint32_t &i = nexts[rank];
  Ticks now = i ? times[i - 1] : 0;
  for (uint32_t size = times.size(); i != size; ++i) {
    bool isInside = isChanged && i >= begin && i < newEnd;
    uint32_t old = isChanged && i >= newEnd ? i + shift : i;
    const ListItem &item = isInside ? change->part[i - begin] : own[old];
    Ticks start = now;
    if (!arrivals(item.first, change, start) ||
        (item.isPair() && !arrivals(item.second, change, start)))
      return true;
    now = start + item.time;
    ++work;
    // The tails of the changed part are not known yet.
    if (change && now + (isInside ? 0 : tails[rank][old]) > limit)
      return false;
    times[i] = now;
    forEach(item, [&](StepCode code) {
      if (!ListProblem::makesData(code))
        return;
      uint32_t datum = problem.datum(code);
      newDataEnds[datum] = now;
      stamps[datum] = stamp;
    });
  }
  return true;
}

bool ListTiming::run(const Change *change, Ticks limit) {
  ++stamp;
  unsigned ranks = problem.ranks();
  nexts.assign(ranks, 0);
  unchanged = 0;
  if (change && change->begin)
    unchanged = ends[change->rank][change->begin - 1];
  for (unsigned rank = 0; rank != ranks; ++rank) {
    bool isChanged = change && change->rank == rank;
    size_t size = lists[rank].size();
    newEnds[rank].resize(isChanged ? size - change->oldEnd + change->newEnd()
                                   : size);
    if (!change)
      continue;
    auto first =
        std::lower_bound(ends[rank].begin(), ends[rank].end(), unchanged);
    nexts[rank] = first - ends[rank].begin();
    if (isChanged)
      nexts[rank] = std::min(nexts[rank], change->begin);
    if (nexts[rank])
      newEnds[rank][nexts[rank] - 1] = ends[rank][nexts[rank] - 1];
  }
  firsts = nexts;
  bool isOver = false;
  for (bool any = true; any && !isOver;) {
    any = false;
    isOver = true;
    for (unsigned rank = 0; rank != ranks; ++rank) {
      uint32_t before = nexts[rank];
      if (before == newEnds[rank].size())
        continue;
      if (!runRank(rank, change, limit))
        return false;
      any |= nexts[rank] != before;
      isOver &= nexts[rank] == newEnds[rank].size();
    }
    work += ranks / 2;
  }
  if (!isOver)
    return false;
  newMakespan = newSum = 0;
  for (unsigned rank = 0; rank != ranks; ++rank) {
    Ticks end = newEnds[rank].empty() ? 0 : newEnds[rank].back();
    newMakespan = std::max(newMakespan, end);
    newSum += end;
  }
  return true;
}

bool ListTiming::load(const std::vector<ItemList> &given) {
  lists = given;
  std::fill(places.begin(), places.end(), none);
  std::fill(recomputed.begin(), recomputed.end(), false);
  for (const ItemList &list : lists)
    for (const ListItem &item : list)
      forEach(item, [&](StepCode code) {
        if (ListProblem::kindOf(code) == StepKind::R)
          recomputed[ListProblem::slotOf(code)] = true;
      });
  for (unsigned rank = 0; rank != problem.ranks(); ++rank) {
    if (!ordered(lists[rank]))
      return false;
    findPlaces(rank);
    Ticks level = 0;
    for (uint32_t i = 0; i != lists[rank].size(); ++i) {
      if (level + sizesOf(lists[rank][i], none).taken > problem.cap(rank))
        return false;
      level = levels[rank][i];
    }
  }
  if (!run(nullptr, Problem::never))
    return false;
  ends = newEnds;
  dataEnds = newDataEnds;
  makespan = newMakespan;
  sum = newSum;
  findTails();
  return true;
}

/// The longest path from the end of an item through its users on other ranks,
/// at least `tail`.
Ticks ListTiming::usersTail(const ListItem &item, Ticks tail) const {
  forEachPort(item, &ListProblem::users, [&](uint32_t datum, Ticks hop) {
    tail = std::max(tail, dataTails[datum] + hop);
  });
  return tail;
}

/// Runs the ranks backwards, from the end of the run.
void ListTiming::findTails() {
  ++stamp;
  unsigned ranks = problem.ranks();
  std::vector<uint32_t> left(ranks);
  for (unsigned rank = 0; rank != ranks; ++rank) {
    left[rank] = lists[rank].size();
    tails[rank].resize(left[rank]);
  }
  for (bool any = true; any;) {
    any = false;
    for (unsigned rank = 0; rank != ranks; ++rank)
      for (uint32_t &i = left[rank]; i; --i) {
        const ListItem &item = lists[rank][i - 1];
        bool isKnown = true;
        forEachPort(item, &ListProblem::users, [&](uint32_t datum, Ticks) {
          isKnown &= stamps[datum] == stamp;
        });
        if (!isKnown)
          break;
        Ticks tail = 0;
        if (i != lists[rank].size())
          tail = tails[rank][i] + lists[rank][i].time;
        tail = usersTail(item, tail);
        tails[rank][i - 1] = tail;
        forEach(item, [&](StepCode code) {
          if (!ListProblem::makesData(code))
            return;
          dataTails[problem.datum(code)] = tail + item.time;
          stamps[problem.datum(code)] = stamp;
        });
        any = true;
      }
  }
  for (const ItemList &list : lists)
    work += list.size();
}

/// The start of an item after `start`, with the current ends of its data.
Ticks ListTiming::oldArrivals(const ListItem &item, Ticks start) const {
  forEachPort(item, &ListProblem::sources, [&](uint32_t datum, Ticks hop) {
    start = std::max(start, dataEnds[datum] + hop);
  });
  return start;
}

bool ListTiming::isPromising(const Change &change, Ticks limit) {
  unsigned rank = change.rank;
  size_t size = change.part.size();
  partEnds.resize(size);
  partTails.resize(size);
  Ticks now = change.begin ? ends[rank][change.begin - 1] : 0;
  work += size + 2;
  for (size_t i = 0; i != size; ++i) {
    now = oldArrivals(change.part[i], now) + change.part[i].time;
    partEnds[i] = now;
  }
  Ticks tail = 0;
  if (change.oldEnd != lists[rank].size())
    tail = tails[rank][change.oldEnd] + lists[rank][change.oldEnd].time;
  for (size_t i = size; i-- != 0;) {
    tail = usersTail(change.part[i], tail);
    if (partEnds[i] + tail > limit)
      return false;
    partTails[i] = tail;
    tail += change.part[i].time;
  }
  return true;
}

bool ListTiming::tryChange(const Change &change, Ticks limit) {
  return run(&change, limit);
}

void ListTiming::keep(const Change &change) {
  unsigned rank = change.rank;
  auto replace = [&](auto &all, const auto &part) {
    auto at = all.begin() + change.begin;
    all.insert(all.erase(at, all.begin() + change.oldEnd), part.begin(),
               part.end());
  };
  for (uint32_t i = change.begin; i != change.oldEnd; ++i)
    forEach(lists[rank][i], [&](StepCode code) { places[code] = none; });
  replace(tails[rank], partTails);
  replace(lists[rank], change.part);
  if (change.flipped != none)
    recomputed[change.flipped] = !recomputed[change.flipped];
  findPlaces(rank);
  for (unsigned r = 0; r != problem.ranks(); ++r) {
    ends[r].resize(newEnds[r].size());
    for (uint32_t i = firsts[r]; i != ends[r].size(); ++i) {
      ends[r][i] = newEnds[r][i];
      forEach(lists[r][i], [&](StepCode code) {
        if (ListProblem::makesData(code))
          dataEnds[problem.datum(code)] = ends[r][i];
      });
    }
  }
  for (uint32_t i = change.begin; i != change.newEnd(); ++i)
    forEach(lists[rank][i], [&](StepCode code) {
      if (ListProblem::makesData(code))
        dataTails[problem.datum(code)] = tails[rank][i] + lists[rank][i].time;
    });
  makespan = newMakespan;
  sum = newSum;
}

} // namespace pipec::search
