//===- Threads.cpp - Training with ranks as threads -----*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Threads.h"

#include "Compare.h"

#include <cstdio>
#include <fstream>
#include <memory>

using namespace pipec::runtime;

template class pipec::runtime::Executor<train::Model, ThreadTransport>;

namespace train {

namespace {

/// The stages that a rank holds.
std::vector<int> stagesOf(const Schedule &schedule, int rank) {
  std::vector<int> stages;
  for (int stage = 0; stage != schedule.stages; ++stage)
    if (schedule.microbatchesOf(stage, rank) > 0)
      stages.push_back(stage);
  return stages;
}

int train(const Arguments &arguments, const Schedule &schedule,
          void (*run)(int rank, ThreadWorker &worker)) {
  Config config;
  config.stages = schedule.stages;
  config.microbatches = schedule.microbatches;
  Reference reference(config);
  std::printf("%s: %d ranks as threads, %d stages, %d micro-batches of %d "
              "points, %zu parameters\n",
              schedule.name, schedule.ranks, schedule.stages,
              schedule.microbatches, config.batch, reference.numParameters());

  ThreadGroup group(schedule.ranks);
  std::vector<std::unique_ptr<Model>> models;
  std::vector<std::unique_ptr<ThreadTransport>> transports;
  std::vector<std::unique_ptr<ThreadWorker>> workers;
  std::vector<RankTrace> traces(std::size_t(schedule.ranks));
  for (int rank = 0; rank != schedule.ranks; ++rank) {
    Options options;
    options.blocking = arguments.blocking;
    options.patience =
        std::chrono::nanoseconds(std::int64_t(arguments.patience * 1e9));
    if (!arguments.trace.empty())
      options.trace = &traces[std::size_t(rank)];
    models.push_back(std::make_unique<Model>(config, stagesOf(schedule, rank)));
    transports.push_back(std::make_unique<ThreadTransport>(group, rank));
    workers.push_back(std::make_unique<ThreadWorker>(
        *models.back(), *transports.back(), options));
  }

  Difference total;
  for (int step = 1; step <= arguments.steps; ++step) {
    reference.run(step, schedule.forwardOnly);
    group.run([&](int rank) {
      models[std::size_t(rank)]->beginStep(step);
      run(rank, *workers[std::size_t(rank)]);
    });
    double loss = 0;
    Difference here;
    for (const std::unique_ptr<Model> &model : models) {
      here.merge(
          reference.compare(*model, schedule.forwardOnly, total.allExact));
      if (model->holds(schedule.stages - 1))
        loss += model->loss();
    }
    total.merge(here);
    std::printf("step %d: loss %.15f, unpipelined %.15f\n", step, loss,
                reference.loss());
    if (schedule.forwardOnly)
      continue;
    reference.update();
    for (const std::unique_ptr<Model> &model : models)
      model->update();
  }

  for (int rank = 0; rank != schedule.ranks; ++rank) {
    Statistics statistics = workers[std::size_t(rank)]->statistics();
    std::printf("rank %d: peak %d activations, %d received tensors\n", rank,
                statistics.peakActivations, statistics.peakReceived);
  }
  if (!arguments.trace.empty()) {
    std::vector<const RankTrace *> all;
    for (const RankTrace &trace : traces)
      all.push_back(&trace);
    std::ofstream file(arguments.trace);
    writeChromeTrace(file, schedule, all);
  }
  return printVerdict(total, schedule.forwardOnly) ? 0 : 1;
}

} // namespace

int trainOnThreads(int argc, char **argv, const Schedule &schedule,
                   void (*run)(int rank, ThreadWorker &worker)) {
  Arguments arguments = parseArguments(argc, argv);
  try {
    return train(arguments, schedule, run);
  } catch (const std::exception &error) {
    std::fflush(stdout);
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}

} // namespace train
