//===- ChainPeers.h - The peers of transfers in a chain ---------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Who meets whom when stage s feeds stage s + 1, as a closed form: for oracles,
// which must not depend on the table of data flow that they judge.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_UNITTESTS_IR_CHAINPEERS_H
#define PIPEC_UNITTESTS_IR_CHAINPEERS_H

#include "IR/Schedule.h"

namespace pipec::test {

/// The stage at the other end of a P2P step: the next one for SEND_F and
/// RECV_B, the one before for RECV_F and SEND_B.
inline int peerStage(Step step) {
  bool next =
      isSend(step.kind()) == (dataKind(step.kind()) == DataKind::Activation);
  return int(step.stage()) + (next ? 1 : -1);
}

/// False for a P2P step on a stage at the model's end that has no neighbour in
/// that step's direction.
inline bool hasPeer(const Schedule &schedule, Step step) {
  int stage = peerStage(step);
  return stage >= 0 && unsigned(stage) < schedule.numStages;
}

/// The rank at the other end of a P2P step that has a peer.
inline unsigned peerOf(const Schedule &schedule, Step step) {
  return schedule.rankOf(peerStage(step), step.microbatch());
}

} // namespace pipec::test

#endif // PIPEC_UNITTESTS_IR_CHAINPEERS_H
