//===- TransferSearch.cpp - The best order of transfers -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Search/TransferSearch.h"

#include "Search/Random.h"
#include "Search/Tuning.h"

#include "llvm/ADT/STLExtras.h"

#include <queue>

using namespace llvm;

namespace pipec::search {

namespace {

/// Runs the computes of a shop and starts transfers as soon as their data exist
/// and their queues are idle, the one with the largest key first.
class Dispatcher {
public:
  explicit Dispatcher(const TransferShop &shop) : shop(shop) {}

  /// `keys` are indexed by transfer.
  ShopSequence run(ArrayRef<int64_t> urgency) {
    keys = urgency;
    started.clear();
    started.reserve(shop.numNodes());
    open.resize(shop.numComputes());
    busy.assign(shop.numQueues(), false);
    waiting.assign(shop.numQueues(), {});
    for (uint32_t node = 0; node != shop.numComputes(); ++node)
      open[node] = uint32_t(shop.receives(node).size()) + !shop.isFirst(node);
    for (uint32_t node = 0; node != shop.numComputes(); ++node)
      if (open[node] == 0)
        start(node, 0);
    while (!events.empty()) {
      int64_t now = events.top().first;
      while (!events.empty() && events.top().first == now) {
        uint32_t node = events.top().second;
        events.pop();
        finish(node, now);
      }
      startTransfers(now);
    }
    return std::move(started);
  }

private:
  void start(uint32_t node, int64_t now) {
    started.push_back(node);
    events.push({now + shop.time(node), node});
  }
  void close(uint32_t compute, int64_t now) {
    if (--open[compute] == 0)
      start(compute, now);
  }
  void finish(uint32_t node, int64_t now) {
    if (shop.isTransfer(node)) {
      for (uint32_t queue : shop.transfer(node).queues)
        if (queue != TransferShop::none) {
          busy[queue] = false;
          touched.push_back(queue);
        }
      close(shop.transfer(node).consumer, now);
      return;
    }
    if (!shop.isLast(node))
      close(node + 1, now);
    for (uint32_t send : shop.sends(node))
      for (uint32_t queue : shop.transfer(send).queues)
        if (queue != TransferShop::none) {
          insert(waiting[queue], send);
          touched.push_back(queue);
        }
  }
  bool isMoreUrgent(uint32_t a, uint32_t b) const {
    int64_t first = keyOf(a), second = keyOf(b);
    return first != second ? first > second : a < b;
  }
  int64_t keyOf(uint32_t node) const { return keys[node - shop.numComputes()]; }
  void insert(std::vector<uint32_t> &queue, uint32_t node) {
    queue.insert(
        partition_point(
            queue, [&](uint32_t other) { return isMoreUrgent(other, node); }),
        node);
  }
  bool canStart(uint32_t node) const {
    return none_of(shop.transfer(node).queues, [&](uint32_t queue) {
      return queue != TransferShop::none && busy[queue];
    });
  }
  void startTransfers(int64_t now) {
    while (true) {
      uint32_t best = TransferShop::none;
      erase_if(touched, [&](uint32_t queue) {
        if (busy[queue])
          return true;
        auto it = find_if(waiting[queue],
                          [&](uint32_t node) { return canStart(node); });
        if (it == waiting[queue].end())
          return true;
        if (best == TransferShop::none || isMoreUrgent(*it, best))
          best = *it;
        return false;
      });
      if (best == TransferShop::none)
        return;
      for (uint32_t queue : shop.transfer(best).queues)
        if (queue != TransferShop::none) {
          busy[queue] = true;
          waiting[queue].erase(find(waiting[queue], best));
        }
      start(best, now);
    }
  }

  using Event = std::pair<int64_t, uint32_t>;

  const TransferShop &shop;
  ArrayRef<int64_t> keys;
  ShopSequence started;
  std::vector<uint32_t> open;
  std::vector<bool> busy;
  /// By queue, the transfers whose data exist, the most urgent first.
  std::vector<std::vector<uint32_t>> waiting;
  /// The queues in which a transfer may have become able to start.
  std::vector<uint32_t> touched;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
};

/// The best order so far, and others to start from.
class Finalists {
public:
  explicit Finalists(const TransferShop &shop) : shop(shop) {}

  /// True if it is better than all before it.
  bool add(ShopSequence sequence) {
    int64_t makespan = TransferOrder(shop, sequence).makespan();
    return add(std::move(sequence), makespan);
  }
  bool add(ShopSequence sequence, int64_t makespan) {
    auto place = partition_point(
        all, [&](const Entry &other) { return other.makespan <= makespan; });
    // One order for each makespan.
    if (place != all.begin() && std::prev(place)->makespan == makespan)
      return false;
    bool first = place == all.begin();
    all.insert(place, {makespan, std::move(sequence)});
    if (all.size() > tuning::transferFinalists)
      all.pop_back();
    return first;
  }
  size_t size() const { return all.size(); }
  int64_t makespan() const { return all.front().makespan; }
  const ShopSequence &operator[](size_t number) const {
    return all[number].sequence;
  }

private:
  struct Entry {
    int64_t makespan;
    ShopSequence sequence;
  };

  const TransferShop &shop;
  std::vector<Entry> all;
};

class Search {
public:
  Search(const TransferShop &shop, const TransferSearchOptions &options)
      : shop(shop), back(shop.mirrored()), options(options), best(shop),
        random(options.seed) {
    for (const ShopTransfer &transfer : shop.allTransfers())
      totalHop += shop.time(nodeOf(transfer));
  }

  ShopSequence run(std::vector<ShopSequence> starts) {
    for (ShopSequence &start : starts)
      best.add(std::move(start));
    dispatch();
    if (!isOver())
      toAndFro();
    if (!isOver() && options.effort != 0)
      anneal();
    return best[0];
  }

private:
  uint32_t nodeOf(const ShopTransfer &transfer) const {
    return shop.numComputes() +
           uint32_t(&transfer - shop.allTransfers().data());
  }
  bool isOver() const {
    return best.makespan() <= options.bound || shop.numTransfers() < 2;
  }
  int64_t meanHop() const {
    return totalHop / std::max<int64_t>(shop.numTransfers(), 1);
  }
  ShopSequence mirrored(ShopSequence sequence) const {
    std::reverse(sequence.begin(), sequence.end());
    for (uint32_t &node : sequence)
      node = shop.mirror(node);
    return sequence;
  }

  void dispatch() {
    std::vector<int64_t> heads = shop.freeStarts(), tails = back.freeStarts();
    std::vector<int64_t> tail, need, slack;
    for (const ShopTransfer &transfer : shop.allTransfers()) {
      uint32_t node = nodeOf(transfer);
      tail.push_back(tails[node]);
      need.push_back(-heads[transfer.consumer]);
      slack.push_back(heads[node] + shop.time(node) - heads[transfer.consumer]);
    }
    Dispatcher dispatcher(shop);
    for (ArrayRef<int64_t> keys :
         {ArrayRef(tail), ArrayRef(need), ArrayRef(slack)})
      best.add(dispatcher.run(keys));
  }

  void toAndFro() {
    Dispatcher forwards(shop), backwards(back);
    uint64_t rounds = std::clamp<uint64_t>(
        tuning::transferNodes / std::max<uint64_t>(shop.numNodes(), 1), 2,
        tuning::transferRounds);
    unsigned stale = 0;
    std::vector<int64_t> keys(shop.numTransfers());
    ShopSequence current = best[0];
    for (uint64_t round = 0; round != rounds && !isOver(); ++round) {
      TransferOrder order(shop, std::move(current));
      setKeys(keys, order, stale);
      ShopSequence fro = backwards.run(keys);
      bool better = best.add(mirrored(fro));
      setKeys(keys, TransferOrder(back, std::move(fro)), stale);
      current = forwards.run(keys);
      better |= best.add(current);
      stale = better ? 0 : stale + 1;
    }
  }
  /// The ends of a run as keys, with noise after rounds that brought nothing.
  void setKeys(std::vector<int64_t> &keys, const TransferOrder &order,
               unsigned stale) {
    uint64_t noise =
        stale == 0 ? 0 : uint64_t(meanHop()) + uint64_t(meanHop()) * stale / 4;
    // `below` is for 32 bits.
    uint64_t unit = noise / std::numeric_limits<uint32_t>::max() + 1;
    for (const auto &[number, key] : enumerate(keys)) {
      key = order.end(shop.numComputes() + uint32_t(number));
      if (noise)
        key += int64_t(random.below(noise / unit + 1) * unit);
    }
  }

  void anneal();
  int64_t allowance(int64_t hop, uint64_t heat);
  /// Two transfers that follow each other in a queue on a random critical path,
  /// chosen at random; empty if its path has no such pair.
  std::optional<std::pair<uint32_t, uint32_t>>
  criticalPair(const TransferOrder &order);

  const TransferShop &shop;
  TransferShop back;
  TransferSearchOptions options;
  Finalists best;
  Random random;
  int64_t totalHop = 0;
};

} // namespace

std::optional<std::pair<uint32_t, uint32_t>>
Search::criticalPair(const TransferOrder &order) {
  uint32_t node = TransferShop::none;
  unsigned equal = 0;
  auto choose = [&](uint32_t other) {
    if (random.below(++equal) == 0)
      node = other;
  };
  for (unsigned rank = 0; rank != shop.numRanks(); ++rank)
    if (shop.firstOf(rank) != shop.endOf(rank) &&
        order.end(shop.endOf(rank) - 1) == order.makespan())
      choose(shop.endOf(rank) - 1);

  std::optional<std::pair<uint32_t, uint32_t>> pair;
  unsigned pairs = 0;
  while (order.start(node) != 0) {
    uint32_t at = node;
    equal = 0;
    auto consider = [&](uint32_t other) {
      if (other != TransferShop::none && order.end(other) == order.start(at))
        choose(other);
    };
    if (shop.isTransfer(at)) {
      consider(shop.transfer(at).producer);
      consider(order.before(at, 0));
      consider(order.before(at, 1));
      if (shop.isTransfer(node) && random.below(++pairs) == 0)
        pair = {node, at};
    } else {
      if (!shop.isFirst(at))
        consider(at - 1);
      for (uint32_t receive : shop.receives(at))
        consider(receive);
    }
    assert(equal != 0 && "a start is the end of another node");
  }
  return pair;
}

/// How much longer than the current order the next one may be: exponentially
/// distributed, with a mean of `heat` thousandths of `hop`.
int64_t Search::allowance(int64_t hop, uint64_t heat) {
  __int128 worse = __int128(hop) * heat * random.exponential() / 65'536'000;
  // Times are at most a quarter of the range (TickCosts.h).
  return int64_t(
      std::min<__int128>(worse, std::numeric_limits<int64_t>::max() / 2));
}

void Search::anneal() {
  uint64_t left = uint64_t(options.effort) * tuning::transferExchanges;
  uint64_t maxWork = uint64_t(options.effort) * tuning::transferWork;
  uint64_t work = 0;
  int64_t hop = std::max<int64_t>(meanHop(), 1);
  for (uint64_t round = 0; left != 0 && work < maxWork && !isOver(); ++round) {
    uint64_t length =
        std::min(left, tuning::exchangesPerTransfer * shop.numTransfers());
    // From the best order in turns with others.
    size_t from = round % 2 == 0 ? 0 : (round / 2 + 1) % best.size();
    TransferOrder order(shop, best[from]);
    ShopSequence top;
    int64_t topMakespan = order.makespan();
    for (uint64_t step = 0; step != length && work + order.work() < maxWork;
         ++step) {
      --left;
      std::optional<std::pair<uint32_t, uint32_t>> pair = criticalPair(order);
      // Without one, the path is that of a run without queues.
      if (!pair) {
        best.add(order.sequence(), order.makespan());
        return;
      }
      uint64_t heat =
          tuning::transferHot -
          (tuning::transferHot - tuning::transferCold) * step / length;
      if (order.exchange(pair->first, pair->second,
                         order.makespan() + allowance(hop, heat)) &&
          order.makespan() < topMakespan) {
        topMakespan = order.makespan();
        top = order.sequence();
        if (topMakespan <= options.bound)
          break;
      }
    }
    work += order.work();
    if (!top.empty())
      best.add(std::move(top), topMakespan);
  }
}

ShopSequence searchTransfers(const TransferShop &shop,
                             std::vector<ShopSequence> starts,
                             const TransferSearchOptions &options) {
  return Search(shop, options).run(std::move(starts));
}

std::optional<ShopSequence> sequenceOf(const TransferShop &shop,
                                       ArrayRef<std::vector<uint32_t>> queues) {
  constexpr uint32_t none = TransferShop::none;
  std::vector<uint32_t> open(shop.numNodes());
  std::vector<uint32_t> nexts[2];
  for (std::vector<uint32_t> &next : nexts)
    next.assign(shop.numNodes(), none);
  for (uint32_t node = 0; node != shop.numNodes(); ++node)
    open[node] = shop.isTransfer(node) ? 1
                                       : uint32_t(shop.receives(node).size()) +
                                             !shop.isFirst(node);
  for (const auto &[number, queue] : enumerate(queues))
    for (size_t i = 1; i < queue.size(); ++i) {
      nexts[shop.transfer(queue[i - 1]).queues[0] != number][queue[i - 1]] =
          queue[i];
      ++open[queue[i]];
    }
  ShopSequence sequence;
  sequence.reserve(shop.numNodes());
  for (uint32_t node = 0; node != shop.numNodes(); ++node)
    if (open[node] == 0)
      sequence.push_back(node);
  for (size_t at = 0; at != sequence.size(); ++at) {
    auto close = [&](uint32_t node) {
      if (node != none && --open[node] == 0)
        sequence.push_back(node);
    };
    uint32_t node = sequence[at];
    if (shop.isTransfer(node)) {
      close(shop.transfer(node).consumer);
      close(nexts[0][node]);
      close(nexts[1][node]);
      continue;
    }
    if (!shop.isLast(node))
      close(node + 1);
    for (uint32_t send : shop.sends(node))
      close(send);
  }
  if (sequence.size() != shop.numNodes())
    return std::nullopt;
  return sequence;
}

} // namespace pipec::search
