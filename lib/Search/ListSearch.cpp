//===- ListSearch.cpp - Annealing of lists --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Search/ListTiming.h"

#include "Search/Anneal.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>

namespace pipec::search {

namespace {

class ListAnnealer {
public:
  ListAnnealer(const ListProblem &problem, ListMoves moves, uint64_t seed)
      : problem(problem), moves(moves), timing(problem), random(seed) {}

  FoundLists run(const FoundLists &start, unsigned heat, Ticks bound,
                 Budget &budget);

private:
  using Change = ListTiming::Change;

  bool propose(Change &change, uint32_t place);
  bool moveItem(Change &change, uint32_t place);
  bool join(Change &change, uint32_t place);
  bool takeApart(Change &change, uint32_t place);
  bool recompute(Change &change, uint32_t place);
  bool changeForm(Change &change, uint32_t place);
  bool splitBackward(Change &change, uint32_t place, StepCode whole);
  bool joinBackward(Change &change, uint32_t place, StepCode split);
  void setPart(Change &change, uint32_t begin, uint32_t end);
  void trim(Change &change);
  void keepOrder(Change &change, StepCode moved);
  void replace(ListItem &item, StepCode from, StepCode to);
  uint32_t distance();
  const ItemList &listOf(const Change &change) const {
    return timing.lists[change.rank];
  }
  uint32_t placeOf(StepKind kind, uint32_t slot) const {
    return timing.places[ListProblem::code(kind, slot)];
  }
  uint32_t backwardOf(uint32_t slot) const {
    uint32_t whole = placeOf(StepKind::B, slot);
    return whole == ListTiming::none ? placeOf(StepKind::I, slot) : whole;
  }

  const ListProblem &problem;
  const ListMoves moves;
  ListTiming timing;
  Random random;
};

} // namespace

bool ListAnnealer::propose(Change &change, uint32_t place) {
  change.flipped = ListTiming::none;
  unsigned kind = random.below(100);
  bool made = false;
  if (moves.overlaps && kind < 30)
    made = listOf(change)[place].isPair() && random.chance(50)
               ? takeApart(change, place)
               : join(change, place);
  else if (moves.recomputes && kind < 50)
    made = recompute(change, place);
  else if (moves.forms && kind < 65)
    made = changeForm(change, place);
  else
    made = moveItem(change, place);
  return made && timing.isAllowed(change);
}

uint32_t ListAnnealer::distance() {
  uint32_t most = tuning::shortMove;
  if (!random.chance(tuning::shortChance))
    most = random.chance(tuning::middleChance) ? 6 : 6 * problem.ranks();
  return 1 + random.below(most);
}

/// The part of the list from `begin` to `end`, unchanged.
void ListAnnealer::setPart(Change &change, uint32_t begin, uint32_t end) {
  const ItemList &list = listOf(change);
  change.begin = begin;
  change.oldEnd = end;
  change.part.assign(list.begin() + begin, list.begin() + end);
}

/// Leaves out equal items at both ends.
void ListAnnealer::trim(Change &change) {
  const ItemList &list = listOf(change);
  size_t skip = 0;
  while (skip != change.part.size() && change.begin != change.oldEnd &&
         change.part[skip] == list[change.begin]) {
    ++skip;
    ++change.begin;
  }
  change.part.erase(change.part.begin(), change.part.begin() + skip);
  while (!change.part.empty() && change.begin != change.oldEnd &&
         change.part.back() == list[change.oldEnd - 1]) {
    change.part.pop_back();
    --change.oldEnd;
  }
}

void ListAnnealer::replace(ListItem &item, StepCode from, StepCode to) {
  (item.first == from ? item.first : item.second) = to;
  item = problem.item(item.first, item.second);
}

/// Gives the steps of the kind and the stage of `moved` their old order, since
/// units are alike.
void ListAnnealer::keepOrder(Change &change, StepCode moved) {
  StepKind kind = ListProblem::kindOf(moved);
  // The form of a backward, or the need of a unit, would move with it.
  if (kind == StepKind::R)
    return;
  uint32_t slot = ListProblem::slotOf(moved);
  unsigned stage = problem.stageOf(slot);
  bool direction = problem.isSecond(slot);
  auto isAlike = [&](StepCode code) {
    uint32_t other = ListProblem::slotOf(code);
    return code != noStep && ListProblem::kindOf(code) == kind &&
           problem.stageOf(other) == stage &&
           problem.isSecond(other) == direction;
  };
  llvm::SmallVector<StepCode, 16> order;
  const ItemList &list = listOf(change);
  for (uint32_t i = change.begin; i != change.oldEnd; ++i)
    for (StepCode code : {list[i].first, list[i].second})
      if (isAlike(code))
        order.push_back(code);
  if (order.size() < 2)
    return;
  auto next = order.begin();
  for (ListItem &item : change.part) {
    ListItem old = item;
    for (StepCode *code : {&item.first, &item.second})
      if (isAlike(*code))
        *code = *next++;
    if (problem.unitsDiffer() && !(item == old))
      item = problem.item(item.first, item.second);
  }
}

bool ListAnnealer::moveItem(Change &change, uint32_t place) {
  uint32_t length = listOf(change).size(), by = distance();
  ListItem moved = listOf(change)[place];
  if (random.chance(50)) {
    setPart(change, place, std::min(place + by + 1, length));
    std::rotate(change.part.begin(), change.part.begin() + 1,
                change.part.end());
  } else {
    setPart(change, place > by ? place - by : 0, place + 1);
    std::rotate(change.part.begin(), change.part.end() - 1, change.part.end());
  }
  keepOrder(change, moved.first);
  if (moved.isPair())
    keepOrder(change, moved.second);
  trim(change);
  return !change.part.empty();
}

/// Joins the step at a place with one of the next steps, where either of them
/// is.
bool ListAnnealer::join(Change &change, uint32_t place) {
  const ItemList &list = listOf(change);
  if (list[place].isPair())
    return false;
  StepCode own = list[place].first;
  uint32_t other = place, end = std::min<uint32_t>(place + 9, list.size());
  for (uint32_t i = place + 1; i < end; ++i)
    if (!list[i].isPair() && problem.mayPair(own, list[i].first) &&
        (other == place || random.chance(30))) {
      other = i;
      if (random.chance(70))
        break;
    }
  if (other == place)
    return false;
  StepCode second = list[other].first;
  ListItem pair = problem.item(own, second);
  // The order of the members counts only where the costs name it.
  if (problem.mayPair(second, own))
    if (ListItem swapped = problem.item(second, own); swapped.time < pair.time)
      pair = swapped;
  if (pair.time >= list[place].time + list[other].time)
    return false;
  setPart(change, place, other + 1);
  bool isFirst = random.chance(50);
  change.part[isFirst ? 0 : change.part.size() - 1] = pair;
  change.part.erase(isFirst ? change.part.end() - 1 : change.part.begin());
  keepOrder(change, isFirst ? second : own);
  return true;
}

bool ListAnnealer::takeApart(Change &change, uint32_t place) {
  ListItem pair = listOf(change)[place];
  ListItem members[] = {problem.single(pair.first),
                        problem.single(pair.second)};
  bool isSwapped = random.chance(50);
  setPart(change, place, place + 1);
  change.part = {members[isSwapped], members[!isSwapped]};
  return true;
}

/// Recomputes the unit of a step before its backward, or no longer does.
bool ListAnnealer::recompute(Change &change, uint32_t place) {
  const ListItem &item = listOf(change)[place];
  StepCode own = item.isPair() && random.chance(50) ? item.second : item.first;
  uint32_t slot = ListProblem::slotOf(own);
  change.flipped = slot;
  if (timing.recomputed[slot]) {
    uint32_t at = placeOf(StepKind::R, slot);
    if (listOf(change)[at].isPair())
      return false;
    setPart(change, at, at + 1);
    change.part.clear();
    return true;
  }
  uint32_t to = backwardOf(slot), from = placeOf(StepKind::F, slot);
  if (random.chance(50)) {
    uint32_t by = random.below(8);
    to = to > by ? std::max(to - by, from + 1) : from + 1;
  }
  if (to <= from)
    return false;
  setPart(change, to, to);
  change.part = {problem.single(ListProblem::code(StepKind::R, slot))};
  return true;
}

bool ListAnnealer::changeForm(Change &change, uint32_t place) {
  const ItemList &list = listOf(change);
  uint32_t end = std::min<uint32_t>(place + 6, list.size());
  for (; place != end; ++place)
    for (StepCode code : {list[place].first, list[place].second})
      if (code != noStep && ListProblem::isBackward(code))
        return ListProblem::kindOf(code) == StepKind::B
                   ? splitBackward(change, place, code)
                   : joinBackward(change, place, code);
  return false;
}

bool ListAnnealer::splitBackward(Change &change, uint32_t place,
                                 StepCode whole) {
  uint32_t slot = ListProblem::slotOf(whole);
  uint32_t at =
      std::min<uint32_t>(place + 1 + distance(), listOf(change).size());
  setPart(change, place, at);
  replace(change.part.front(), whole, ListProblem::code(StepKind::I, slot));
  change.part.push_back(problem.single(ListProblem::code(StepKind::W, slot)));
  return true;
}

/// Joins an I with its W.
bool ListAnnealer::joinBackward(Change &change, uint32_t place,
                                StepCode split) {
  uint32_t slot = ListProblem::slotOf(split), at = placeOf(StepKind::W, slot);
  if (at <= place || listOf(change)[at].isPair())
    return false;
  setPart(change, place, at + 1);
  replace(change.part.front(), split, ListProblem::code(StepKind::B, slot));
  change.part.pop_back();
  return true;
}

FoundLists ListAnnealer::run(const FoundLists &start, unsigned heat,
                             Ticks bound, Budget &budget) {
  FoundLists best = start;
  if (start.makespan <= bound || !timing.load(start.lists))
    return best;
  uint32_t size = 0;
  for (const ItemList &list : start.lists)
    size += list.size();
  annealTiming(
      timing, size, heat, bound, random, budget,
      [&](Change &change, uint32_t place) { return propose(change, place); },
      [&] { best = {timing.lists, timing.makespan}; });
  return best;
}

FoundLists searchLists(const ListProblem &problem,
                       const std::vector<std::vector<ItemList>> &starts,
                       ListMoves moves, uint64_t seed, Ticks bound,
                       Budget &budget) {
  std::vector<FoundLists> found;
  ListTiming timing(problem);
  uint32_t size = 1;
  for (const std::vector<ItemList> &lists : starts) {
    if (timing.load(lists))
      found.push_back({lists, timing.makespan});
    budget.spend(timing.work * 8);
    timing.work = 0;
  }
  if (found.empty())
    return {};
  llvm::stable_sort(found, [](const FoundLists &a, const FoundLists &b) {
    return a.makespan < b.makespan;
  });
  for (const ItemList &list : found.front().lists)
    size += list.size();
  return annealRounds(
      found, size, bound, budget,
      [&](unsigned round, const FoundLists &start, unsigned heat, Budget &own) {
        ListAnnealer annealer(problem, moves, seed * 1000 + round + 900);
        return annealer.run(start, heat, bound, own);
      });
}

} // namespace pipec::search
