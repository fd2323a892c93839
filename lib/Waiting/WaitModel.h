//===- WaitModel.h - The communication models -------------------*- C++ -*-===//
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

/// The queues of the P2P steps of a rank (docs/Rationale/Waiting.md). In order
/// of strictness: a schedule that finishes under one model finishes under all
/// later ones.
enum class WaitModel : uint8_t {
  /// One queue per rank: an eagerly initialized NCCL communicator, and blocking
  /// sends and receives.
  Stream,
  /// One queue per rank and peer: two-rank communicators, created on demand.
  Pair,
  /// One queue per rank, peer and direction: MPI, gloo.
  Edge,
  /// Like `Edge`, but a send completes as soon as it starts.
  Buffered,
};

inline constexpr WaitModel allWaitModels[] = {
    WaitModel::Stream, WaitModel::Pair, WaitModel::Edge, WaitModel::Buffered};

/// `stream`, `pair`, `edge`, `buffered`.
llvm::StringRef waitModelName(WaitModel model);
std::optional<WaitModel> parseWaitModel(llvm::StringRef name);
/// The model in messages: `one in-order stream per rank`.
llvm::StringRef waitModelPhrase(WaitModel model);

} // namespace pipec

#endif // PIPEC_WAITING_WAITMODEL_H
