//===- Streams.cpp - A model whose streams run late -------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes only put their work into the queue of their stream, which runs at a
// random time, limited by nothing but the events that the executor waits for.
// The gradients must be those of the same model without a pipeline. With the
// argument `log` rank 0 prints what it is told and runs its work late; with
// `deaf` the waits of streams are ignored.
//
//===----------------------------------------------------------------------===//

#include <pipec/runtime/ThreadTransport.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <random>
#include <string>

using namespace pipec::runtime;

namespace {

constexpr int runs = 4;

std::uint64_t factorOf(int stage) { return 2 * std::uint64_t(stage) + 3; }
std::uint64_t inputOf(int microbatch) {
  return std::uint64_t(microbatch) * 77 + 5;
}

struct Chain {
  using Tensor = std::uint64_t;
  using Activation = std::uint64_t;
  /// What a stream has to have done.
  struct Event {
    int stream;
    std::size_t count;
  };

  std::vector<std::uint64_t> gradients =
      std::vector<std::uint64_t>(compiled::stages);
  std::uint64_t outputs = 0;
  int current = 0;
  bool deaf = false;
  bool logs = false;
  std::mt19937 random;

  struct Item {
    std::function<void()> run;
    Event after;
  };
  struct Queue {
    std::deque<Item> items;
    std::size_t started = 0;
    std::size_t done = 0;
  };
  std::vector<Queue> queues =
      std::vector<Queue>(compiled::schedule.streams.size() + 1);

  int stages() const { return compiled::stages; }
  int microbatches() const { return compiled::microbatches; }
  static const char *nameOf(int stream) {
    return stream < 0    ? "rank"
           : stream == 0 ? "compute"
                         : compiled::schedule.streams[std::size_t(stream - 1)];
  }

  void put(const char *name, int stage, int microbatch, Item item) {
    if (logs && *name)
      std::printf("%s s%d m%d\n", name, stage, microbatch);
    if (*name && compiled::schedule.streamOf(stage) != current)
      std::printf("WRONG: %s s%d on %s\n", name, stage, nameOf(current));
    add(current, std::move(item));
    while (!logs && random() % 3 != 0)
      step();
  }
  void add(int stream, Item item) {
    Queue &queue = queues[std::size_t(stream)];
    queue.items.push_back(std::move(item));
    ++queue.started;
  }
  bool isDone(Event event) const {
    return queues[std::size_t(event.stream)].done >= event.count;
  }
  /// Runs the next item of some stream, if it can run.
  void step() {
    Queue &queue = queues[random() % queues.size()];
    if (queue.items.empty() || !isDone(queue.items.front().after))
      return;
    queue.items.front().run();
    queue.items.pop_front();
    ++queue.done;
  }

  void onStream(int stream) {
    if (logs)
      std::printf("on %s\n", nameOf(stream));
    if (stream == current)
      std::printf("WRONG: on %s already\n", nameOf(stream));
    current = stream;
  }
  Event record(int stream) {
    return {stream, queues[std::size_t(stream)].started};
  }
  void wait(int stream, Event event) {
    if (logs)
      std::printf("%s waits for %s\n", nameOf(stream), nameOf(event.stream));
    if (stream < 0) {
      while (!isDone(event))
        step();
    } else if (!deaf) {
      add(stream, {[] {}, event});
    }
  }

  void forward(int stage, int microbatch, Tensor *input, Tensor *output,
               Activation &kept) {
    put("F", stage, microbatch,
        {[=, this, &kept] {
           kept = input ? *input : inputOf(microbatch);
           if (input)
             *input = 1; // so that a later use of it shows
           std::uint64_t result = kept * factorOf(stage) + 1;
           if (output)
             *output = result;
           else
             outputs += result;
         },
         {0, 0}});
  }
  void backward(int stage, int microbatch, const Tensor *outputGradient,
                Tensor *inputGradient, Activation &kept) {
    put("B", stage, microbatch,
        {[=, this, &kept] {
           inputPart(stage, outputGradient, inputGradient);
           weightPart(stage, outputGradient, kept);
         },
         {0, 0}});
  }
  void backwardInput(int stage, int microbatch, const Tensor *outputGradient,
                     Tensor *inputGradient, Activation &) {
    put("I", stage, microbatch,
        {[=, this] { inputPart(stage, outputGradient, inputGradient); },
         {0, 0}});
  }
  void backwardWeight(int stage, int microbatch, const Tensor *outputGradient,
                      Activation &kept) {
    put("W", stage, microbatch,
        {[=, this, &kept] { weightPart(stage, outputGradient, kept); },
         {0, 0}});
  }
  void inputPart(int stage, const Tensor *outputGradient, Tensor *result) {
    if (result)
      *result = (outputGradient ? *outputGradient : 1) * factorOf(stage);
  }
  void weightPart(int stage, const Tensor *outputGradient, Activation &kept) {
    gradients[std::size_t(stage)] +=
        (outputGradient ? *outputGradient : 1) * kept;
    kept = 1;
  }

  void prepareInput(int, int, Tensor &tensor) { tensor = 1; }
  void prepareGradient(int, int, Tensor &tensor) { tensor = 1; }
  std::span<std::byte> bytes(Tensor &tensor) {
    return std::as_writable_bytes(std::span(&tensor, 1));
  }
};

/// The number of values that differ from those of training without a pipeline.
int countWrong(const Chain &model, int rank) {
  std::vector<std::uint64_t> due(compiled::stages);
  std::uint64_t outputs = 0;
  for (int microbatch = 0; microbatch != compiled::microbatches; ++microbatch) {
    std::vector<std::uint64_t> values = {inputOf(microbatch)};
    for (int stage = 0; stage != compiled::stages; ++stage)
      values.push_back(values.back() * factorOf(stage) + 1);
    outputs += values.back();
    std::uint64_t gradient = 1;
    for (int stage = compiled::stages; stage-- != 0;) {
      due[std::size_t(stage)] += gradient * values[std::size_t(stage)];
      gradient *= factorOf(stage);
    }
  }
  int wrong = 0;
  for (int stage = 0; stage != compiled::stages; ++stage)
    if (!compiled::schedule.forwardOnly && compiled::rankOfStage[stage] == rank)
      wrong +=
          model.gradients[std::size_t(stage)] != due[std::size_t(stage)] * runs;
  if (compiled::rankOfStage[compiled::stages - 1] == rank)
    wrong += model.outputs != outputs * runs;
  return wrong;
}

} // namespace

int main(int argc, char **argv) {
  std::string mode = argc > 1 ? argv[1] : "";
  int tries = mode == "log" ? 1 : 100;
  std::atomic<int> wrong = 0;
  for (int seed = 0; seed != tries; ++seed) {
    ThreadGroup group(compiled::ranks);
    group.run([&](int rank) {
      Chain model;
      model.deaf = mode == "deaf";
      model.logs = mode == "log" && rank == 0;
      model.random.seed(unsigned(seed));
      ThreadTransport transport(group, rank);
      Executor worker(model, transport);
      for (int i = 0; i != runs; ++i) {
        compiled::run(rank, worker);
        model.logs = false;
        if (model.current != 0)
          std::printf("WRONG: a run ends on %s\n",
                      Chain::nameOf(model.current));
      }
      wrong += countWrong(model, rank);
    });
  }
  std::printf("%s: %s\n", compiled::schedule.name,
              wrong == 0 ? "as without a pipeline" : "DIFFERENT");
  return wrong != 0;
}
