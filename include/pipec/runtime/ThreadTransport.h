//===- ThreadTransport.h - Ranks are threads of one process -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   pipec::runtime::ThreadGroup group(4);
//   group.run([&](int rank) {
//     pipec::runtime::ThreadTransport transport(group, rank);
//     ...
//   });
//
// Every directed pair of ranks has a queue of sends and a queue of receives,
// linked through the requests themselves. The thread that posts the second half
// of a match copies the bytes; both requests are then complete. At most one of
// the two queues is not empty, so a match is always with its front.
//
// Waiting spins briefly, then yields, then sleeps until the other side wakes
// it. A failure closes every queue: nothing is copied from then on, so the
// tensors of a rank that failed may be freed.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_RUNTIME_THREADTRANSPORT_H
#define PIPEC_RUNTIME_THREADTRANSPORT_H

#include "pipec/runtime/Errors.h"
#include "pipec/runtime/Transport.h"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace pipec::runtime {

/// Shared by the threads of one pipeline.
class ThreadGroup {
public:
  explicit ThreadGroup(int ranks)
      : ranks(ranks), edges(std::size_t(ranks) * ranks), sleepers(ranks),
        cells(ranks) {}

  int size() const { return ranks; }

  /// Runs `body(rank)` on one thread per rank and waits for all of them. If
  /// some fail, rethrows the first exception that is not the echo of another
  /// rank's failure.
  template <class Body> void run(Body body) {
    std::vector<std::exception_ptr> thrown(ranks);
    {
      std::vector<std::jthread> threads;
      for (int rank = 0; rank != ranks; ++rank)
        threads.emplace_back([&, rank] {
          try {
            body(rank);
          } catch (...) {
            thrown[rank] = std::current_exception();
            fail("rank " + std::to_string(rank) + " ended with an exception");
          }
        });
    }
    rethrowCause(thrown);
  }

  /// Ends all ranks; the first message stays.
  void fail(const std::string &message) {
    {
      std::lock_guard lock(failureMutex);
      if (closed.load())
        return;
      failureText = message;
      closed.store(true);
    }
    // A thread that is copying holds the lock of its queue; after it, no copy
    // begins.
    for (Edge &edge : edges)
      std::lock_guard lock(edge.mutex);
    for (int rank = 0; rank != ranks; ++rank)
      wake(rank);
  }
  std::optional<std::string> failure() {
    if (!closed.load(std::memory_order_acquire))
      return std::nullopt;
    std::lock_guard lock(failureMutex);
    return failureText;
  }

private:
  friend class ThreadTransport;

  struct Request {
    Request *next = nullptr;
    Header header;
    const std::byte *source = nullptr;
    std::byte *target = nullptr;
    std::size_t size = 0;
    int owner = 0;
    std::atomic<bool> done{false};
  };
  struct Queue {
    Request *first = nullptr;
    Request *last = nullptr;
    void push(Request &request) {
      request.next = nullptr;
      (first ? last->next : first) = &request;
      last = &request;
    }
    Request &pop() {
      Request &request = *first;
      first = request.next;
      return request;
    }
  };
  struct alignas(64) Edge {
    std::mutex mutex;
    Queue sends;
    Queue receives;
  };
  struct alignas(64) Sleeper {
    std::mutex mutex;
    std::condition_variable condition;
    std::atomic<bool> asleep{false};
  };
  struct alignas(64) Cell {
    StatusCell status;
  };

  void post(int from, int to, Request &request, bool isSend) {
    Edge &edge = edges[std::size_t(from) * ranks + to];
    Request *partner = nullptr;
    {
      std::lock_guard lock(edge.mutex);
      if (closed.load(std::memory_order_relaxed))
        return;
      Queue &theirs = isSend ? edge.receives : edge.sends;
      if (!theirs.first) {
        (isSend ? edge.sends : edge.receives).push(request);
        return;
      }
      partner = &theirs.pop();
      Request &send = isSend ? request : *partner;
      Request &receive = isSend ? *partner : request;
      std::size_t size = std::min(send.size, receive.size);
      if (size)
        std::memcpy(receive.target, send.source, size);
      receive.header = send.header;
    }
    // Once done, the partner may reuse its request.
    int owner = partner->owner;
    request.done.store(true, std::memory_order_relaxed);
    partner->done.store(true, std::memory_order_seq_cst);
    if (sleepers[owner].asleep.load(std::memory_order_seq_cst))
      wake(owner);
  }

  void wake(int rank) {
    std::lock_guard lock(sleepers[rank].mutex);
    sleepers[rank].condition.notify_all();
  }

  int ranks;
  std::vector<Edge> edges;
  std::vector<Sleeper> sleepers;
  std::vector<Cell> cells;
  std::atomic<bool> closed{false};
  std::mutex failureMutex;
  std::string failureText;
};

/// The end of one rank; see Transport.h for the meaning of the functions.
class ThreadTransport {
public:
  using Request = ThreadGroup::Request;

  ThreadTransport(ThreadGroup &group, int rank) : group(group), own(rank) {}

  int rank() const { return own; }
  int size() const { return group.size(); }

  void isend(int peer, const Header &header, std::span<const std::byte> bytes,
             Request &request) {
    request.header = header;
    request.source = bytes.data();
    request.size = bytes.size();
    begin(request);
    group.post(own, peer, request, true);
  }
  void irecv(int peer, const Header &, std::span<std::byte> bytes,
             Request &request) {
    request.target = bytes.data();
    request.size = bytes.size();
    begin(request);
    group.post(peer, own, request, false);
  }

  bool test(Request &request) {
    return request.done.load(std::memory_order_acquire);
  }
  bool wait(Request &request, std::chrono::nanoseconds atMost) {
    for (int i = 0; i != 64; ++i)
      if (test(request))
        return true;
    for (int i = 0; i != 16; ++i) {
      std::this_thread::yield();
      if (test(request))
        return true;
    }
    ThreadGroup::Sleeper &sleeper = group.sleepers[own];
    std::unique_lock lock(sleeper.mutex);
    sleeper.asleep.store(true, std::memory_order_seq_cst);
    sleeper.condition.wait_for(lock, atMost, [&] {
      return request.done.load(std::memory_order_seq_cst) ||
             group.closed.load(std::memory_order_relaxed);
    });
    sleeper.asleep.store(false, std::memory_order_relaxed);
    return test(request);
  }
  Header header(const Request &request) const { return request.header; }

  StatusCell &statusCell() { return group.cells[own].status; }
  std::optional<StatusView> statusOf(int rank) const {
    const StatusCell &cell = group.cells[rank].status;
    return StatusView{RankState::unpack(cell.state.load()),
                      std::chrono::nanoseconds(cell.waited.load())};
  }
  void fail(const std::string &message) { group.fail(message); }
  std::optional<std::string> failure() { return group.failure(); }

private:
  void begin(Request &request) {
    request.owner = own;
    request.done.store(false, std::memory_order_relaxed);
  }

  ThreadGroup &group;
  int own;
};

} // namespace pipec::runtime

#endif // PIPEC_RUNTIME_THREADTRANSPORT_H
