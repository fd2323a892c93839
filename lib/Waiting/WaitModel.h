//===- WaitModel.h - The communication models -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <array>
#include <cstdint>
#include <optional>

namespace pipec {

/// When transfers start, and which of them hold up a rank; WaitModels.def lists
/// the models, docs/Rationale/Waiting.md defines them.
enum class WaitModel : uint8_t {
#define PIPEC_WAIT_MODEL(Id, Name, Phrase, Queues, Holds, InAll, Implied) Id,
#include "Waiting/WaitModels.def"
};

/// The queues of the P2P steps of a rank: one, one per peer, or one per peer
/// and direction.
enum class WaitQueues : uint8_t { Rank, Peer, Edge };
/// The P2P steps that a rank passes only when they are complete: none, receives
/// and batches, or all.
enum class WaitHolds : uint8_t { None, Receives, All };

/// A row of WaitModels.def.
struct WaitModelInfo {
  llvm::StringLiteral name;
  /// The model in messages: `one in-order stream per rank`.
  llvm::StringLiteral phrase;
  WaitQueues queues;
  WaitHolds holds;
  /// True if `all` includes it.
  bool inAll;
  /// Bit M is set if a schedule that finishes under this model finishes under
  /// the model with value M.
  uint8_t implied;
};

namespace detail {
namespace waitbits {
enum : uint8_t {
#define PIPEC_WAIT_MODEL(Id, Name, Phrase, Queues, Holds, InAll, Implied)      \
  Id = 1u << unsigned(WaitModel::Id),
#include "Waiting/WaitModels.def"
};
inline constexpr WaitModelInfo table[] = {
#define PIPEC_WAIT_MODEL(Id, Name, Phrase, Queues, Holds, InAll, Implied)      \
  {Name,                                                                       \
   Phrase,                                                                     \
   WaitQueues::Queues,                                                         \
   WaitHolds::Holds,                                                           \
   InAll,                                                                      \
   uint8_t(Id | (Implied))},
#include "Waiting/WaitModels.def"
};
} // namespace waitbits
} // namespace detail

/// Every model.
inline constexpr WaitModel allWaitModels[] = {
#define PIPEC_WAIT_MODEL(Id, Name, Phrase, Queues, Holds, InAll, Implied)      \
  WaitModel::Id,
#include "Waiting/WaitModels.def"
};
inline constexpr size_t numWaitModels = std::size(allWaitModels);

constexpr const WaitModelInfo &waitModelInfo(WaitModel model) {
  return detail::waitbits::table[unsigned(model)];
}

/// The models that `all` includes, in order of strictness: a schedule that
/// finishes under one of them finishes under all later ones.
llvm::ArrayRef<WaitModel> mainWaitModels();

/// True if every schedule that finishes under `model` finishes under `other`.
constexpr bool implies(WaitModel model, WaitModel other) {
  return waitModelInfo(model).implied >> unsigned(other) & 1;
}

/// For each model, whether a schedule finishes under it.
class WaitOutcomes {
public:
  bool operator[](WaitModel model) const { return ends[unsigned(model)]; }
  bool &operator[](WaitModel model) { return ends[unsigned(model)]; }
  void fill(bool value) { ends.fill(value); }
  friend bool operator==(const WaitOutcomes &, const WaitOutcomes &) = default;

private:
  std::array<bool, numWaitModels> ends{};
};

/// `stream`, `pair`, `edge`, ...
inline llvm::StringRef waitModelName(WaitModel model) {
  return waitModelInfo(model).name;
}
std::optional<WaitModel> parseWaitModel(llvm::StringRef name);
inline llvm::StringRef waitModelPhrase(WaitModel model) {
  return waitModelInfo(model).phrase;
}

} // namespace pipec
