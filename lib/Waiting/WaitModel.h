//===- WaitModel.h - How P2P steps wait for each other ----------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_WAITING_WAITMODEL_H
#define PIPEC_WAITING_WAITMODEL_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace pipec {

/// In how many queues the P2P steps of a rank stand
/// (docs/Rationale/Waiting.md). Ordered: what ends under one model ends under
/// the later ones.
enum class WaitModel : uint8_t {
  /// One queue a rank: an eagerly initialised NCCL communicator, and blocking
  /// sends and receives.
  Stream,
  /// One queue a rank and peer: two-rank communicators, made when needed.
  Pair,
  /// One queue a rank, peer and direction: MPI, gloo.
  Edge,
  /// As `Edge`, and a send is complete as soon as it has started.
  Buffered,
};

inline constexpr WaitModel allWaitModels[] = {
    WaitModel::Stream, WaitModel::Pair, WaitModel::Edge, WaitModel::Buffered};

/// `stream`, `pair`, `edge`, `buffered`.
llvm::StringRef waitModelName(WaitModel model);
std::optional<WaitModel> parseWaitModel(llvm::StringRef name);
/// The model in the words of messages: `one in-order stream a rank`.
llvm::StringRef waitModelPhrase(WaitModel model);

} // namespace pipec

#endif // PIPEC_WAITING_WAITMODEL_H
