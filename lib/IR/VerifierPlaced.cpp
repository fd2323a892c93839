//===- VerifierPlaced.cpp - One send and one receive a transfer ----===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A transfer is named by the step that makes its data: the forward of (s, m)
// makes one for stage s + 1, its backward one for stage s - 1, if that stage
// lives on another rank. Each needs one send behind its producer and one
// receive before its consumer, and on every directed edge, a pair of ranks, the
// k-th send must be the k-th receive, since transfers carry no name.
//
// One scan over the lists, rank by rank. A byte for each (stage, micro-batch)
// says what was seen of it, so that a send finds its producer before it, a
// receive its consumer behind it, and no end comes twice. Each edge has a table
// of names: the rank that is scanned first writes the names of its ends there,
// in order, the other one compares. A table has room for what its edge must
// carry, so all is there when all tables are full. If anything is not as it
// should be, `PlacedReport` looks again and says what.
//
//===----------------------------------------------------------------------===//

#include "IR/VerifierDetail.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

namespace {

/// The directed rank pairs that neighbouring stages span, numbered.
class Edges {
public:
  static constexpr uint32_t local = ~0u;

  explicit Edges(const Schedule &schedule) : schedule(schedule) {
    unsigned directions = schedule.placement.numDirections();
    turn = directions == 2 ? schedule.numMicrobatches / 2 : maxMicrobatches;
    auto forEachBoundary = [&](auto fn) {
      for (unsigned d = 0; d != directions; ++d)
        for (unsigned s = 0; s + 1 < schedule.numStages; ++s)
          fn(d, s, schedule.placement.rankOf(s, d),
             schedule.placement.rankOf(s + 1, d));
    };
    forEachBoundary([&](unsigned, unsigned, uint32_t a, uint32_t b) {
      if (a != b) {
        pairs.push_back({a, b});
        pairs.push_back({b, a});
      }
    });
    llvm::sort(pairs);
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    of.resize(2 * size_t(directions) * schedule.numStages, local);
    forEachBoundary([&](unsigned d, unsigned s, uint32_t a, uint32_t b) {
      if (a == b)
        return;
      size_t row = size_t(d) * schedule.numStages + s;
      of[2 * row] = number(a, b);
      of[2 * (row + 1) + 1] = number(b, a);
    });
  }

  size_t size() const { return pairs.size(); }
  std::pair<uint32_t, uint32_t> ranks(uint32_t edge) const {
    return pairs[edge];
  }
  /// The edge that what `stage` makes takes: its output to the next stage, the
  /// gradient of its input to the stage before. `local` if none.
  uint32_t find(bool gradient, unsigned stage, unsigned microbatch) const {
    size_t row = (microbatch >= turn ? schedule.numStages : 0) + size_t(stage);
    return of[2 * row + gradient];
  }

private:
  uint32_t number(uint32_t a, uint32_t b) const {
    return llvm::lower_bound(pairs, std::pair(a, b)) - pairs.begin();
  }

  const Schedule &schedule;
  std::vector<std::pair<uint32_t, uint32_t>> pairs;
  /// Two a direction and stage.
  std::vector<uint32_t> of;
  /// The first micro-batch of direction 1.
  unsigned turn;
};

/// The transfer that a P2P step is an end of: what is sent, and the stage that
/// makes it.
struct Transfer {
  bool gradient;
  unsigned stage;
};

inline Transfer transferOf(const Step &step) {
  return {step.kind() >= StepKind::SendB,
          isSend(step.kind()) ? step.stage()
                              : unsigned(Schedule::peerStage(step))};
}

//===----------------------------------------------------------------------===//
// The quick scan
//===----------------------------------------------------------------------===//

class PlacedScan {
public:
  PlacedScan(const Schedule &schedule, const Cells &cells, const Edges &edges)
      : schedule(schedule), cells(cells),
        directions(schedule.placement.numDirections()),
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
      Side side{at, at + rooms[edge], 0};
      at = side.end;
      side.compares = from > to ? ~0u : 0;
      sides[2 * edge + 1] = side;
      side.compares = ~side.compares;
      sides[2 * edge + 2] = side;
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
      if (!hasMicrobatch(step.kind()))
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
  const Cells &cells;
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

//===----------------------------------------------------------------------===//
// The messages
//===----------------------------------------------------------------------===//

class PlacedReport {
public:
  PlacedReport(const Schedule &schedule, const Cells &cells, const Edges &edges,
               DiagEngine &diags)
      : schedule(schedule), edges(edges), firsts(schedule, cells),
        reporter(schedule, diags), troubled(edges.size()) {}

  /// Returns true when something was reported. A list whose compute steps are
  /// wrong may displease the scan for reasons that are not this level's.
  bool run() {
    for (uint32_t rank = 0; rank != schedule.ranks.size(); ++rank) {
      const StepList &list = schedule.ranks[rank];
      for (uint32_t i = 0; i != list.size() && !reporter.full(); ++i) {
        if (isP2P(list[i].kind()))
          judge({rank, i}, list[i]);
        else if (list[i].kind() == StepKind::F ||
                 makesInputGradient(list[i].kind()))
          judgeCompute({rank, i}, list[i]);
      }
    }
    if (!reporter.full())
      reportCrossed();
    return reporter.failed;
  }

private:
  StepRef findBackward(unsigned stage, unsigned microbatch) const {
    StepRef full = firsts.find(StepKind::B, stage, microbatch);
    return full.isValid() ? full : firsts.find(StepKind::I, stage, microbatch);
  }
  /// The compute step of the same rank that an end of a transfer belongs to: a
  /// send's producer, a receive's consumer.
  StepRef partnerOf(Step step) const {
    bool forward =
        step.kind() == StepKind::SendF || step.kind() == StepKind::RecvF;
    return forward ? firsts.find(StepKind::F, step.stage(), step.microbatch())
                   : findBackward(step.stage(), step.microbatch());
  }
  Step otherEnd(Step step) const {
    static constexpr StepKind kinds[] = {StepKind::RecvF, StepKind::SendF,
                                         StepKind::RecvB, StepKind::SendB};
    return Step(kinds[unsigned(step.kind()) - unsigned(StepKind::SendF)],
                Schedule::peerStage(step), step.microbatch());
  }

  void judge(StepRef ref, Step step) {
    if (!schedule.hasPeer(step)) {
      (void)reporter.report(ref, diag::TransferNoNeighbour, step.stage());
      return;
    }
    unsigned home = schedule.rankOf(step.stage(), step.microbatch());
    if (home != ref.rank) {
      (void)reporter.report(ref, diag::TransferOnWrongRank, home);
      return;
    }
    if (schedule.peerOf(step) == ref.rank) {
      (void)reporter.report(ref, diag::TransferInsideRank);
      return;
    }
    StepRef first = firsts.find(step);
    if (first.rank != ref.rank || first.index != ref.index) {
      troubled[edgeOf(step)] = true;
      auto diagnostic = reporter.report(ref, diag::TransferDoubled);
      reporter.noteHere(diagnostic, first);
      return;
    }
    StepRef partner = partnerOf(step);
    if (!partner.isValid() || partner.rank != ref.rank)
      (void)reporter.report(ref, diag::TransferOrphan,
                            reporter.text(partnerStep(step)));
    else
      judgePlace(ref, step, partner);
    Step other = otherEnd(step);
    StepRef otherRef = firsts.find(other);
    if (!otherRef.isValid())
      (void)reporter.report(ref, diag::TransferUnmatched, reporter.text(other),
                            schedule.peerOf(step));
  }

  /// What a transfer's end should belong to, when it is not there.
  Step partnerStep(Step step) const {
    bool forward =
        step.kind() == StepKind::SendF || step.kind() == StepKind::RecvF;
    return Step(forward ? StepKind::F : StepKind::B, step.stage(),
                step.microbatch());
  }

  void judgePlace(StepRef ref, Step step, StepRef partner) {
    auto text = [&](StepRef of) { return reporter.text(reporter.step(of)); };
    if (isRecv(step.kind())) {
      if (partner.index < ref.index) {
        auto diagnostic =
            reporter.report(ref, diag::RecvAfterConsumer, text(partner));
        reporter.noteHere(diagnostic, partner);
      }
      return;
    }
    if (partner.index > ref.index) {
      auto diagnostic =
          reporter.report(ref, diag::SendBeforeProducer, text(partner));
      reporter.noteHere(diagnostic, partner);
    }
    if (step.kind() != StepKind::SendF)
      return;
    StepRef backward = findBackward(step.stage(), step.microbatch());
    if (backward.isValid() && backward.rank == ref.rank &&
        backward.index < ref.index) {
      auto diagnostic =
          reporter.report(ref, diag::SendAfterFree, text(backward));
      reporter.noteHere(diagnostic, backward);
    }
  }

  bool hasNoEnd(Step send) const {
    return !firsts.find(send).isValid() &&
           !firsts.find(otherEnd(send)).isValid();
  }

  /// A transfer of which neither end exists is reported at its producer, or at
  /// its consumer if that is all there is; a single end is reported where it
  /// stands.
  void judgeCompute(StepRef ref, Step step) {
    unsigned s = step.stage();
    unsigned m = step.microbatch();
    bool forward = step.kind() == StepKind::F;
    StepKind sendKind = forward ? StepKind::SendF : StepKind::SendB;
    uint32_t out = edges.find(!forward, s, m);
    if (out != Edges::local && hasNoEnd(Step(sendKind, s, m)))
      (void)reporter.report(ref, diag::TransferMissing,
                            edges.ranks(out).second);
    if (forward ? s == 0 : schedule.isLastStage(s))
      return;
    unsigned from = forward ? s - 1 : s + 1;
    uint32_t in = edges.find(!forward, from, m);
    StepRef producer =
        forward ? firsts.find(StepKind::F, from, m) : findBackward(from, m);
    if (in != Edges::local && !producer.isValid() &&
        hasNoEnd(Step(sendKind, from, m)))
      (void)reporter.report(ref, diag::ReceiveMissing, edges.ranks(in).first);
  }

  /// The edge of a P2P step that has a peer.
  uint32_t edgeOf(Step step) const {
    Transfer transfer = transferOf(step);
    return edges.find(transfer.gradient, transfer.stage, step.microbatch());
  }

  /// The first place on each edge where the k-th send and the k-th receive
  /// differ. Ends without a match were reported and are left out; where one is
  /// doubled it is not known which of them is meant.
  void reportCrossed() {
    std::vector<std::vector<StepRef>> sends(edges.size());
    std::vector<std::vector<StepRef>> receives(edges.size());
    for (uint32_t rank = 0; rank != schedule.ranks.size(); ++rank) {
      const StepList &list = schedule.ranks[rank];
      for (uint32_t i = 0; i != list.size(); ++i) {
        Step step = list[i];
        if (!isP2P(step.kind()) || !schedule.hasPeer(step))
          continue;
        StepRef self = firsts.find(step);
        StepRef other = firsts.find(otherEnd(step));
        if (self.rank != rank || self.index != i || !other.isValid() ||
            rank != schedule.rankOf(step.stage(), step.microbatch()) ||
            other.rank != schedule.peerOf(step))
          continue;
        uint32_t edge = edgeOf(step);
        if (edge != Edges::local)
          (isSend(step.kind()) ? sends : receives)[edge].push_back({rank, i});
      }
    }
    for (uint32_t edge = 0; edge != edges.size(); ++edge) {
      size_t n = std::min(sends[edge].size(), receives[edge].size());
      if (troubled[edge])
        continue;
      for (size_t k = 0; k != n; ++k) {
        Step sent = reporter.step(sends[edge][k]);
        Step received = reporter.step(receives[edge][k]);
        if (otherEnd(sent).sameAction(
                Step(received.kind(), received.stage(), received.microbatch())))
          continue;
        auto diagnostic =
            reporter.report(receives[edge][k], diag::TransferCrossed, k,
                            edges.ranks(edge).first, edges.ranks(edge).second,
                            reporter.text(sent));
        reporter.noteHere(diagnostic, sends[edge][k]);
        break;
      }
      if (reporter.full())
        return;
    }
  }

  const Schedule &schedule;
  const Edges &edges;
  FirstSteps firsts;
  StepReporter reporter;
  /// Edges with a doubled end.
  std::vector<bool> troubled;
};

} // namespace

LogicalResult verifyPlaced(const Schedule &schedule, DiagEngine &diags) {
  Cells cells(schedule);
  Edges edges(schedule);
  if (PlacedScan(schedule, cells, edges).isGood())
    return success();
  return failure(PlacedReport(schedule, cells, edges, diags).run());
}

} // namespace pipec
