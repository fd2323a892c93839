//===- Allocation.cpp - Counts what executors allocate ----------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "a.h"
#include "b.h"
#include "c.h"
#include "d.h"
#include "e.h"

#include <pipec/runtime/ThreadTransport.h>

#include <atomic>
#include <barrier>
#include <cstdio>
#include <cstdlib>
#include <new>

using namespace pipec::runtime;

static std::atomic<long> allocations = 0;

void *operator new(std::size_t size) {
  ++allocations;
  if (void *memory = std::malloc(size))
    return memory;
  throw std::bad_alloc();
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, std::size_t) noexcept { std::free(memory); }

namespace {

/// Does nothing, so that all allocations are the executor's.
struct EmptyModel {
  using Tensor = std::array<int, 4>;
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

/// The same for R, copies and UPDATE.
struct CopyingModel : EmptyModel {
  struct Copy {
    void wait() {}
  };
  Copy offload(int, int, int &) { return {}; }
  Copy reload(int, int, int &) { return {}; }
  void update(int) {}
};
/// The same with a stash.
struct StashingModel : CopyingModel {
  struct Stash {};
  using EmptyModel::forward;
  void forward(int, int, Tensor *, Tensor *, Stash &) {}
  void recompute(int, int, Stash &, int &) {}
};

template <class Model = EmptyModel>
using Worker = Executor<Model, ThreadTransport>;

template <class Model = EmptyModel>
void count(const Schedule &schedule,
           void (*run)(int rank, Worker<Model> &worker)) {
  ThreadGroup group(schedule.ranks);
  std::barrier together(schedule.ranks);
  std::atomic<long> before = 0, after = 0;
  long start = allocations;
  group.run([&](int rank) {
    Model model;
    model.numStages = schedule.stages;
    model.numMicrobatches = schedule.microbatches;
    ThreadTransport transport(group, rank);
    Worker<Model> worker(model, transport);
    for (int k = 0; k != 3; ++k)
      run(rank, worker);
    together.arrive_and_wait();
    if (rank == 0)
      before = allocations.load();
    together.arrive_and_wait();
    for (int k = 0; k != 200; ++k)
      run(rank, worker);
    together.arrive_and_wait();
    if (rank == 0)
      after = allocations.load();
    together.arrive_and_wait();
  });
  std::printf("%s: %ld allocations to begin with, %ld afterwards\n",
              schedule.name, before - start, after - before);
}

} // namespace

int main() {
  count(one_f_one_b::schedule, one_f_one_b::run<Worker<>>);
  count(zero_bubble::schedule, zero_bubble::run<Worker<>>);
  count(overlapped::schedule, overlapped::run<Worker<>>);
  count(waits_batched::schedule, waits_batched::run<Worker<>>);
  count<CopyingModel>(both::schedule, both::run<Worker<CopyingModel>>);
  count<StashingModel>(both::schedule, both::run<Worker<StashingModel>>);
}
