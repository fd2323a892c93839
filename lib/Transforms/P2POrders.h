//===- P2POrders.h - The orders of insert-p2p -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "IR/DataFlow.h"
#include "Support/DiagEngine.h"
#include "Transforms/Passes.h"

namespace pipec {

/// The send of output `port` of `producer`, with the phase and source of the
/// producer.
inline Step sendOf(Step producer, unsigned port) {
  producer.setKind(sendKind(dataKind(producer.kind())));
  producer.setPort(port);
  producer.setJoined(false);
  return producer;
}
/// The receive, by its consumer, of the result of `producer` for `output`, with
/// the source of the producer; `phase` is the phase of the receive.
inline Step recvOf(Step producer, const DataFlow::Port &output,
                   unsigned phase) {
  Step receive(recvKind(dataKind(producer.kind())), output.stage,
               producer.unit(), phase, producer.source());
  receive.setPort(output.port);
  return receive;
}
/// The receive of input `port` of `consumer`, with the phase of the consumer;
/// `source` is the source of the producer.
inline Step recvFor(Step consumer, unsigned port, SourceLoc source) {
  consumer.setKind(recvKind(dataKind(consumer.kind())));
  consumer.setPort(port);
  consumer.setJoined(false);
  consumer.setSource(source);
  return consumer;
}

/// Empty lists with capacity for the steps of `schedule` and for both ends of
/// all its transfers; bubbles count only if `keepBubbles` is true.
std::vector<StepList> listsForP2P(const Schedule &schedule, bool keepBubbles);

/// The lists of `schedule` with transfers added in rounds over the ranks
/// (P2PSimulate.cpp). If the order cannot run, reports the steps at which ranks
/// block.
llvm::FailureOr<std::vector<StepList>>
placeP2PInRounds(const Schedule &schedule, DiagEngine &diags);

/// The lists of `schedule` with transfers added slot by slot (P2PColumn.cpp).
/// Fails if a step is not in a later slot than the producers of its inputs.
llvm::FailureOr<std::vector<StepList>>
placeP2PInColumns(const Schedule &schedule, DiagEngine &diags);

/// The lists of `schedule` with transfers in one order of time on all ranks
/// (P2PTimed.cpp), placed for `model`, under which further rounds run. Fails if
/// the order cannot run or the costs do not fit.
llvm::FailureOr<std::vector<StepList>>
placeP2PInTime(const Schedule &schedule, const InsertP2POptions &options,
               const CommModel &model, DiagEngine &diags);

/// The lists of `schedule` with transfers placed for a communication model by a
/// search, and its figures (P2PSearch.cpp). Fails if the order cannot run, the
/// costs do not fit, or the model is one for which places matter.
llvm::FailureOr<std::vector<StepList>>
placeP2PBySearch(const Schedule &schedule, const InsertP2POptions &options,
                 const CommModel &model, std::optional<PlacedTransfers> &placed,
                 DiagEngine &diags);

/// The same for ranks that wait at all transfers (P2PBlocking.cpp).
llvm::FailureOr<std::vector<StepList>>
placeP2PForBlockingSends(const Schedule &schedule, DiagEngine &diags);

} // namespace pipec
