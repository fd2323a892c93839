//===- TransferParts.h - Transfers of several messages ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tensor whose memory is in several places is sent as one message per place,
// in order; a tensor whose size only the sender knows, after a message with its
// size. An executor of a model with such tensors uses its transport through
// `PartsTransport`, which makes one request of these messages.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_RUNTIME_TRANSFERPARTS_H
#define PIPEC_RUNTIME_TRANSFERPARTS_H

#include "pipec/runtime/Model.h"
#include "pipec/runtime/Transport.h"

#include <deque>
#include <type_traits>

namespace pipec::runtime::detail {

/// The number of bytes of a tensor in one or several places.
template <class Bytes> std::size_t sizeOfBytes(Bytes &&bytes) {
  if constexpr (OneSpan<Bytes>) {
    return std::span<std::byte>(bytes).size();
  } else {
    std::size_t size = 0;
    for (std::span<std::byte> part : bytes)
      size += part.size();
    return size;
  }
}

template <class T> class PartsTransport {
public:
  struct Request {
    std::deque<typename T::Request> parts;
    std::size_t used = 0;
    /// The size of the tensor, while it is sent.
    std::uint64_t size = 0;
  };

  PartsTransport(T &transport) : transport(transport) {}

  int rank() const { return transport.rank(); }
  int size() const { return transport.size(); }

  template <class Bytes>
  void isend(int peer, const Header &header, Bytes &&bytes, Request &request) {
    eachPart(
        header, bytes, request, [&](const Header &own, auto part, auto &inner) {
          transport.isend(peer, own, std::span<const std::byte>(part), inner);
        });
  }
  template <class Bytes>
  void irecv(int peer, const Header &header, Bytes &&bytes, Request &request) {
    eachPart(header, bytes, request,
             [&](const Header &own, auto part, auto &inner) {
               transport.irecv(peer, own, part, inner);
             });
  }
  /// Sends the size of a tensor before it, as a part of `request`.
  void announce(int peer, Header header, Request &request) {
    request.used = 0;
    request.size = header.bytes;
    header.bytes = sizeof(request.size);
    transport.isend(peer, header, std::as_bytes(std::span(&request.size, 1)),
                    next(request));
  }
  /// Starts a request that has no announcement.
  void begin(Request &request) { request.used = 0; }

  bool test(Request &request) {
    for (std::size_t i = 0; i != request.used; ++i)
      if (!transport.test(request.parts[i]))
        return false;
    return true;
  }
  bool wait(Request &request, std::chrono::nanoseconds atMost) {
    for (std::size_t i = 0; i != request.used; ++i)
      if (!transport.test(request.parts[i]) &&
          !transport.wait(request.parts[i], atMost))
        return false;
    return true;
  }
  /// That of the last part, with the bytes of all.
  Header header(const Request &request) const {
    Header whole;
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i != request.used; ++i) {
      whole = transport.header(request.parts[i]);
      bytes += whole.bytes;
    }
    whole.bytes = bytes;
    return whole;
  }

  void beginBatch() { transport.beginBatch(); }
  void endBatch() { transport.endBatch(); }
  StatusCell &statusCell() { return transport.statusCell(); }
  std::optional<StatusView> statusOf(int rank) const {
    return transport.statusOf(rank);
  }
  void fail(const std::string &message) { transport.fail(message); }
  std::optional<std::string> failure() { return transport.failure(); }

private:
  typename T::Request &next(Request &request) {
    if (request.used == request.parts.size())
      request.parts.emplace_back();
    return request.parts[request.used++];
  }
  template <class Bytes, class Post>
  void eachPart(const Header &header, Bytes &&bytes, Request &request,
                Post post) {
    Header own = header;
    auto add = [&](std::span<std::byte> part) {
      own.bytes = part.size();
      post(own, part, next(request));
    };
    if constexpr (OneSpan<Bytes>)
      add(bytes);
    else
      for (std::span<std::byte> part : bytes)
        add(part);
  }

  T &transport;
};

/// The transport as an executor uses it.
template <class M, class T>
using TransportFor = std::conditional_t<ModelParts<M>, PartsTransport<T>, T &>;

} // namespace pipec::runtime::detail

#endif // PIPEC_RUNTIME_TRANSFERPARTS_H
