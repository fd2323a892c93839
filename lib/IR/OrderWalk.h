//===- OrderWalk.h - Data-driven traversal of all ranks ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The walk over all lists of a schedule, each in order, that visits each group
// of joined steps after the producers of its inputs (IR/DataFlow.h). P2P steps
// are ignored. A table stores the state of each datum. The walk advances on a
// rank until it reaches a step with an input that has not been produced, and
// records that datum; its producer makes the rank runnable again. Each step is
// therefore visited once, plus once per datum that its rank waited for there.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "IR/DataFlow.h"
#include "IR/Step.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <limits>
#include <type_traits>
#include <vector>

namespace pipec {

/// A walk over a schedule for a `Client`, which defines the state of a datum
/// and is notified of events:
///
///   struct Datum;                           // by default, not yet produced
///   static bool isThere(const Datum &);
///   // The next group of `rank` consumes `datum`.
///   void take(unsigned rank, const Datum &datum);
///   // All inputs of [begin, end) in the list of `rank` were taken: it runs.
///   void visit(unsigned rank, size_t begin, size_t end);
///   // The result for `port` of the step at `index`, a member of that group.
///   Datum give(unsigned rank, size_t index, const DataFlow::Port &port);
///
/// The data flow allows many orders of visits; the walk uses one of them.
///
/// A client may keep an UPDATE of a rank from running, and release it later:
///
///   bool mayRun(unsigned rank, Step step);
///   std::vector<unsigned> takeReleased();
///
/// A client for unverified lists has `static constexpr bool unverified = true`.
/// Then the size of the table is linear in the number of steps, and a step on a
/// rank that does not hold its stage receives its inputs too.
template <typename Client> class OrderWalk {
  static constexpr bool unverified = requires { Client::unverified; };
  static constexpr bool holds =
      requires(Client &client) { client.takeReleased(); };

public:
  using Datum = typename Client::Datum;
  using Table =
      std::conditional_t<unverified, DatumTable<Datum>, std::vector<Datum>>;

  OrderWalk(const Schedule &schedule, Client &client)
      : OrderWalk(schedule, client, DataFlow(schedule)) {}
  OrderWalk(const Schedule &schedule, Client &client, DataFlow flow)
      : schedule(schedule), client(client), dataFlow(std::move(flow)),
        table(makeTable()), ranks(schedule.numRanks) {}

  /// True if every rank has finished.
  bool run() {
    // Start with the first rank.
    for (unsigned rank = schedule.numRanks; rank != 0; --rank)
      runnable.push_back(rank - 1);
    while (!runnable.empty()) {
      unsigned rank = runnable.back();
      runnable.pop_back();
      advance(rank);
      if constexpr (holds)
        if (runnable.empty())
          llvm::append_range(runnable, client.takeReleased());
    }
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
      if (ranks[rank].at != schedule.ranks[rank].size())
        return false;
    return true;
  }

  /// The index of the group where `rank` has stopped; the size of its list if
  /// it has finished.
  size_t group(unsigned rank) const { return ranks[rank].groupBegin; }
  /// The index of the member of that group that has a missing input.
  size_t member(unsigned rank) const { return ranks[rank].at; }
  /// The first input of `step` that has not been produced; null if there is
  /// none.
  const DataFlow::Port *missingInput(Step step) const {
    for (const DataFlow::Port &input : dataFlow.inputs(step))
      if (!Client::isThere(at(input, step)))
        return &input;
    return nullptr;
  }

  /// The inputs and outputs of steps.
  const DataFlow &flow() const { return dataFlow; }
  /// The state of the datum with this number, which the client may change.
  Datum &datum(size_t number) { return table[number]; }
  /// The states of all data, by number.
  Table takeTable() { return std::move(table); }

private:
  static constexpr size_t nothing = std::numeric_limits<size_t>::max();

  struct RankState {
    /// The index of the member with a missing input, or of the next group.
    size_t at = 0;
    size_t groupBegin = 0;
    /// The number of the datum that the rank waits for.
    size_t waitsFor = nothing;
  };

  Table makeTable() const {
    if constexpr (unverified)
      return Table(schedule, dataFlow);
    else
      return Table(dataFlow.size());
  }
  const Datum &at(const DataFlow::Port &input, Step step) const {
    return table[dataFlow.datum(input, step.unit())];
  }

  // On its own, so that the data of its loop stay in registers.
  LLVM_ATTRIBUTE_NOINLINE void advance(unsigned rank) {
    const StepList &list = schedule.ranks[rank];
    const Step *const first = list.data(), *const end = first + list.size();
    // The members of a group are [begin, at), those before `begin` have run.
    const Step *at = first + ranks[rank].at;
    const Step *begin = first + ranks[rank].groupBegin;
    while (at != end) {
      const Step step = *at;
      // Most steps of a list with transfers have no inputs or outputs.
      if (!dataFlow.takesOrMakes(step.kind())) {
        if constexpr (holds)
          if (LLVM_UNLIKELY(step.kind() == StepKind::Update) &&
              !client.mayRun(rank, step)) {
            ranks[rank] = {size_t(at - first), size_t(begin - first), nothing};
            return;
          }
        if (begin == at && !step.joined()) {
          ++at;
          client.visit(rank, begin - first, at - first);
          begin = at;
          continue;
        }
      }
      const DataFlow::Row &row = dataFlow.row(step);
      const llvm::ArrayRef<DataFlow::Port> inputs = dataFlow.inputs(row);
      for (const DataFlow::Port &input : inputs)
        if (LLVM_UNLIKELY(!Client::isThere(this->at(input, step))) &&
            !isKeptFor(*at, input, begin)) {
          size_t number = dataFlow.datum(input, step.unit());
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

  /// True if a step in [group, step) produces `input`, which its stage keeps
  /// for `step`, a later member of the same group. The members of an overlap
  /// start together; even so, a forward may keep its activations for a later
  /// member.
  LLVM_ATTRIBUTE_NOINLINE static bool
  isKeptFor(const Step &step, const DataFlow::Port &input, const Step *group) {
    return input.isKept(step) && std::any_of(group, &step, [&](Step earlier) {
             return earlier.kind() == StepKind::F &&
                    input.kind == StepKind::F &&
                    earlier.stage() == input.stage &&
                    earlier.unit() == step.unit();
           });
  }

  /// Stores the results of a step in the table and makes the ranks that wait
  /// for them runnable.
  void give(unsigned rank, size_t index, Step step, const DataFlow::Row &row) {
    for (const DataFlow::Port &output : dataFlow.outputs(row)) {
      size_t number = dataFlow.datum(output, step.unit());
      table[number] = client.give(rank, index, output);
      // The data for the next micro-batches are adjacent.
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
  /// Indexed by number of datum.
  Table table;
  std::vector<RankState> ranks;
  /// Ranks that can advance.
  llvm::SmallVector<unsigned, 16> runnable;
  /// Ranks that wait for a datum at a step that belongs to another rank.
  llvm::DenseMap<size_t, llvm::SmallVector<unsigned, 1>> strays;
};

} // namespace pipec
