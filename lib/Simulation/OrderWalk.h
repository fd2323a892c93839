//===- OrderWalk.h - Going through lists as their data allows ----*- C++ -*===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Goes through all lists, each in its order, and through each group of joined
// steps after the groups on other ranks whose results it takes. P2P steps play
// no part. A table has what is known of each result (the activation of a stage,
// the gradient of its input, for a micro-batch). A rank goes through its list
// until it comes to a step whose data has not been made, and notes what it
// waits for; whoever makes that puts the rank back to work. So each step is
// looked at once, and at most once more for each rank that it blocked.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_SIMULATION_ORDERWALK_H
#define PIPEC_SIMULATION_ORDERWALK_H

#include "IR/StepPrefetch.h"
#include "Simulation/Blocked.h"
#include "Simulation/DataFlow.h"

#include <limits>
#include <vector>

namespace pipec {

/// One walk through a schedule for `Client`, which says what is known of a
/// datum and is told what happens:
///
///   struct Datum;                           // by default one not made yet
///   static bool isThere(const Datum &);
///   // The next group of `rank` takes `datum`.
///   void take(unsigned rank, const Datum &datum);
///   // All of [begin, end) in the list of `rank` was taken: the group runs.
///   void visit(unsigned rank, size_t begin, size_t end);
///   // What the step at `index`, a member of that group, gives.
///   Datum give(unsigned rank, size_t index, const DataFlow::Rule &rule);
///
/// The order of the visits is one of many that the data allows.
template <typename Client> class OrderWalk {
public:
  using Datum = typename Client::Datum;

  OrderWalk(const Schedule &schedule, Client &client)
      : schedule(schedule), client(client), dataFlow(schedule),
        table(dataFlow.size()), ranks(schedule.numRanks) {}

  /// True when every rank came to its end.
  bool run() {
    // The first rank first.
    for (unsigned rank = schedule.numRanks; rank != 0; --rank)
      runnable.push_back(rank - 1);
    while (!runnable.empty()) {
      unsigned rank = runnable.back();
      runnable.pop_back();
      advance(rank);
    }
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
      if (ranks[rank].at != schedule.ranks[rank].size())
        return false;
    return true;
  }

  /// Reports where every rank stands after a run that did not end.
  InFlightDiagnostic reportHeads(DiagEngine &diags) const {
    std::vector<size_t> heads;
    for (const RankState &rank : ranks)
      heads.push_back(rank.groupBegin);
    return reportBlocked(
        schedule, heads,
        [&](Step step) {
          return !Client::isThere(table[dataFlow.taken(step)]);
        },
        diags);
  }

  /// What steps take and give.
  const DataFlow &flow() const { return dataFlow; }
  /// What is known of the datum with this number; the client may change it.
  Datum &datum(size_t number) { return table[number]; }
  /// What is known of all data, by number.
  std::vector<Datum> takeTable() { return std::move(table); }

private:
  static constexpr size_t nothing = std::numeric_limits<size_t>::max();

  struct RankState {
    /// The member that is waited for, or the group that comes next.
    size_t at = 0;
    size_t groupBegin = 0;
    /// The number of the datum that it waits for.
    size_t waitsFor = nothing;
  };

  void advance(unsigned rank) {
    const StepList &list = schedule.ranks[rank];
    RankState &self = ranks[rank];
    while (self.at != list.size()) {
      Step step = list[self.at];
      if (const DataFlow::Rule rule = dataFlow.of(step); rule.takes) {
        size_t data = dataFlow.taken(step, rule);
        if (!Client::isThere(table[data])) {
          self.waitsFor = data;
          prefetchSteps(&list[self.at]);
          return;
        }
        client.take(rank, table[data]);
      }
      ++self.at;
      if (step.joined())
        continue;
      client.visit(rank, self.groupBegin, self.at);
      for (; self.groupBegin != self.at; ++self.groupBegin)
        give(rank, self.groupBegin, list[self.groupBegin]);
    }
  }

  /// Puts what a step gives into the table and wakes the rank that waits for
  /// it.
  void give(unsigned rank, size_t index, Step step) {
    const DataFlow::Rule rule = dataFlow.of(step);
    if (!rule.gives)
      return;
    size_t data = dataFlow.given(step, rule);
    table[data] = client.give(rank, index, rule);
    // What the next micro-batches give lies behind it.
    __builtin_prefetch(reinterpret_cast<const char *>(&table[data]) + 128, 1);
    RankState &taker = ranks[rule.taker];
    if (taker.waitsFor != data)
      return;
    taker.waitsFor = nothing;
    runnable.push_back(rule.taker);
  }

  const Schedule &schedule;
  Client &client;
  DataFlow dataFlow;
  /// By number.
  std::vector<Datum> table;
  std::vector<RankState> ranks;
  /// Ranks that can go on.
  std::vector<unsigned> runnable;
};

} // namespace pipec

#endif // PIPEC_SIMULATION_ORDERWALK_H
