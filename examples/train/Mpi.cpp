//===- Mpi.cpp - Training with ranks as MPI processes -----*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Mpi.h"

#include "Compare.h"

#include <cstdio>
#include <fstream>
#include <memory>
#include <type_traits>

using namespace pipec::runtime;

template class pipec::runtime::Executor<train::Model, MpiTransport>;

namespace train {

namespace {

/// The difference that all ranks together found.
Difference ofAllRanks(const Difference &own) {
  double values[4] = {own.loss, own.gradient, own.exactGradient,
                      own.allExact ? 0.0 : 1.0};
  MPI_Allreduce(MPI_IN_PLACE, values, 4, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return {values[0], values[1], values[2], values[3] == 0};
}

/// Rank 0 writes the time stamps of all.
void writeTrace(const std::string &path, const Schedule &schedule,
                const RankTrace &own, int rank) {
  static_assert(std::is_trivially_copyable_v<TraceRecord>);
  int bytes = int(own.all().size_bytes());
  if (rank != 0) {
    MPI_Send(own.all().data(), bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    return;
  }
  std::vector<std::unique_ptr<RankTrace>> others;
  std::vector<const RankTrace *> all = {&own};
  for (int other = 1; other != schedule.ranks; ++other) {
    MPI_Status status;
    MPI_Probe(other, 1, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    std::vector<TraceRecord> records(std::size_t(bytes) / sizeof(TraceRecord));
    MPI_Recv(records.data(), bytes, MPI_BYTE, other, 1, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    others.push_back(std::make_unique<RankTrace>());
    others.back()->append(records);
    all.push_back(others.back().get());
  }
  std::ofstream file(path);
  writeChromeTrace(file, schedule, all);
}

} // namespace

int trainOnMpi(int argc, char **argv, const Schedule &schedule,
               void (*run)(int rank, MpiWorker &worker)) {
  Arguments arguments = parseArguments(argc, argv);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != schedule.ranks) {
    if (rank == 0)
      std::fprintf(stderr, "error: %s has %d ranks, and the job %d processes\n",
                   schedule.name, schedule.ranks, size);
    return 1;
  }

  Config config;
  config.stages = schedule.stages;
  config.microbatches = schedule.microbatches;
  Reference reference(config);
  if (rank == 0)
    std::printf("%s: %d ranks as MPI processes, %d stages, %d micro-batches of "
                "%d points, %zu parameters\n",
                schedule.name, schedule.ranks, schedule.stages,
                schedule.microbatches, config.batch, reference.numParameters());

  std::vector<int> own;
  for (int stage = 0; stage != schedule.stages; ++stage)
    if (schedule.microbatchesOf(stage, rank) > 0)
      own.push_back(stage);
  Model model(config, own);
  MpiTransport transport(MPI_COMM_WORLD);
  RankTrace trace;
  Options options;
  options.blocking = arguments.blocking;
  options.patience =
      std::chrono::nanoseconds(std::int64_t(arguments.patience * 1e9));
  if (!arguments.trace.empty())
    options.trace = &trace;
  MpiWorker worker(model, transport, options);

  Difference total;
  for (int step = 1; step <= arguments.steps; ++step) {
    reference.run(step, schedule.forwardOnly);
    model.beginStep(step);
    run(rank, worker); // a failure ends the job here
    total.merge(ofAllRanks(
        reference.compare(model, schedule.forwardOnly, total.allExact)));
    double loss = model.holds(schedule.stages - 1) ? model.loss() : 0;
    MPI_Allreduce(MPI_IN_PLACE, &loss, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
      std::printf("step %d: loss %.15f, unpipelined %.15f\n", step, loss,
                  reference.loss());
    if (schedule.forwardOnly)
      continue;
    reference.update();
    model.update();
  }

  Statistics statistics = worker.statistics();
  int counts[2] = {statistics.peakActivations, statistics.peakReceived};
  std::vector<int> all(std::size_t(2 * size));
  MPI_Gather(counts, 2, MPI_INT, all.data(), 2, MPI_INT, 0, MPI_COMM_WORLD);
  if (!arguments.trace.empty())
    writeTrace(arguments.trace, schedule, trace, rank);
  if (rank != 0)
    return total.isEqual() ? 0 : 1;
  for (int other = 0; other != size; ++other)
    std::printf("rank %d: peak %d activations, %d received tensors\n", other,
                all[std::size_t(2 * other)], all[std::size_t(2 * other + 1)]);
  bool equal = printVerdict(total, schedule.forwardOnly);
  std::fflush(stdout);
  return equal ? 0 : 1;
}

} // namespace train
