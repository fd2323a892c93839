//===- StagePeers.h - The peers of transfers --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who meets whom: a closed form if stage s feeds stage s + 1, otherwise by the
// edges of the graph. For oracles, which must not depend on the table of data
// flow that they judge.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_UNITTESTS_IR_STAGEPEERS_H
#define PIPEC_UNITTESTS_IR_STAGEPEERS_H

#include "IR/Schedule.h"

namespace pipec::test {

/// The stage at the other end of a P2P step. In a chain it is the next one for
/// SEND_F and RECV_B, and the one before for RECV_F and SEND_B; in other graphs
/// a later or an earlier one, -1 without one.
inline int peerStage(const Schedule &schedule, Step step) {
  bool next =
      isSend(step.kind()) == (dataKind(step.kind()) == DataKind::Activation);
  if (schedule.graph.isChain())
    return int(step.stage()) + (next ? 1 : -1);
  int peer = -1;
  unsigned port = 0;
  schedule.graph.forEachEdge(schedule.numStages, [&](StageGraph::Edge edge) {
    if ((next ? edge.from : edge.to) == step.stage() && port++ == step.port())
      peer = int(next ? edge.to : edge.from);
  });
  return peer;
}

/// False for a P2P step on a stage that has no neighbour in that step's
/// direction.
inline bool hasPeer(const Schedule &schedule, Step step) {
  int stage = peerStage(schedule, step);
  return stage >= 0 && unsigned(stage) < schedule.numStages;
}

/// The rank at the other end of a P2P step that has a peer.
inline unsigned peerOf(const Schedule &schedule, Step step) {
  return schedule.rankOf(peerStage(schedule, step), step.unit());
}

} // namespace pipec::test

#endif // PIPEC_UNITTESTS_IR_STAGEPEERS_H
