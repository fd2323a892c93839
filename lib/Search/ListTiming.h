//===- ListTiming.h - The times of lists ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Search/ListProblem.h"

namespace pipec::search {

/// Lists that can run, with their times and their memory.
class ListTiming {
public:
  explicit ListTiming(const ListProblem &problem)
      : problem(problem), lists(problem.ranks()), ends(problem.ranks()),
        tails(problem.ranks()), levels(problem.ranks()),
        places(size_t(problem.slots()) * 8, none), recomputed(problem.slots()),
        dataEnds(problem.numData()), dataTails(problem.numData()),
        newEnds(problem.ranks()), newDataEnds(problem.numData()),
        stamps(problem.numData()), waiting(size_t(problem.slots()) * 8),
        firsts(problem.ranks()) {}

  static constexpr uint32_t none = ~0u;

  /// A changed part of the list of a rank: `part` replaces the items from
  /// `begin` to `oldEnd`.
  struct Change {
    unsigned rank = 0;
    uint32_t begin = 0, oldEnd = 0;
    ItemList part;
    /// The slot that is recomputed from now on, or no longer; `none` if that
    /// remains.
    uint32_t flipped = none;

    uint32_t newEnd() const { return begin + uint32_t(part.size()); }
  };

  /// Adopts lists; false if they cannot run or exceed the memory.
  bool load(const std::vector<ItemList> &given);
  /// True if the changed list has its steps in an order that the rank can run
  /// within its memory.
  bool isAllowed(const Change &change);
  /// False if the longest path through the changed part exceeds `limit`, with
  /// the current times of the other ranks.
  bool isPromising(const Change &change, Ticks limit);
  /// Finds the times of the changed lists, and returns false if they exceed
  /// `limit` or deadlock.
  bool tryChange(const Change &change, Ticks limit);
  /// Adopts the times that `tryChange` found.
  void keep(const Change &change);
  void findTails();

  const ListProblem &problem;
  std::vector<ItemList> lists;
  /// By rank and place: the end of each item, its tail, and the memory after
  /// it.
  std::vector<std::vector<Ticks>> ends, tails, levels;
  /// By code, the place of a step in its list, `none` without it.
  std::vector<uint32_t> places;
  /// By slot.
  std::vector<bool> recomputed;
  Ticks makespan = 0, sum = 0;
  Ticks newMakespan = 0, newSum = 0;
  uint64_t work = 0;

private:
  bool ordered(llvm::ArrayRef<ListItem> items);
  bool isWaiting(StepCode code) const { return waiting[code] == waitStamp; }
  bool waitsInside(StepCode code) const;
  ListProblem::Sizes sizesOf(const ListItem &item, uint32_t flipped) const;
  void findPlaces(unsigned rank);
  bool arrivals(StepCode code, const Change *change, Ticks &start) const;
  Ticks oldArrivals(const ListItem &item, Ticks start) const;
  Ticks usersTail(const ListItem &item, Ticks tail) const;
  template <typename Body>
  static void forEach(const ListItem &item, Body body) {
    body(item.first);
    if (item.isPair())
      body(item.second);
  }
  /// Calls `body` with the datum and the hop of each port of the item on
  /// another rank: the `sources` or the `users` of its steps.
  template <typename Ports, typename Body>
  void forEachPort(const ListItem &item, Ports ports, Body body) const {
    forEach(item, [&](StepCode code) {
      if (!ListProblem::makesData(code))
        return;
      uint32_t unit = problem.unitOf(ListProblem::slotOf(code));
      for (const ListProblem::Port &port : (problem.*ports)(code))
        body(port.base + unit, port.hop);
    });
  }
  bool run(const Change *change, Ticks limit);
  bool runRank(unsigned rank, const Change *change, Ticks limit);

  /// By datum: the end of its step, and the longest path from its start.
  std::vector<Ticks> dataEnds, dataTails;
  /// The same under a change, from the first place of each rank on.
  std::vector<std::vector<Ticks>> newEnds;
  std::vector<Ticks> newDataEnds;
  std::vector<uint32_t> stamps;
  uint32_t stamp = 0;
  /// By code, whether the step is later in the part that is checked.
  std::vector<uint32_t> waiting;
  uint32_t waitStamp = 0;
  std::vector<uint32_t> firsts, nexts;
  /// Steps that end before this do not change.
  Ticks unchanged = 0;
  std::vector<Ticks> partEnds, partTails;
};

} // namespace pipec::search
