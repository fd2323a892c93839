//===- OrderWalk.h - Going through lists as their data allows ----*- C++ -*===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one walk through a schedule by its data: all lists, each in its order,
// and each group of joined steps after the steps that make what it takes.
// IR/DataFlow.h says what that is. P2P steps play no part. A table has what is
// known of each datum. A rank goes through its list until it comes to a step
// whose data has not been made, and notes the datum that it waits for; the
// producer puts the rank back to work. So each step is looked at once, and once
// more for each datum that its rank waited for there.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_IR_ORDERWALK_H
#define PIPEC_IR_ORDERWALK_H

#include "IR/DatumTable.h"
#include "IR/StepPrefetch.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <limits>
#include <type_traits>
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
///   // What the step at `index`, a member of that group, makes for `port`.
///   Datum give(unsigned rank, size_t index, const DataFlow::Port &port);
///
/// The order of the visits is one of many that the data allows.
///
/// A client for lists that were not verified has `static constexpr bool
/// unverified = true`. Then the table is linear in the steps, and a step on a
/// rank that does not hold its stage gets its data too.
template <typename Client> class OrderWalk {
  static constexpr bool unverified = requires { Client::unverified; };

public:
  using Datum = typename Client::Datum;
  using Table =
      std::conditional_t<unverified, DatumTable<Datum>, std::vector<Datum>>;

  OrderWalk(const Schedule &schedule, Client &client)
      : OrderWalk(schedule, client, DataFlow(schedule)) {}
  OrderWalk(const Schedule &schedule, Client &client, DataFlow flow)
      : schedule(schedule), client(client), dataFlow(std::move(flow)),
        table(makeTable()), ranks(schedule.numRanks) {}

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

  /// Where `rank` has stopped: the group that comes next, the size of its list
  /// at the end.
  size_t group(unsigned rank) const { return ranks[rank].groupBegin; }
  /// The member of that group whose data has not been made.
  size_t member(unsigned rank) const { return ranks[rank].at; }
  /// The first input of `step` that has not been made, null when all are there.
  const DataFlow::Port *missingInput(Step step) const {
    for (const DataFlow::Port &input : dataFlow.inputs(step))
      if (!Client::isThere(at(input, step)))
        return &input;
    return nullptr;
  }

  /// What steps take and give.
  const DataFlow &flow() const { return dataFlow; }
  /// What is known of the datum with this number; the client may change it.
  Datum &datum(size_t number) { return table[number]; }
  /// What is known of all data, by number.
  Table takeTable() { return std::move(table); }

private:
  static constexpr size_t nothing = std::numeric_limits<size_t>::max();

  struct RankState {
    /// The member that is waited for, or the group that comes next.
    size_t at = 0;
    size_t groupBegin = 0;
    /// The number of the datum that it waits for.
    size_t waitsFor = nothing;
  };

  Table makeTable() const {
    if constexpr (unverified)
      return Table(schedule, dataFlow);
    else
      return Table(dataFlow.size());
  }
  const Datum &at(const DataFlow::Port &input, Step step) const {
    return table[dataFlow.datum(input, step.microbatch())];
  }

  void advance(unsigned rank) {
    const StepList &list = schedule.ranks[rank];
    const size_t size = list.size();
    RankState &self = ranks[rank];
    while (self.at != size) {
      const Step step = list[self.at];
      // Most steps of a list with transfers have no data of their own.
      if (!DataFlow::hasRow(step.kind()) && self.groupBegin == self.at &&
          !step.joined()) {
        ++self.at;
        client.visit(rank, self.groupBegin, self.at);
        self.groupBegin = self.at;
        continue;
      }
      const llvm::ArrayRef<DataFlow::Port> inputs = dataFlow.inputs(step);
      for (const DataFlow::Port &input : inputs) {
        if (Client::isThere(at(input, step)))
          continue;
        // The members of an overlap start together. A forward may keep its
        // activations for a later one all the same.
        if (input.isKept(step) && isKeptInGroup(self, list, input))
          continue;
        self.waitsFor = dataFlow.datum(input, step.microbatch());
        if constexpr (unverified)
          if (dataFlow.home(step) != rank)
            strays[self.waitsFor].push_back(rank);
        prefetchSteps(&list[self.at]);
        return;
      }
      for (const DataFlow::Port &input : inputs)
        client.take(rank, at(input, step));
      ++self.at;
      if (step.joined() && self.at != size)
        continue;
      client.visit(rank, self.groupBegin, self.at);
      for (; self.groupBegin != self.at; ++self.groupBegin)
        give(rank, self.groupBegin, list[self.groupBegin]);
    }
  }

  /// True when an earlier member of the group that the rank is at makes
  /// `input`, which its stage keeps for the member that the rank is at.
  bool isKeptInGroup(const RankState &self, const StepList &list,
                     const DataFlow::Port &input) const {
    return llvm::any_of(
        llvm::ArrayRef(list).slice(self.groupBegin, self.at - self.groupBegin),
        [&](Step earlier) {
          return earlier.kind() == StepKind::F &&
                 input.kind == StepKind::F && earlier.stage() == input.stage &&
                 earlier.microbatch() == list[self.at].microbatch();
        });
  }

  /// Puts what a step makes into the table and wakes the ranks that wait for
  /// it.
  void give(unsigned rank, size_t index, Step step) {
    for (const DataFlow::Port &output : dataFlow.outputs(step)) {
      size_t number = dataFlow.datum(output, step.microbatch());
      table[number] = client.give(rank, index, output);
      // The data for the next micro-batches follow it.
      __builtin_prefetch(reinterpret_cast<const char *>(&table[number]) + 128,
                         1);
      wake(output.rank, number);
      if constexpr (unverified)
        if (!strays.empty())
          wakeStrays(number);
    }
  }
  void wakeStrays(size_t number) {
    if (auto it = strays.find(number); it != strays.end())
      for (unsigned stray : it->second)
        wake(stray, number);
  }
  void wake(unsigned rank, size_t number) {
    RankState &consumer = ranks[rank];
    if (consumer.waitsFor != number)
      return;
    consumer.waitsFor = nothing;
    runnable.push_back(rank);
  }

  const Schedule &schedule;
  Client &client;
  DataFlow dataFlow;
  /// By number.
  Table table;
  std::vector<RankState> ranks;
  /// Ranks that can go on.
  std::vector<unsigned> runnable;
  /// Ranks that have waited for a datum with a step of another rank.
  llvm::DenseMap<size_t, llvm::SmallVector<unsigned, 1>> strays;
};

} // namespace pipec

#endif // PIPEC_IR_ORDERWALK_H
