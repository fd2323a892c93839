//===- SharedRun.h - Runs with shared streams and ports ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A run under free arrival of a schedule whose costs have `share` or `port`.
// Steps of several ranks then wait for the same resource, which runs them in
// the order in which they are ready (docs/Simulation.md); so do results of
// several streams of a rank for an occupied edge. The run visits steps in the
// order of time.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "IR/DataFlow.h"
#include "IR/TiedSums.h"
#include "Simulation/SideStreams.h"
#include "Simulation/TickCosts.h"
#include "Waiting/StepNumbers.h"

#include "llvm/ADT/DenseMap.h"

#include <deque>
#include <queue>

namespace pipec {

/// True if a run of `schedule` has resources that several ranks share.
inline bool sharesResources(const Schedule &schedule, const TickCosts &costs) {
  return costs.hasPorts() || !schedule.costs.shares.empty();
}
/// True if a run must visit steps in the order of time: also where results of
/// several streams of a rank wait for the same edge.
inline bool needsSharedRun(const Schedule &schedule, const TickCosts &costs) {
  return sharesResources(schedule, costs) ||
         (costs.hasOccupancy() && !schedule.streams.empty());
}

/// A run with shared resources, in O(n log r) for n steps on r ranks.
class SharedRun {
public:
  /// The starts of all steps are stored in `starts`, by number.
  SharedRun(const Schedule &schedule, const TickCosts &costs,
            const StepNumbers &numbers, std::vector<int64_t> &starts);

  /// True if every rank has finished.
  bool run();
  /// By datum, when it arrives.
  std::vector<int64_t> takeArrivals() { return std::move(arrivals); }

private:
  /// What ranks may share: first the queues of `queueOf`, then the two ports of
  /// a rank.
  static constexpr unsigned outgoing = numQueues, incoming = numQueues + 1,
                            numKinds = numQueues + 2;
  static constexpr int64_t pending = -1;

  /// The step at the head of a stream, or a transfer, is ready.
  struct Request {
    int64_t time;
    uint32_t rank;
    /// The place of its stream in the share, and the number of the request, for
    /// ties.
    uint8_t order;
    uint8_t kind;
    uint32_t number;
    /// Of a transfer: its destination, its datum and the step that makes it.
    uint32_t to = 0;
    size_t datum = 0;
    Step maker = {};
    bool operator>(const Request &other) const {
      return std::tie(time, rank, order, number) >
             std::tie(other.time, other.rank, other.order, other.number);
    }
  };
  struct Posted {
    uint32_t index;
    int64_t time;
  };
  struct Queue {
    std::deque<Posted> steps;
    int64_t end = 0;
  };
  struct Rank {
    size_t at = 0;
    int64_t now = 0;
    std::array<Queue, numQueues> queues;
  };

  void advance(unsigned rank);
  bool passCompute(unsigned rank, size_t begin, size_t end);
  void post(unsigned rank, size_t index);
  void pushHead(unsigned rank, unsigned queue);
  void request(int64_t time, unsigned rank, unsigned kind, unsigned to = 0,
               size_t datum = 0, Step maker = {});
  void serveStep(const Request &request);
  void serveTransfer(const Request &request);
  /// The key in `ends` of what `step`, posted or not, changes or needs.
  static std::pair<uint64_t, unsigned> keyOf(unsigned rank, Step step);
  int64_t &resource(unsigned kind, unsigned rank) {
    return resources[firstResource[kind] + rank / ranksPerResource[kind]];
  }

  const Schedule &schedule;
  const TickCosts &costs;
  const StepNumbers &numbers;
  std::vector<int64_t> &starts;
  DataFlow flow;
  std::optional<SideStreams> sides;
  /// What an UPDATE waits for.
  std::optional<TiedSums> sums;
  /// By datum, when it arrives; `pending` before its transfer has started.
  std::vector<int64_t> arrivals;
  std::vector<Rank> ranks;
  /// When each resource is free again, and by kind the first one and how many
  /// ranks have it together.
  std::vector<int64_t> resources;
  std::array<size_t, numKinds> firstResource;
  std::array<unsigned, numKinds> ranksPerResource;
  std::array<uint8_t, numKinds> orders;
  llvm::DenseMap<std::pair<unsigned, unsigned>, int64_t> edges;
  /// When the posted steps end that others need: the copies of a unit, the
  /// last UNSHARD of a stage on a rank, and its REDUCE_GRAD.
  llvm::DenseMap<std::pair<uint64_t, unsigned>, int64_t> ends;
  std::priority_queue<Request, std::vector<Request>, std::greater<Request>>
      requests;
  uint32_t numRequests = 0;
};

} // namespace pipec
