//===- TransferBound.cpp - Lower bounds for orders of transfers -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Search/TransferSearch.h"

#include "Search/Tuning.h"

#include "llvm/ADT/STLExtras.h"

#include <deque>
#include <queue>

using namespace llvm;

namespace pipec::search {

namespace {

/// A job of one queue: no earlier than its head, and followed by its tail.
struct Job {
  int64_t head;
  int64_t time;
  int64_t tail;
};

/// The makespan of Jackson's preemptive schedule: the job with the longest tail
/// runs whenever it is there. No schedule of one machine is shorter. The jobs
/// are sorted by their heads.
class Jackson {
public:
  int64_t operator()(SmallVectorImpl<Job> &jobs) {
    llvm::sort(jobs,
               [](const Job &a, const Job &b) { return a.head < b.head; });
    int64_t now = 0, longest = 0;
    auto shorterTail = [](const std::pair<int64_t, int64_t> &a,
                          const std::pair<int64_t, int64_t> &b) {
      return a.first < b.first;
    };
    // The tail and the remaining time of each job that is there.
    ready.clear();
    for (size_t next = 0; next != jobs.size() || !ready.empty();) {
      if (ready.empty())
        now = std::max(now, jobs[next].head);
      while (next != jobs.size() && jobs[next].head <= now) {
        ready.push_back({jobs[next].tail, jobs[next].time});
        std::push_heap(ready.begin(), ready.end(), shorterTail);
        ++next;
      }
      int64_t until = next != jobs.size() ? jobs[next].head
                                          : std::numeric_limits<int64_t>::max();
      auto &[tail, left] = ready.front();
      if (left > until - now) {
        left -= until - now;
        now = until;
        continue;
      }
      now += left;
      longest = std::max(longest, now + tail);
      std::pop_heap(ready.begin(), ready.end(), shorterTail);
      ready.pop_back();
    }
    return longest;
  }

private:
  std::vector<std::pair<int64_t, int64_t>> ready;
};

} // namespace

/// A lower bound of the start of every node. The transfers that a rank receives
/// in one queue up to a compute pass the queue one after the other.
static std::vector<int64_t> headsWithQueues(const TransferShop &shop) {
  constexpr uint32_t none = TransferShop::none;
  std::vector<int64_t> heads(shop.numNodes());
  // For each compute, the time of all before it on its rank.
  std::vector<int64_t> elapsed(shop.numComputes());
  std::vector<uint32_t> rankOf(shop.numComputes());
  for (unsigned rank = 0; rank != shop.numRanks(); ++rank)
    for (uint32_t node = shop.firstOf(rank); node != shop.endOf(rank); ++node) {
      rankOf[node] = rank;
      if (!shop.isFirst(node))
        elapsed[node] = elapsed[node - 1] + shop.time(node - 1);
    }

  // The last receives of each rank in each queue.
  DenseMap<std::pair<uint32_t, uint32_t>, std::deque<uint32_t>> recent;
  Jackson jackson;
  SmallVector<Job, 2 * tuning::boundReceives> jobs;
  for (uint32_t node : shop.freeSequence()) {
    if (shop.isTransfer(node)) {
      uint32_t producer = shop.transfer(node).producer;
      heads[node] = heads[producer] + shop.time(producer);
      continue;
    }
    int64_t head =
        shop.isFirst(node) ? 0 : heads[node - 1] + shop.time(node - 1);
    for (uint32_t receive : shop.receives(node)) {
      head = std::max(head, heads[receive] + shop.time(receive));
      for (uint32_t queue : shop.transfer(receive).queues) {
        if (queue == none)
          continue;
        std::deque<uint32_t> &last = recent[{rankOf[node], queue}];
        last.push_back(receive);
        if (last.size() > tuning::boundReceives)
          last.pop_front();
      }
    }
    for (uint32_t receive : shop.receives(node))
      for (uint32_t queue : shop.transfer(receive).queues) {
        if (queue == none)
          continue;
        jobs.clear();
        for (uint32_t other : recent[{rankOf[node], queue}])
          jobs.push_back(
              {heads[other], shop.time(other),
               elapsed[node] - elapsed[shop.transfer(other).consumer]});
        if (jobs.size() > 1)
          head = std::max(head, jackson(jobs));
      }
    heads[node] = head;
  }
  return heads;
}

int64_t boundTransfers(const TransferShop &shop) {
  TransferShop back = shop.mirrored();
  std::vector<int64_t> heads = headsWithQueues(shop),
                       tails = headsWithQueues(back);
  int64_t bound = 0;
  for (uint32_t node = 0; node != shop.numNodes(); ++node)
    bound = std::max(bound,
                     heads[node] + shop.time(node) + tails[shop.mirror(node)]);

  std::vector<SmallVector<Job, 0>> queues(shop.numQueues());
  for (uint32_t node = shop.numComputes(); node != shop.numNodes(); ++node)
    for (uint32_t queue : shop.transfer(node).queues)
      if (queue != TransferShop::none)
        queues[queue].push_back({heads[node], shop.time(node), tails[node]});
  Jackson jackson;
  for (SmallVector<Job, 0> &jobs : queues)
    bound = std::max(bound, jackson(jobs));
  return bound;
}

} // namespace pipec::search
