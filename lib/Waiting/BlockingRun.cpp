//===- BlockingRun.cpp - Does a schedule end if transfers block -----------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The quick way to a good verdict, without a queue or a table of transfers:
// each rank goes through its list up to a transfer and stands there; when the
// rank at the other end stands at the other side of just this transfer, both go
// on. Since no rank goes past a transfer, the k-th send of an edge meets the
// k-th receive, and comparing their names is all there is to crossed tensors.
//
// What happens so can happen under every model, for each of them only lets a
// rank run further ahead. The reverse holds for `stream` alone, so a run that
// comes to a halt is only the reason to ask `Waiting`.
//
//===----------------------------------------------------------------------===//

#include "Waiting/BlockingRun.h"

#include "IR/StepPrefetch.h"

using namespace llvm;

namespace pipec {

namespace {

class BlockingRun {
public:
  explicit BlockingRun(const Schedule &schedule)
      : schedule(schedule),
        turn(schedule.placement.bidirectional() ? schedule.numMicrobatches / 2
                                                : maxMicrobatches),
        received(size_t(schedule.numStages) * schedule.numMicrobatches),
        ranks(schedule.numRanks) {
    for (unsigned d = 0; d != schedule.placement.numDirections(); ++d)
      for (unsigned stage = 0; stage != schedule.numStages; ++stage)
        for (unsigned kind = 0; kind != numKinds; ++kind)
          rules.push_back(makeRule(StepKind(kind), stage, d));
  }

  bool ends() {
    // A stack; at first rank 0 is on top.
    for (unsigned rank = schedule.numRanks; rank-- != 0;) {
      ranks[rank].at = schedule.ranks[rank].data();
      ranks[rank].end = ranks[rank].at + schedule.ranks[rank].size();
      runnable.push_back(rank);
    }
    while (!runnable.empty()) {
      unsigned rank = runnable.back();
      runnable.pop_back();
      ranks[rank].isRunnable = false;
      if (!advance(rank))
        return false;
    }
    return all_of(ranks,
                  [](const RankState &rank) { return rank.at == rank.end; });
  }

private:
  static constexpr unsigned numKinds = unsigned(StepKind::Bubble) + 1;
  static constexpr uint8_t activation = 1, gradient = 2;
  /// What a pair of stage and micro-batch has sent, by the kind of the send.
  static constexpr uint8_t sentF = 4, sentB = 8;
  static constexpr uint32_t nobody = ~0u;

  struct RankState {
    const Step *at = nullptr;
    const Step *end = nullptr;
    /// Stands on the stack.
    bool isRunnable = true;
  };

  /// What a step of one kind, on one stage and in one direction, does.
  struct Rule {
    /// The stage's rank, and that of the other side of the transfer.
    uint32_t home = nobody;
    uint32_t peer = nobody;
    uint16_t peerStage = 0;
    StepKind peerKind = StepKind::Bubble;
    /// What must have been there before a compute step or a wait: data of
    /// another rank, or the send.
    uint8_t needs = 0;
    /// What a transfer brings to the stage's rank or to the peer's, and what it
    /// leaves on the sending side.
    uint8_t brings = 0;
    uint8_t leaves = 0;
    bool sends = false;
  };

  Rule makeRule(StepKind kind, unsigned stage, unsigned direction) const {
    Rule rule;
    auto rankOf = [&](unsigned of) {
      return of < schedule.numStages ? schedule.placement.rankOf(of, direction)
                                     : nobody;
    };
    rule.home = rankOf(stage);
    bool isGradient = makesInputGradient(kind) || kind == StepKind::SendB ||
                      kind == StepKind::RecvB;
    uint8_t data = isGradient ? gradient : activation;
    if (isP2P(kind)) {
      static constexpr StepKind sides[] = {StepKind::RecvF, StepKind::SendF,
                                           StepKind::RecvB, StepKind::SendB};
      static_assert(unsigned(StepKind::RecvB) == unsigned(StepKind::SendF) + 3);
      unsigned peerStage = Schedule::peerStage(Step(kind, stage, 0));
      rule.peer = rankOf(peerStage);
      rule.peerStage = peerStage;
      rule.peerKind = sides[unsigned(kind) - unsigned(StepKind::SendF)];
      rule.brings = data;
      rule.leaves = data == activation ? sentF : sentB;
      rule.sends = isSend(kind);
    } else if (isSendWait(kind)) {
      // No rank goes past a send before it is complete.
      rule.needs = kind == StepKind::WaitSendF ? sentF : sentB;
    } else if (kind == StepKind::F || isGradient) {
      uint32_t from = rankOf(isGradient ? stage + 1 : stage - 1);
      if (from != nobody && from != rule.home)
        rule.needs = data;
    }
    return rule;
  }

  /// Lets the rank run until it has to stay; false when it must not go on.
  bool advance(unsigned rank) {
    RankState &self = ranks[rank];
    for (; self.at != self.end; ++self.at) {
      const Step step = *self.at;
      if (!hasMicrobatch(step.kind()))
        continue;
      size_t row = step.stage();
      if (step.microbatch() >= turn)
        row += schedule.numStages;
      const Rule &rule = rules[row * numKinds + unsigned(step.kind())];
      if (!isP2P(step.kind())) {
        if (rule.needs & ~received[cellOf(step.stage(), step.microbatch())])
          return false;
        continue;
      }
      if (step.joined() || rule.peer == nobody || rule.home != rank)
        return false;
      RankState &other = ranks[rule.peer];
      if (other.at == other.end ||
          !other.at->sameAction(
              Step(rule.peerKind, rule.peerStage, step.microbatch()))) {
        prefetchSteps(self.at);
        return true;
      }
      size_t here = cellOf(step.stage(), step.microbatch());
      size_t there = cellOf(rule.peerStage, step.microbatch());
      received[rule.sends ? there : here] |= rule.brings;
      received[rule.sends ? here : there] |= rule.leaves;
      ++other.at;
      if (!other.isRunnable) {
        other.isRunnable = true;
        runnable.push_back(rule.peer);
      }
    }
    return true;
  }

  size_t cellOf(unsigned stage, unsigned microbatch) const {
    return size_t(stage) * schedule.numMicrobatches + microbatch;
  }

  const Schedule &schedule;
  /// The first micro-batch of direction 1.
  unsigned turn;
  /// By direction, stage and kind.
  std::vector<Rule> rules;
  /// What has come from other ranks and gone to them, by its consumer and its
  /// producer.
  std::vector<uint8_t> received;
  std::vector<RankState> ranks;
  std::vector<unsigned> runnable;
};

} // namespace

bool endsWithBlockingTransfers(const Schedule &schedule) {
  // Sizes are somebody's claim; a schedule has a forward for every pair.
  if (uint64_t(schedule.numStages) * schedule.numMicrobatches >
      schedule.numSteps())
    return false;
  return BlockingRun(schedule).ends();
}

} // namespace pipec
