//===- Threads.cpp - Training with ranks as threads -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Threads.h"

#include "Report.h"

#include <algorithm>
#include <cmath>
#include <deque>

using namespace pipec::runtime;

template class pipec::runtime::Executor<train::Model, ThreadTransport>;

namespace train {

static int train(int steps, const Schedule &schedule,
                 void (*run)(int rank, ThreadWorker &worker)) {
  Config config = configOf(schedule);
  Reference reference(config);
  printHeading(schedule, "threads", reference);

  ThreadGroup group(schedule.ranks);
  std::deque<Model> models;
  std::deque<ThreadTransport> transports;
  std::deque<ThreadWorker> workers;
  for (int rank = 0; rank != schedule.ranks; ++rank) {
    models.emplace_back(config, schedule.stagesOf(rank));
    transports.emplace_back(group, rank);
    workers.emplace_back(models.back(), transports.back());
  }

  double lossDifference = 0, gradientDifference = 0;
  for (int step = 1; step <= steps; ++step) {
    reference.run(step);
    for (Model &model : models)
      model.beginStep(step);
    group.run([&](int rank) { run(rank, workers[std::size_t(rank)]); });

    double loss = 0;
    for (const Model &model : models) {
      loss += model.loss();
      if (!schedule.forwardOnly)
        gradientDifference =
            std::max(gradientDifference, reference.difference(model));
    }
    lossDifference =
        std::max(lossDifference, std::abs(loss - reference.loss()));
    printStep(step, loss, reference.loss());
    if (schedule.forwardOnly)
      continue;
    reference.update();
    for (Model &model : models)
      model.update();
  }
  for (int rank = 0; rank != schedule.ranks; ++rank) {
    Statistics statistics = workers[std::size_t(rank)].statistics();
    std::printf("rank %d: peak %d activations, %d received tensors\n", rank,
                statistics.peakActivations, statistics.peakReceived);
  }
  return printVerdict(lossDifference, gradientDifference) ? 0 : 1;
}

int trainOnThreads(int argc, char **argv, const Schedule &schedule,
                   void (*run)(int rank, ThreadWorker &worker)) {
  int steps = stepsOf(argc, argv);
  if (steps < 1) {
    std::fprintf(stderr, "usage: %s [--steps N]\n", argv[0]);
    return 2;
  }
  try {
    return train(steps, schedule, run);
  } catch (const std::exception &error) {
    std::fflush(stdout);
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}

} // namespace train
