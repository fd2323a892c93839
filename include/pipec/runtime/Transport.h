//===- Transport.h - How tensors travel between ranks -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A transport moves bytes between ranks, in order on every directed pair of
// ranks: the k-th `isend` from rank i to rank j meets the k-th `irecv` that j
// posts for i. It has no tags; every message carries a header, and the
// executor checks it. Shipped are ThreadTransport.h and MpiTransport.h.
//
// A request lives in the executor from posting to completion and does not move
// meanwhile, so a transport can keep its books in it and needs no memory of its
// own for each message.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_RUNTIME_TRANSPORT_H
#define PIPEC_RUNTIME_TRANSPORT_H

#include "pipec/runtime/Steps.h"

#include <atomic>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace pipec::runtime {

/// The head of a message: the step that sent it, its length, and the run of
/// the schedule.
struct Header {
  StepKind kind = StepKind::SendForward;
  std::int32_t stage = 0;
  std::int32_t unit = 0;
  std::uint32_t run = 0;
  std::uint64_t bytes = 0;
  /// In a graph of stages, the stage that it is for; otherwise -1.
  std::int32_t other = -1;
  /// A hash of the order of the batch; 0 if it is as given.
  std::uint32_t order = 0;
  /// The digest of the lists (Schedule.h).
  std::uint32_t lists = 0;
  friend bool operator==(const Header &, const Header &) = default;
};

/// The current step of a rank, in 64 bits, so that others can read it at any
/// time.
struct RankState {
  enum Activity : std::uint8_t { Idle, Running, Waiting, Finished };
  Activity activity = Idle;
  StepKind kind = StepKind::Forward;
  int stage = 0;
  int unit = 0;
  int line = 0;

  static_assert(numStepKinds <= 32, "a kind has five bits");

  /// Executors leave out higher ones.
  static constexpr int maxLine = (1 << 17) - 1;

  constexpr std::uint64_t pack() const {
    return std::uint64_t(activity) | std::uint64_t(kind) << 2 |
           std::uint64_t(stage & 0xffff) << 7 |
           std::uint64_t(unit & 0xffffff) << 23 | std::uint64_t(line) << 47;
  }
  static constexpr RankState unpack(std::uint64_t bits) {
    return {Activity(bits & 3), StepKind(bits >> 2 & 31),
            int(bits >> 7 & 0xffff), int(bits >> 23 & 0xffffff),
            int(bits >> 47)};
  }
};

/// Where a rank shows its state to the others.
struct StatusCell {
  /// A packed `RankState`.
  std::atomic<std::uint64_t> state{0};
  /// For how long it has been waiting, in nanoseconds.
  std::atomic<std::uint64_t> waited{0};
};

/// The state of a rank as another one read it.
struct StatusView {
  RankState state;
  std::chrono::nanoseconds waited{0};
};

/// The functions that an executor calls of a transport.
///
/// - `rank()`, `size()`: this rank and how many there are.
/// - `isend(peer, header, bytes, request)`: begins a send; `bytes` stay valid
///   and unchanged until the request is complete.
/// - `irecv(peer, header, bytes, request)`: begins a receive into `bytes`;
///   `header` is the expected one.
/// - `test(request)`: true once complete; never waits.
/// - `wait(request, atMost)`: like `test`, but may wait that long.
/// - `header(request)`: of a complete receive, the header that came. A
///   transport that cannot carry one returns what `irecv` was given.
template <class T>
concept Transport =
    std::default_initializable<typename T::Request> &&
    requires(T &transport, int peer, const Header &header,
             std::span<const std::byte> out, std::span<std::byte> in,
             typename T::Request &request, std::chrono::nanoseconds time) {
      { transport.rank() } -> std::convertible_to<int>;
      { transport.size() } -> std::convertible_to<int>;
      transport.isend(peer, header, out, request);
      transport.irecv(peer, header, in, request);
      { transport.test(request) } -> std::convertible_to<bool>;
      { transport.wait(request, time) } -> std::convertible_to<bool>;
      { transport.header(request) } -> std::convertible_to<Header>;
    };

/// A transport that brackets the members of a batch (an NCCL group).
template <class T>
concept BatchTransport = requires(T &transport) {
  transport.beginBatch();
  transport.endBatch();
};

/// A transport that shows each rank the states of the others, for the report of
/// a stall. `statusCell` is where this rank writes; `statusOf` may find
/// nothing.
template <class T>
concept StatusTransport = requires(T &transport, int rank) {
  { transport.statusCell() } -> std::same_as<StatusCell &>;
  { transport.statusOf(rank) } -> std::same_as<std::optional<StatusView>>;
};

/// A transport that ends all ranks when one fails: `fail` spreads the message,
/// `failure` returns the message of another rank, if there is one. After
/// `fail`, `wait` returns soon.
template <class T>
concept FailureTransport = requires(T &transport, const std::string &message) {
  transport.fail(message);
  { transport.failure() } -> std::same_as<std::optional<std::string>>;
};

} // namespace pipec::runtime

#endif // PIPEC_RUNTIME_TRANSPORT_H
