//===- OrderWalk.h - Data-driven traversal of all ranks ---------*- C++ -*-===//
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

  // On its own, so that what its loop reads stays in registers.
  LLVM_ATTRIBUTE_NOINLINE void advance(unsigned rank) {
    const StepList &list = schedule.ranks[rank];
    const Step *const first = list.data(), *const end = first + list.size();
    // The members of a group are [begin, at), those before `begin` have run.
    const Step *at = first + ranks[rank].at;
    const Step *begin = first + ranks[rank].groupBegin;
    while (at != end) {
      const Step step = *at;
      // Most steps of a list with transfers have no data of their own.
      if (!dataFlow.takesOrMakes(step.kind()) && begin == at &&
          !step.joined()) {
        ++at;
        client.visit(rank, begin - first, at - first);
        begin = at;
        continue;
      }
      const DataFlow::Row &row = dataFlow.row(step);
      const llvm::ArrayRef<DataFlow::Port> inputs = dataFlow.inputs(row);
      for (const DataFlow::Port &input : inputs)
        if (LLVM_UNLIKELY(!Client::isThere(this->at(input, step))) &&
            !isKeptFor(*at, input, begin)) {
          size_t number = dataFlow.datum(input, step.microbatch());
          ranks[rank] = {size_t(at - first), size_t(begin - first), number};
          if constexpr (unverified)
            if (dataFlow.home(step) != rank)
              strays[number].push_back(rank);
          prefetchSteps(at);
          return;
        }
      for (const DataFlow::Port &input : inputs)
        client.take(rank, this->at(input, step));
      ++at;
      if (step.joined() && at != end)
        continue;
      client.visit(rank, begin - first, at - first);
      if (LLVM_LIKELY(at - begin == 1)) {
        give(rank, begin - first, step, row);
        begin = at;
      }
      for (; begin != at; ++begin)
        give(rank, begin - first, *begin, dataFlow.row(*begin));
    }
    ranks[rank] = {list.size(), list.size(), nothing};
  }

  /// True when a step from `group` on up to `step`, a later member of that
  /// group, makes `input`, which the stage keeps for `step`. The members of an
  /// overlap start together, and a forward may keep its activations for a later
  /// one all the same.
  LLVM_ATTRIBUTE_NOINLINE static bool
  isKeptFor(const Step &step, const DataFlow::Port &input, const Step *group) {
    return input.isKept(step) && std::any_of(group, &step, [&](Step earlier) {
             return earlier.kind() == StepKind::F &&
                    input.kind == StepKind::F &&
                    earlier.stage() == input.stage &&
                    earlier.microbatch() == step.microbatch();
           });
  }

  /// Puts what a step makes into the table and wakes the ranks that wait for
  /// it.
  void give(unsigned rank, size_t index, Step step, const DataFlow::Row &row) {
    for (const DataFlow::Port &output : dataFlow.outputs(row)) {
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
