//===- VirtualTime.h - Executors that run in virtual time -------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A model and a transport for ranks on threads, each with a clock of its own
// that compute steps and completed transfers set forward. What an executor
// waits for, and where, determines all times, whatever the threads do; so they
// are exactly those of the executor on a machine with these costs. The k-th
// transfer of an edge takes `hop` from when both ends have been posted and the
// one before it is complete.
//
//===----------------------------------------------------------------------===//

#include <pipec/runtime/Executor.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace virtualtime {

using namespace pipec::runtime;

struct Costs {
  long forward, backward, input, weight, hop;
};

/// The time of one rank, and the end of its last compute step.
struct Clock {
  long now = 0;
  long end = 0;
  void compute(long cost) { end = now += cost; }
};

struct Model {
  using Tensor = int;
  using Activation = int;

  const Costs &costs;
  Clock &clock;
  int numStages, numMicrobatches;

  int stages() const { return numStages; }
  int microbatches() const { return numMicrobatches; }
  void forward(int, int, Tensor *, Tensor *, int &) {
    clock.compute(costs.forward);
  }
  void backward(int, int, const Tensor *, Tensor *, int &) {
    clock.compute(costs.backward);
  }
  void backwardInput(int, int, const Tensor *, Tensor *, int &) {
    clock.compute(costs.input);
  }
  void backwardWeight(int, int, const Tensor *, int &) {
    clock.compute(costs.weight);
  }
  void prepareInput(int, int, Tensor &) {}
  void prepareGradient(int, int, Tensor &) {}
  std::span<std::byte> bytes(Tensor &tensor) {
    return std::as_writable_bytes(std::span(&tensor, 1));
  }
};

/// The transfers of one directed edge.
struct Edge {
  std::vector<long> sends, receives, ends;
  std::vector<Header> headers;
};

struct Network {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::pair<int, int>, Edge> edges;
};

class Transport {
public:
  struct Request {
    Edge *edge = nullptr;
    std::size_t number = 0;
  };

  Transport(Network &network, const Costs &costs, Clock &clock, int rank,
            int ranks)
      : network(network), costs(costs), clock(clock), own(rank), ranks(ranks) {}

  int rank() const { return own; }
  int size() const { return ranks; }

  void isend(int peer, const Header &header, std::span<const std::byte>,
             Request &request) {
    std::lock_guard lock(network.mutex);
    Edge &edge = network.edges[{own, peer}];
    request = {&edge, edge.sends.size()};
    edge.sends.push_back(clock.now);
    edge.headers.push_back(header);
    complete(edge);
  }
  void irecv(int peer, const Header &, std::span<std::byte>, Request &request) {
    std::lock_guard lock(network.mutex);
    Edge &edge = network.edges[{peer, own}];
    request = {&edge, edge.receives.size()};
    edge.receives.push_back(clock.now);
    complete(edge);
  }
  /// Polling takes no time, so nothing is ever found complete.
  bool test(Request &) { return false; }
  bool wait(Request &request, std::chrono::nanoseconds atMost) {
    std::unique_lock lock(network.mutex);
    if (!network.changed.wait_for(lock, atMost, [&] {
          return request.edge->ends.size() > request.number;
        }))
      return false;
    clock.now = std::max(clock.now, request.edge->ends[request.number]);
    return true;
  }
  Header header(Request &request) {
    std::lock_guard lock(network.mutex);
    return request.edge->headers[request.number];
  }

private:
  void complete(Edge &edge) {
    std::size_t next = edge.ends.size();
    if (next == edge.sends.size() || next == edge.receives.size())
      return;
    long start = std::max(edge.sends[next], edge.receives[next]);
    if (next != 0)
      start = std::max(start, edge.ends.back());
    edge.ends.push_back(start + costs.hop);
    network.changed.notify_all();
  }

  Network &network;
  const Costs &costs;
  Clock &clock;
  int own, ranks;
};

using Worker = Executor<Model, Transport>;

/// The makespan of one run, which starts at 0.
inline long makespan(const Schedule &schedule,
                     void (*run)(int rank, Worker &worker), const Costs &costs,
                     const Options &options) {
  Network network;
  std::vector<Clock> clocks(schedule.ranks);
  std::vector<std::exception_ptr> failures(schedule.ranks);
  std::vector<std::thread> threads;
  for (int rank = 0; rank != schedule.ranks; ++rank)
    threads.emplace_back([&, rank] {
      try {
        Model model{costs, clocks[rank], schedule.stages,
                    schedule.microbatches};
        Transport transport(network, costs, clocks[rank], rank, schedule.ranks);
        Worker worker(model, transport, options);
        run(rank, worker);
      } catch (...) {
        failures[rank] = std::current_exception();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::exception_ptr &failure : failures)
    if (failure)
      std::rethrow_exception(failure);
  long end = 0;
  for (const Clock &clock : clocks)
    end = std::max(end, clock.end);
  return end;
}

} // namespace virtualtime
