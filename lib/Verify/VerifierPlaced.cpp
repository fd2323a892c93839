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
// The quick scan (VerifierPlacedScan.cpp) only says whether all is well. If it
// is not, `PlacedReport` looks again and says what is wrong.
//
//===----------------------------------------------------------------------===//

#include "Verify/VerifierPlaced.h"

using namespace llvm;

namespace pipec {

namespace {

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
    unsigned from = isSend(step.kind()) ? step.stage()
                                        : unsigned(Schedule::peerStage(step));
    return edges.find(step.kind() >= StepKind::SendB, from, step.microbatch());
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
  if (areTransfersPlaced(schedule, cells, edges))
    return success();
  return failure(PlacedReport(schedule, cells, edges, diags).run());
}

} // namespace pipec
