//===- P2PSearch.cpp - Transfers placed by search -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `insert-p2p{order=search}`. The search starts from the orders of the queues
// of all other ways to place transfers, and from dispatched ones
// (Search/TransferSearch.h). Each send of the result is directly after its
// producer or the P2P step before it in its queue, each receive directly after
// the P2P step before it in its queue. docs/Rationale/SearchedTransfers.md
// shows that no other places of these orders finish earlier.
//
// The result is simulated as any other list. The shop of the search leaves out
// streams of stages, ports and posted steps that take time; if because of these
// a start is faster than the result, the start is returned.
//
//===----------------------------------------------------------------------===//

#include "Search/TransferSearch.h"
#include "Simulation/Simulate.h"
#include "Support/Diagnostics/PassesDiags.h"
#include "Transforms/P2POrders.h"
#include "Transforms/Passes.h"
#include "Verify/Verifier.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace llvm;

namespace pipec {

namespace {

using search::ShopSequence;
using search::ShopTransfer;
using search::TransferOrder;
using search::TransferShop;

/// Writes the lists of an order of the queues.
class ShopLists {
public:
  ShopLists(const Schedule &schedule, const TransferShop &shop)
      : schedule(schedule), shop(shop) {}

  std::vector<StepList> lists(const TransferOrder &order, bool late) const {
    std::vector<std::vector<End>> ends(schedule.numRanks);
    // The first index at which the next P2P step of a queue may be.
    std::vector<uint32_t> next(shop.numQueues() * 2);
    for (uint32_t node : order.sequence()) {
      if (!shop.isTransfer(node))
        continue;
      const ShopTransfer &transfer = shop.transfer(node);
      for (bool receive : {false, true}) {
        uint32_t &place = next[queueOf(transfer, receive)];
        if (!receive)
          place = std::max(place, shop.stepsEnd(transfer.producer));
        ends[receive ? transfer.to : transfer.from].push_back(
            {place, node, receive});
      }
    }
    std::vector<StepList> lists;
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
      if (late)
        delayReceives(rank, ends[rank], order);
      // In a queue, ends are in the order of the sequence already.
      llvm::stable_sort(ends[rank], [](const End &a, const End &b) {
        return a.place < b.place;
      });
      lists.push_back(listOf(rank, ends[rank]));
    }
    return lists;
  }

private:
  /// A P2P step, before the step at `place` of the list of its rank.
  struct End {
    uint32_t place;
    uint32_t node;
    bool receive;
  };

  /// The queue of one end. Two ranks that share a queue have an own place in
  /// it.
  size_t queueOf(const ShopTransfer &transfer, bool receive) const {
    if (transfer.queues[1] != ShopTransfer::none)
      return transfer.queues[receive] * 2;
    unsigned rank = receive ? transfer.to : transfer.from;
    return transfer.queues[0] * 2 +
           (rank > (receive ? transfer.from : transfer.to));
  }

  /// Moves receives down while their transfers start no later. `ends` are in
  /// the order of the sequence.
  void delayReceives(unsigned rank, std::vector<End> &ends,
                     const TransferOrder &order) const {
    std::vector<uint32_t> last(shop.numQueues() * 2,
                               uint32_t(schedule.ranks[rank].size()));
    for (End &end : reverse(ends)) {
      const ShopTransfer &transfer = shop.transfer(end.node);
      uint32_t &limit = last[queueOf(transfer, end.receive)];
      if (end.receive) {
        limit = std::min(limit, shop.stepsBegin(transfer.consumer));
        // The first compute that ends after the transfer has started. One
        // that ends at the same time may wait for it, but then it is after it
        // in the sequence.
        auto computes = seq(shop.firstOf(rank), shop.endOf(rank));
        auto after = partition_point(computes, [&](uint32_t compute) {
          return order.end(compute) <= order.start(end.node) &&
                 order.position(compute) < order.position(end.node);
        });
        if (after != computes.end())
          limit = std::min(limit, shop.stepsBegin(*after));
        end.place = std::max(end.place, limit);
      }
      limit = std::min(limit, end.place);
    }
  }

  StepList listOf(unsigned rank, ArrayRef<End> ends) const {
    const StepList &own = schedule.ranks[rank];
    StepList list;
    list.reserve(own.size() + ends.size());
    uint32_t at = 0;
    for (const End &end : ends) {
      for (; at < end.place; ++at)
        list.push_back(own[at]);
      const ShopTransfer &transfer = shop.transfer(end.node);
      const Step &producer = schedule.ranks[transfer.from][transfer.made];
      list.push_back(end.receive ? recvFor(own[transfer.used], transfer.input,
                                           producer.source())
                                 : sendOf(producer, transfer.output));
    }
    list.insert(list.end(), own.begin() + at, own.end());
    return list;
  }

  const Schedule &schedule;
  const TransferShop &shop;
};

/// Collects the orders of the queues of lists with transfers.
class Starts {
public:
  Starts(const Schedule &schedule, const TransferShop &shop,
         const CommModel &model, DiagEngine &diags)
      : schedule(schedule), flow(schedule), shop(shop), model(model),
        diags(diags) {}

  /// Adds lists, unless they do not finish under the model.
  void add(StringRef name, FailureOr<std::vector<StepList>> lists) {
    if (failed(lists))
      return;
    Schedule placed{static_cast<const ScheduleHeader &>(schedule)};
    placed.ranks = std::move(*lists);
    FailureOr<Simulation> run = simulate(placed, model, diags);
    if (failed(run))
      return;
    std::vector<std::vector<uint32_t>> queues(shop.numQueues());
    for (const StepList &list : placed.ranks)
      for (Step step : list)
        if (isP2P(step.kind()))
          push(queues, step);
    if (auto sequence = search::sequenceOf(shop, queues))
      sequences.push_back(std::move(*sequence));
    if (names.empty() || run->makespan() < best) {
      best = run->makespan();
      bestLists = std::move(placed.ranks);
    }
    names.emplace_back(name, run->time(run->makespan()));
  }

  std::vector<ShopSequence> sequences;
  std::vector<std::pair<std::string, Rational>> names;
  int64_t best = 0;
  std::vector<StepList> bestLists;

private:
  void push(std::vector<std::vector<uint32_t>> &queues, Step step) const {
    uint32_t node = shop.nodeOf(flow.datum(*flow.transfer(step), step.unit()));
    const ShopTransfer &transfer = shop.transfer(node);
    bool receive = isRecv(step.kind());
    // Both ranks of a common queue have the same order.
    if (transfer.queues[1] != ShopTransfer::none)
      queues[transfer.queues[receive]].push_back(node);
    else if ((receive ? transfer.to : transfer.from) <
             (receive ? transfer.from : transfer.to))
      queues[transfer.queues[0]].push_back(node);
  }

  const Schedule &schedule;
  DataFlow flow;
  const TransferShop &shop;
  const CommModel &model;
  DiagEngine &diags;
};

} // namespace

static LogicalResult checkModel(const CommModel &model, DiagEngine &diags) {
  if (model == WaitModel::Buffered)
    return diags.report(SourceLoc(), diag::P2PSearchModel, model.name())
        .note(SourceLoc(), diag::NoteP2PSearchModel, "model=edge",
              "places them for `edge`, which is valid there");
  if (waitModelInfo(model.kind()).holds != WaitHolds::None)
    return diags.report(SourceLoc(), diag::P2PSearchModel, model.name())
        .note(SourceLoc(), diag::NoteP2PSearchModel,
              "order=timed,model=blocking",
              "places them for ranks that wait at receives");
  return success();
}

/// The communicator of an edge under a model, as the shop numbers them.
static uint64_t communicatorOf(const CommModel &model, unsigned from,
                               unsigned to) {
  if (const Communicators *groups = model.communicators())
    return groups->find(from, to);
  switch (waitModelInfo(model.kind()).queues) {
  case WaitQueues::Rank:
    return 0;
  case WaitQueues::Peer:
    return uint64_t(std::min(from, to)) << 32 | std::max(from, to);
  case WaitQueues::Edge:
    return uint64_t(from) << 32 | to;
  }
  llvm_unreachable("every kind of queue is listed");
}

/// Adds the lists of `order=timed`, named like the options that give them. For
/// one round the models in which ranks do not wait give the same list.
static void addTimedStarts(const Schedule &schedule, Starts &starts,
                           const CommModel &model, DiagEngine &diags) {
  InsertP2POptions options;
  options.order = P2POrder::Timed;
  auto addTimed = [&](const CommModel &placedFor) {
    std::string name = "timed";
    if (options.at != P2PAt::Need)
      name += ",at=" + PassOptionType<P2PAt>::print(*options.at);
    if (options.favor != P2PFavor::Sends)
      name += ",favor=" + PassOptionType<P2PFavor>::print(*options.favor);
    if (options.rounds != 0)
      name += ",rounds=" + PassOptionType<unsigned>::print(*options.rounds);
    if (!(placedFor == WaitModel::Stream))
      name += (",model=" + placedFor.name()).str();
    starts.add(name, placeP2PInTime(schedule, options, placedFor, diags));
  };
  for (P2PAt at : {P2PAt::Need, P2PAt::Ready, P2PAt::Mid}) {
    options.at = at;
    for (P2PFavor favor : {P2PFavor::Sends, P2PFavor::Receives}) {
      options.favor = favor;
      for (unsigned rounds : {0, 6}) {
        options.rounds = rounds;
        addTimed(WaitModel::Stream);
        if (rounds != 0 && !(model == WaitModel::Stream))
          addTimed(model);
      }
    }
    options.favor = P2PFavor::Sends;
    options.rounds = 0;
    addTimed(WaitModel::Blocking);
  }
}

FailureOr<std::vector<StepList>>
placeP2PBySearch(const Schedule &schedule, const InsertP2POptions &options,
                 const CommModel &model, std::optional<PlacedTransfers> &placed,
                 DiagEngine &diags) {
  // The shop needs one producer and one consumer of each transfer.
  if (failed(checkModel(model, diags)) ||
      failed(verify(schedule, VerifyLevel::Compute, diags)))
    return failure();
  FailureOr<Simulation> free = simulate(schedule, diags);
  if (failed(free))
    return failure();
  FailureOr<std::vector<StepList>> inRounds = placeP2PInRounds(schedule, diags);
  if (failed(inRounds))
    return failure();
  Schedule tried{static_cast<const ScheduleHeader &>(schedule)};
  tried.ranks = *inRounds;
  if (failed(checkEdges(tried, model, diags)))
    return failure();
  const TickCosts &costs = free->costs();
  TransferShop shop(schedule, costs, [&](unsigned from, unsigned to) {
    return communicatorOf(model, from, to);
  });
  Starts starts(schedule, shop, model, diags);
  {
    // Some of them do not finish under the model.
    DiagEngine::ScopedFilter quiet(diags, [](Diagnostic &) { return false; });
    starts.add("simulate", std::move(inRounds));
    addTimedStarts(schedule, starts, model, diags);
  }

  // Ports can make a transfer wait for another one of other ranks, and streams
  // let the computes of a rank run side by side.
  bool isBounded = schedule.streams.empty() && !costs.hasPorts();
  search::TransferSearchOptions how;
  how.effort = options.effort.value_or(1);
  how.seed = options.seed.value_or(1);
  how.bound = isBounded ? search::boundTransfers(shop) : 0;
  TransferOrder order(
      shop, search::searchTransfers(shop, std::move(starts.sequences), how));

  Schedule result{static_cast<const ScheduleHeader &>(schedule)};
  result.ranks =
      ShopLists(schedule, shop).lists(order, options.post == P2PPost::Late);
  FailureOr<Simulation> run = simulate(result, model, diags);
  if (failed(run))
    return failure();
  assert((!isBounded || costs.hasPosted() ||
          schedule.has(step_facts::kindsOn(Stream::Tied)) ||
          run->makespan() == order.makespan()) &&
         "the search replays the model");
  int64_t makespan = run->makespan();
  if (!starts.names.empty() && starts.best < makespan) {
    makespan = starts.best;
    result.ranks = std::move(starts.bestLists);
  }

  placed.emplace();
  placed->model = model.name().str();
  placed->makespan = free->time(makespan);
  placed->free = free->time(free->makespan());
  if (isBounded)
    placed->bound = free->time(std::min(how.bound, makespan));
  placed->starts = std::move(starts.names);
  return std::move(result.ranks);
}

} // namespace pipec
