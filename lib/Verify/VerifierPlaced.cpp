//===- VerifierPlaced.cpp - The level placed: transfers -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each transfer (IR/DataFlow.h) needs one send after its producer and one
// receive before its consumer. On every edge the k-th send must match the k-th
// receive, since transfers have no names.
//
// The fast scan (VerifierPlacedScan.cpp) only decides whether the list is
// correct. If it fails, `PlacedReport` finds the errors and reports them.
//
//===----------------------------------------------------------------------===//

#include "Verify/VerifierDetail.h"

#include "Support/Diagnostics/VerifierDiags.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

namespace {

class PlacedReport {
public:
  PlacedReport(const Schedule &schedule, const Cells &cells,
               const DataFlow &flow, const EdgeNumbers &edges,
               const PresentRanks &present, DiagEngine &diags)
      : schedule(schedule), flow(flow), edges(edges), present(present),
        firsts(schedule, cells), reporter(schedule, diags),
        troubled(edges.size()) {}

  /// Returns true if an error was reported. A list with wrong compute steps may
  /// fail the scan for reasons of another level.
  bool run() {
    for (uint32_t rank = 0; rank != schedule.ranks.size(); ++rank) {
      const StepList &list = schedule.ranks[rank];
      for (uint32_t i = 0; i != list.size() && !reporter.full(); ++i) {
        if (isP2P(list[i].kind()))
          judge({rank, i}, list[i]);
        else if (makesData(list[i].kind()))
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
  /// The step that produces or consumes `data` on a stage.
  StepRef findMaker(DataKind data, unsigned stage, unsigned microbatch) const {
    return data == DataKind::Activation
               ? firsts.find(StepKind::F, stage, microbatch)
               : findBackward(stage, microbatch);
  }
  /// The compute step that an end of a transfer belongs to, on the same rank:
  /// the producer for a send, the consumer for a receive.
  StepRef partnerOf(Step step) const {
    return findMaker(dataKind(step.kind()), step.stage(), step.unit());
  }

  void judge(StepRef ref, Step step) {
    const DataFlow::Port *port = flow.transfer(step);
    if (!port) {
      (void)reporter.report(ref, diag::TransferNoNeighbour, step.stage());
      return;
    }
    unsigned home = flow.home(step);
    if (home != ref.rank) {
      (void)reporter.report(ref, diag::TransferOnWrongRank, home);
      return;
    }
    if (!port->transfers) {
      (void)reporter.report(ref, diag::TransferInsideRank);
      return;
    }
    StepRef first = firsts.find(step);
    if (first.rank != ref.rank || first.index != ref.index) {
      troubled[edgeOf(step, *port)] = true;
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
    Step other = DataFlow::otherEnd(step, *port);
    if (present.contains(port->rank) && !firsts.find(other).isValid())
      (void)reporter.report(ref, diag::TransferUnmatched, reporter.text(other),
                            port->rank);
  }

  /// The step that an end of a transfer should belong to, for messages if there
  /// is none.
  Step partnerStep(Step step) const {
    bool forward = dataKind(step.kind()) == DataKind::Activation;
    return Step(forward ? StepKind::F : StepKind::B, step.stage(), step.unit());
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
    if (dataKind(step.kind()) != DataKind::Activation)
      return;
    StepRef backward = findBackward(step.stage(), step.unit());
    if (backward.isValid() && backward.rank == ref.rank &&
        backward.index < ref.index) {
      auto diagnostic =
          reporter.report(ref, diag::SendAfterFree, text(backward));
      reporter.noteHere(diagnostic, backward);
    }
  }

  /// True if a transfer has neither end: the one that has an end of the kind
  /// `end` on the stage of `self`, at `port`.
  bool hasNoEnd(Step self, StepKind end, unsigned port) const {
    Step own(end, self.stage(), self.unit());
    own.setPort(port);
    return !firsts.find(own).isValid() &&
           !firsts.find(DataFlow::otherEnd(own, *flow.transfer(own))).isValid();
  }

  /// Reports a transfer without either end at its producer, or at its consumer
  /// if there is no producer. A single end is reported at the end itself.
  void judgeCompute(StepRef ref, Step step) {
    DataKind data = dataKind(step.kind());
    for (const auto &[number, output] : llvm::enumerate(flow.outputs(step)))
      if (output.transfers && hasNoEnd(step, sendKind(data), number))
        (void)reporter.report(ref, diag::TransferMissing, output.rank);
    for (const auto &[number, input] : llvm::enumerate(flow.inputs(step)))
      if (input.transfers &&
          !findMaker(data, input.stage, step.unit()).isValid() &&
          hasNoEnd(step, recvKind(data), number))
        (void)reporter.report(ref, diag::ReceiveMissing, input.rank);
  }

  /// The edge of a P2P step that transfers the data of `port`.
  uint32_t edgeOf(Step step, const DataFlow::Port &port) const {
    uint32_t home = flow.home(step);
    return isSend(step.kind()) ? edges.find(home, port.rank)
                               : edges.find(port.rank, home);
  }

  /// Reports the first place on each edge where the k-th send and the k-th
  /// receive differ. Unmatched ends have been reported and are skipped, as are
  /// edges with a duplicate end, because it is unclear which of the two is
  /// meant.
  void reportCrossed() {
    std::vector<std::vector<StepRef>> sends(edges.size());
    std::vector<std::vector<StepRef>> receives(edges.size());
    for (uint32_t rank = 0; rank != schedule.ranks.size(); ++rank) {
      const StepList &list = schedule.ranks[rank];
      for (uint32_t i = 0; i != list.size(); ++i) {
        Step step = list[i];
        const DataFlow::Port *port =
            isP2P(step.kind()) ? flow.transfer(step) : nullptr;
        if (!port || !port->transfers)
          continue;
        StepRef self = firsts.find(step);
        StepRef other = firsts.find(DataFlow::otherEnd(step, *port));
        if (self.rank != rank || self.index != i || !other.isValid() ||
            rank != flow.home(step) || other.rank != port->rank)
          continue;
        (isSend(step.kind()) ? sends : receives)[edgeOf(step, *port)].push_back(
            {rank, i});
      }
    }
    for (uint32_t edge = 0; edge != edges.size(); ++edge) {
      size_t n = std::min(sends[edge].size(), receives[edge].size());
      if (troubled[edge])
        continue;
      for (size_t k = 0; k != n; ++k) {
        Step sent = reporter.step(sends[edge][k]);
        Step received = reporter.step(receives[edge][k]);
        received.setJoined(false);
        if (DataFlow::otherEnd(sent, *flow.transfer(sent)).sameAction(received))
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
  const DataFlow &flow;
  const EdgeNumbers &edges;
  const PresentRanks &present;
  FirstSteps firsts;
  StepReporter reporter;
  /// True for edges with a duplicate end.
  std::vector<bool> troubled;
};

} // namespace

LogicalResult verifyPlaced(const Schedule &schedule, DiagEngine &diags,
                           const PresentRanks &present) {
  Cells cells(schedule);
  DataFlow flow(schedule);
  EdgeNumbers edges(flow);
  if (present.all() && areTransfersPlaced(schedule, cells, flow, edges))
    return success();
  return failure(
      PlacedReport(schedule, cells, flow, edges, present, diags).run());
}

} // namespace pipec
