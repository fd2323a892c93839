//===- VerifierPlacedScan.cpp - The quick look at transfers ---------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One scan over the lists, rank by rank. A byte for each (stage, micro-batch)
// says what was seen of it, so that a send finds its producer before it, a
// receive its consumer behind it, and no end comes twice. Each edge has a table
// of names: the rank that is scanned first writes the names of its ends there,
// in order, the other one compares. A table has room for what its edge must
// carry, so all is there when all tables are full.
//
//===----------------------------------------------------------------------===//

#include "Verify/VerifierPlaced.h"

using namespace llvm;

namespace pipec {

namespace {

class PlacedScan {
public:
  PlacedScan(const Schedule &schedule, const Cells &cells, const Edges &edges)
      : schedule(schedule), directions(schedule.placement.numDirections()),
        turn(directions == 2 ? schedule.numMicrobatches / 2 : maxMicrobatches) {
    // Few steps for many pairs, or more pairs than names: the report is as
    // quick, or nobody has the memory.
    if (!cells.isDense() || cells.size() > maxName / 2)
      return;
    makeSides(edges);
    makeRules(edges);
    seen.resize(cells.size());
    usable = true;
  }

  bool isGood() {
    if (!usable)
      return false;
    for (uint32_t rank = 0; rank != schedule.ranks.size(); ++rank)
      if (!isGood(schedule.ranks[rank], rank))
        return false;
    return all_of(sides, [](const Side &side) { return side.at == side.end; });
  }

private:
  /// What was seen of a (stage, micro-batch): its computes and its ends.
  static constexpr uint8_t forward = 1, gradient = 2;
  static constexpr uint8_t sendF = 4, recvF = 8, sendB = 16, recvB = 32;
  static constexpr uint32_t maxName = 0xfffffffe;
  static constexpr unsigned numKinds = unsigned(StepKind::RecvB) + 1;
  /// The side of no edge: it has no room.
  static constexpr uint32_t noSide = 0;

  /// What a step of one kind, on one stage and in one direction, asks for.
  struct Rule {
    /// What must have been seen of its pair, and what must not.
    uint8_t needed = 0;
    uint8_t excluded = 0;
    /// What is seen of the pair from here on.
    uint8_t adds = 0;
    /// A P2P step's side of its edge.
    uint32_t side = noSide;
  };
  /// One side of an edge: where the name of its next transfer goes.
  struct Side {
    uint32_t at = 0;
    uint32_t end = 0;
    /// All ones on the rank that is scanned second, which compares.
    uint32_t compares = 0;
  };

  void makeSides(const Edges &edges) {
    std::vector<uint32_t> rooms(edges.size());
    forEachTransfer(edges, [&](uint32_t edge, unsigned microbatches) {
      rooms[edge] += microbatches;
    });
    sides.resize(2 * edges.size() + 1);
    uint32_t at = 0;
    for (size_t edge = 0; edge != edges.size(); ++edge) {
      auto [from, to] = edges.ranks(edge);
      uint32_t end = at + rooms[edge];
      sides[2 * edge + 1] = {at, end, from > to ? ~0u : 0};
      sides[2 * edge + 2] = {at, end, from > to ? 0 : ~0u};
      at = end;
    }
    names.resize(at);
  }

  /// Calls `fn(edge, microbatches)` for all that goes from one stage to
  /// another rank.
  template <typename Fn> void forEachTransfer(const Edges &edges, Fn fn) const {
    for (unsigned d = 0; d != directions; ++d) {
      unsigned first = d ? turn : 0;
      unsigned last =
          std::min(d ? maxMicrobatches : turn, schedule.numMicrobatches);
      for (unsigned stage = 0; stage != schedule.numStages; ++stage)
        for (bool isGradient : {false, true})
          if (uint32_t edge = edges.find(isGradient, stage, first);
              edge != Edges::local && !(isGradient && schedule.forwardOnly))
            fn(edge, last - first);
    }
  }

  void makeRules(const Edges &edges) {
    rules.resize(size_t(directions) * schedule.numStages * numKinds);
    for (unsigned d = 0; d != directions; ++d)
      for (unsigned stage = 0; stage != schedule.numStages; ++stage)
        makeRules(edges, d ? turn : 0, stage,
                  &rules[(size_t(d) * schedule.numStages + stage) * numKinds]);
  }

  void makeRules(const Edges &edges, unsigned microbatch, unsigned stage,
                 Rule *rule) {
    // What leaves and what comes, by edge; on no edge there is nothing.
    auto sideOf = [&](bool isGradient, unsigned from, bool receives) {
      uint32_t edge = from < schedule.numStages
                          ? edges.find(isGradient, from, microbatch)
                          : Edges::local;
      return edge == Edges::local ? noSide : 2 * edge + 1 + receives;
    };
    uint32_t inF = sideOf(false, stage - 1, true);
    uint32_t inB = sideOf(true, stage + 1, true);
    auto set = [&](StepKind kind, Rule value) { rule[unsigned(kind)] = value; };
    set(StepKind::F, {inF ? recvF : uint8_t(0), 0, forward});
    for (StepKind kind : {StepKind::B, StepKind::I})
      set(kind, {inB ? recvB : uint8_t(0), 0, gradient});
    // A send stands behind its producer, and a forward's before the backward
    // that frees the output; a receive before its consumer.
    set(StepKind::SendF,
        {forward, gradient | sendF, sendF, sideOf(false, stage, false)});
    set(StepKind::RecvF, {0, forward | recvF, recvF, inF});
    set(StepKind::SendB, {gradient, sendB, sendB, sideOf(true, stage, false)});
    set(StepKind::RecvB, {0, gradient | recvB, recvB, inB});
  }

  // All kinds of ends take one path, since which comes next is not to be
  // foreseen and a wrong guess costs more than what is done in vain.
  bool isGood(const StepList &list, uint32_t rank) {
    HomeRanks home(schedule);
    const size_t microbatches = schedule.numMicrobatches;
    uint32_t wrong = 0;
    for (const Step &step : list) {
      if (unsigned(step.kind()) >= numKinds)
        continue;
      unsigned row = step.stage();
      if (step.microbatch() >= turn)
        row += schedule.numStages;
      const Rule &rule = rules[size_t(row) * numKinds + unsigned(step.kind())];
      size_t cell = step.stage() * microbatches + step.microbatch();
      uint8_t &pair = seen[cell];
      wrong |= (~pair & rule.needed) | (pair & rule.excluded);
      pair |= rule.adds;
      if (isCompute(step.kind()))
        continue;
      wrong |= home.of(step) != rank;
      Side &side = sides[rule.side];
      if (side.at == side.end)
        return false;
      // The transfer's name is the pair that makes its data.
      if (step.kind() == StepKind::RecvF)
        cell -= microbatches;
      else if (step.kind() == StepKind::RecvB)
        cell += microbatches;
      uint32_t name = 2 * cell + (step.kind() >= StepKind::SendB) + 1;
      uint32_t &entry = names[side.at++];
      wrong |= (entry ^ name) & side.compares;
      entry = name;
    }
    return !wrong;
  }

  const Schedule &schedule;
  unsigned directions;
  /// The first micro-batch of direction 1.
  unsigned turn;
  bool usable = false;
  /// By direction, stage and kind.
  std::vector<Rule> rules;
  /// By edge: of its sends, of its receives; the side of no edge first.
  std::vector<Side> sides;
  /// The names of each edge's transfers in order, 0 before one is known.
  std::vector<uint32_t> names;
  std::vector<uint8_t> seen;
};

} // namespace

bool areTransfersPlaced(const Schedule &schedule, const Cells &cells,
                        const Edges &edges) {
  return PlacedScan(schedule, cells, edges).isGood();
}

} // namespace pipec
