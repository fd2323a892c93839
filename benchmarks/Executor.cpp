//===- Executor.cpp - Time of an executor per step ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cost of an executor without the model and the transport: the model here
// does nothing. Each figure is from one run of the benchmark, in nanoseconds;
// Google Benchmark repeats it nine times and reports the median. Runs with one
// rank are measured by CPU time, runs with two ranks by wall-clock time, so
// they need two idle cores.
//
//   OneRank        1F1B and its split form on one rank: per compute step
//   Transfers      rank 0 of two with a transport on which everything completes
//                  immediately: per transfer, in addition to the compute steps
//   TwoRanks       1F1B on two threads: per transfer and its compute step, for
//                  the executor and for a hand-written loop on the same
//                  transport, in 400 short turns that are rarely interrupted:
//                  the medians, and the ratio of the two
//
// `allocations` is the number of heap allocations during the measurement.
//
//===----------------------------------------------------------------------===//

#include "alone.h"
#include "alone_table.h"
#include "pair.h"
#include "split.h"

#include <pipec/runtime/ThreadTransport.h>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstdlib>
#include <ctime>
#include <new>

using namespace pipec::runtime;

static std::atomic<long> allocations = 0;

// Not inlined, because GCC 12 then warns about mismatched new and delete.
[[gnu::noinline]] void *operator new(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void *memory = std::malloc(size))
    return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void *memory) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete(void *memory, std::size_t) noexcept {
  std::free(memory);
}

namespace {

using Clock = std::chrono::steady_clock;

double nanosecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

/// The CPU time of this thread in nanoseconds, which excludes other programs on
/// the machine.
double ownTime() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) * 1e9 + double(time.tv_nsec);
}

double median(std::vector<double> values) {
  auto middle = values.begin() + std::ptrdiff_t(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

using Tensor = std::array<float, 16>;

struct EmptyModel {
  using Tensor = ::Tensor;
  using Activation = int;
  int numStages, numMicrobatches;
  int stages() const { return numStages; }
  int microbatches() const { return numMicrobatches; }
  void forward(int, int, Tensor *, Tensor *, int &) {}
  void backward(int, int, const Tensor *, Tensor *, int &) {}
  void backwardInput(int, int, const Tensor *, Tensor *, int &) {}
  void backwardWeight(int, int, const Tensor *, int &) {}
  void prepareInput(int, int, Tensor &) {}
  void prepareGradient(int, int, Tensor &) {}
  std::span<std::byte> bytes(Tensor &tensor) {
    return std::as_writable_bytes(std::span(tensor));
  }
};

/// Everything completes immediately, and every received tensor is the expected
/// one.
class InstantTransport {
public:
  struct Request {
    Header header;
  };
  explicit InstantTransport(int ranks) : ranks(ranks) {}
  int rank() const { return 0; }
  int size() const { return ranks; }
  void isend(int, const Header &, std::span<const std::byte>, Request &) {}
  void irecv(int, const Header &expected, std::span<std::byte>,
             Request &request) {
    request.header = expected;
  }
  bool test(Request &) { return true; }
  bool wait(Request &, std::chrono::nanoseconds) { return true; }
  Header header(const Request &request) const { return request.header; }

private:
  int ranks;
};

using InstantWorker = Executor<EmptyModel, InstantTransport>;
using ThreadWorker = Executor<EmptyModel, ThreadTransport>;

/// The time of one run on rank 0 in nanoseconds, and its allocations.
struct Measured {
  double time = 0;
  double allocations = 0;
};

template <class Rounds>
Measured measure(const Schedule &schedule,
                 void (*run)(int rank, InstantWorker &worker), Rounds rounds) {
  EmptyModel model{schedule.stages, schedule.microbatches};
  InstantTransport transport(schedule.ranks);
  InstantWorker worker(model, transport);
  for (int k = 0; k != 3; ++k)
    run(0, worker);
  long before = allocations;
  double start = ownTime();
  double count = rounds([&] { run(0, worker); });
  double time = ownTime() - start;
  return {time / count, double(allocations - before)};
}

auto roundsOf(benchmark::State &state) {
  return [&](auto &&run) {
    for (auto _ : state)
      run();
    return double(state.iterations());
  };
}

void OneRank(benchmark::State &state, const Schedule &schedule,
             int stepsPerMicrobatch,
             void (*run)(int rank, InstantWorker &worker)) {
  Measured measured = measure(schedule, run, roundsOf(state));
  state.counters["ns/compute"] =
      measured.time / (stepsPerMicrobatch * schedule.microbatches);
  state.counters["allocations"] = measured.allocations;
}

void Transfers(benchmark::State &state) {
  static_assert(pair::microbatches == alone::microbatches);
  // The compute steps alone.
  Measured computes =
      measure(alone::schedule, alone::run<InstantWorker>, [](auto &&run) {
        constexpr int count = 2000;
        for (int k = 0; k != count; ++k)
          run();
        return double(count);
      });
  Measured both =
      measure(pair::schedule, pair::run<InstantWorker>, roundsOf(state));
  state.counters["ns/transfer"] =
      (both.time - computes.time) / (2 * pair::microbatches);
  state.counters["allocations"] = both.allocations;
}

//===----------------------------------------------------------------------===//
// Two ranks
//===----------------------------------------------------------------------===//

/// A hand-written loop for 1F1B on two ranks with this transport: it waits for
/// receives when their data is needed, and for sends when their buffer is. No
/// bookkeeping and no checks; one buffer and one request per micro-batch and
/// direction.
class ByHand {
public:
  static constexpr int m = pair::microbatches;

  explicit ByHand(ThreadTransport &transport)
      : transport(transport), outputs(m), gradients(m), sends(m), receives(m) {}

  void run(int rank) {
    if (rank == 0)
      first();
    else
      last();
    for (ThreadTransport::Request &request : sends)
      await(request);
  }

private:
  void first() {
    forward(0);
    send(StepKind::SendForward, 0, outputs);
    for (int i = 0; i != m - 1; ++i) {
      forward(i + 1);
      send(StepKind::SendForward, i + 1, outputs);
      recv(StepKind::RecvBackward, i, gradients);
      await(receives[std::size_t(i)]);
      backward(i);
    }
    recv(StepKind::RecvBackward, m - 1, gradients);
    await(receives[m - 1]);
    backward(m - 1);
  }
  void last() {
    for (int i = 0; i != m; ++i) {
      recv(StepKind::RecvForward, i, outputs);
      await(receives[std::size_t(i)]);
      forward(i);
      backward(i);
      send(StepKind::SendBackward, i, gradients);
    }
  }

  void forward(int i) { benchmark::DoNotOptimize(outputs[std::size_t(i)]); }
  void backward(int i) { benchmark::DoNotOptimize(gradients[std::size_t(i)]); }
  void send(StepKind kind, int i, std::vector<Tensor> &from) {
    std::span<Tensor, 1> tensor(&from[std::size_t(i)], 1);
    transport.isend(1 - transport.rank(), {kind, 0, i, 0, sizeof(Tensor)},
                    std::as_bytes(tensor), sends[std::size_t(i)]);
  }
  void recv(StepKind kind, int i, std::vector<Tensor> &into) {
    std::span<Tensor, 1> tensor(&into[std::size_t(i)], 1);
    transport.irecv(1 - transport.rank(), {kind, 0, i, 0, sizeof(Tensor)},
                    std::as_writable_bytes(tensor), receives[std::size_t(i)]);
  }
  void await(ThreadTransport::Request &request) {
    while (!transport.test(request) &&
           !transport.wait(request, std::chrono::milliseconds(20)))
      ;
  }

  ThreadTransport &transport;
  std::vector<Tensor> outputs, gradients;
  std::vector<ThreadTransport::Request> sends, receives;
};

void TwoRanks(benchmark::State &state) {
  constexpr double transfers = 2 * pair::microbatches;
  ThreadGroup group(2);
  // The second rank takes part in every round.
  std::barrier together(2);
  std::atomic<bool> goOn = true;
  std::vector<double> executor, byHand;
  executor.reserve(std::size_t(state.max_iterations) + 1);
  byHand.reserve(executor.capacity());
  long asked = 0;

  group.run([&](int rank) {
    EmptyModel model{pair::stages, pair::microbatches};
    ThreadTransport transport(group, rank);
    ThreadWorker worker(model, transport);
    ByHand hand(transport);
    auto timed = [&](auto &&run) {
      together.arrive_and_wait();
      long before = allocations;
      Clock::time_point start = Clock::now();
      run();
      together.arrive_and_wait();
      if (rank == 0)
        asked += allocations - before;
      return nanosecondsSince(start);
    };
    auto round = [&] {
      double first = timed([&] { pair::run(rank, worker); });
      double second = timed([&] { hand.run(rank); });
      if (rank == 0) {
        executor.push_back(first / transfers);
        byHand.push_back(second / transfers);
      }
    };
    round();
    if (rank == 0) {
      executor.clear();
      byHand.clear();
      asked = 0;
      for (auto _ : state) {
        together.arrive_and_wait();
        round();
      }
      goOn = false;
      together.arrive_and_wait();
    } else {
      while (together.arrive_and_wait(), goOn.load())
        round();
    }
  });
  state.counters["ns/transfer"] = median(executor);
  state.counters["by_hand"] = median(byHand);
  state.counters["ratio"] = median(executor) / median(byHand);
  state.counters["allocations"] = double(asked);
}

constexpr int repetitions = 9;

BENCHMARK_CAPTURE(OneRank, loops, alone::schedule, 2, alone::run<InstantWorker>)
    ->Repetitions(repetitions)
    ->ReportAggregatesOnly();
BENCHMARK_CAPTURE(OneRank, table, alone_table::schedule, 2,
                  alone_table::run<InstantWorker>)
    ->Repetitions(repetitions)
    ->ReportAggregatesOnly();
BENCHMARK_CAPTURE(OneRank, split, split::schedule, 3, split::run<InstantWorker>)
    ->Repetitions(repetitions)
    ->ReportAggregatesOnly();
BENCHMARK(Transfers)->Repetitions(repetitions)->ReportAggregatesOnly();
BENCHMARK(TwoRanks)
    ->Iterations(400)
    ->UseRealTime()
    ->Repetitions(repetitions)
    ->ReportAggregatesOnly();

} // namespace

BENCHMARK_MAIN();
