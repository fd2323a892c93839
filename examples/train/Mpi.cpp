//===- Mpi.cpp - Training with ranks as MPI processes ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Mpi.h"

#include "Compare.h"
#include "MpiShards.h"

#include <pipec/runtime/MpiTrace.h>

#include <cstdio>
#include <fstream>
#include <stdexcept>

using namespace pipec::runtime;

template class pipec::runtime::Executor<train::Model, MpiTransport>;

namespace train {

namespace {

/// The difference that all ranks together found.
Difference ofAllRanks(const Difference &own) {
  double values[5] = {own.loss, own.gradient, own.exactGradient, own.parameter,
                      own.allExact ? 0.0 : 1.0};
  MPI_Allreduce(MPI_IN_PLACE, values, 5, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return {values[0], values[1], values[2], values[3], values[4] == 0};
}

/// A communicator of those processes of the job that give the same `color`, in
/// the order of `key`.
class Group {
public:
  Group(int color, int key) {
    MPI_Comm_split(MPI_COMM_WORLD, color, key, &comm);
  }
  ~Group() { MPI_Comm_free(&comm); }
  Group(const Group &) = delete;
  Group &operator=(const Group &) = delete;
  operator MPI_Comm() const { return comm; }

private:
  MPI_Comm comm = MPI_COMM_NULL;
};

/// The first process writes the time stamps of its copy.
void writeTrace(const std::string &path, const Schedule &schedule,
                const RankTrace &own, MPI_Comm pipeline, ClockOffset offset,
                bool isFirst) {
  std::vector<RankTrace> all = gatherTraces(pipeline, own, offset);
  if (!isFirst)
    return;
  std::ofstream file(path);
  writeChromeTrace(file, schedule, all);
  if (!file.flush())
    throw std::runtime_error("cannot write " + path);
}

int train(const Arguments &arguments, const Schedule &schedule,
          void (*run)(int rank, MpiWorker &worker)) {
  int process = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &process);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  bool isFirst = process == 0;
  checkCopies(arguments.copies, schedule);
  if (size != schedule.ranks * arguments.copies) {
    std::string ranks = std::to_string(schedule.ranks) + " ranks";
    if (arguments.copies > 1)
      ranks += " in " + std::to_string(arguments.copies) + " copies";
    throw std::runtime_error(std::string(schedule.name) + " has " + ranks +
                             ", and the job " + std::to_string(size) +
                             " processes");
  }
  int rank = process % schedule.ranks, copy = process / schedule.ranks;
  Group pipeline(copy, rank), copiesOfRank(rank, copy);

  Config config = configOf(schedule);
  config.microbatches = schedule.microbatches * arguments.copies;
  Reference reference(config);
  config.microbatches = schedule.microbatches;
  config.copies = arguments.copies;
  config.copy = copy;
  if (isFirst)
    std::printf("%s: %d ranks as MPI processes, %s, %zu parameters%s\n",
                schedule.name, schedule.ranks, sizesText(config).c_str(),
                reference.numParameters(),
                copiesText(arguments.copies).c_str());

  Model model(config, schedule.stagesOf(rank));
  MpiShards shards(copiesOfRank);
  if (schedule.reducesGradients)
    model.shardOver(shards, schedule.sharded);
  MpiTransport transport(MPI_COMM_WORLD, copy);
  RankTrace trace;
  ClockOffset offset = clockOffset(pipeline);
  Options options;
  options.blocking = arguments.blocking;
  options.blockingReceives = arguments.blockingReceives;
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
    model.finishStep();
    total.merge(ofAllRanks(
        reference.compare(model, schedule.forwardOnly, total.allExact)));
    double loss = model.holds(schedule.stages - 1) ? model.loss() : 0;
    MPI_Allreduce(MPI_IN_PLACE, &loss, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (isFirst)
      std::printf("step %d: loss %.15f, unpipelined %.15f\n", step, loss,
                  reference.loss());
    if (schedule.forwardOnly)
      continue;
    reference.update();
    model.update();
    if (schedule.updates)
      total.merge(ofAllRanks(reference.compareParameters(model)));
  }

  Statistics statistics = worker.statistics();
  checkKept(model, schedule, rank, statistics.peakActivations);
  int counts[3] = {statistics.peakActivations, statistics.peakReceived,
                   statistics.peakSends};
  std::vector<int> all(std::size_t(3 * schedule.ranks));
  MPI_Gather(counts, 3, MPI_INT, all.data(), 3, MPI_INT, 0, pipeline);
  if (!arguments.trace.empty())
    writeTrace(arguments.trace, schedule, trace, pipeline, offset, isFirst);
  if (!isFirst)
    return total.isEqual() ? 0 : 1;
  for (int other = 0; other != schedule.ranks; ++other) {
    const int *peaks = &all[std::size_t(3 * other)];
    printPeaks(other, schedule, peaks[0], peaks[1], peaks[2]);
  }
  return printVerdict(total, schedule) ? 0 : 1;
}

} // namespace

int trainOnMpi(int argc, char **argv, const Schedule &schedule,
               void (*run)(int rank, MpiWorker &worker)) {
  int process = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &process);
  Arguments arguments = parseArguments(argc, argv, process == 0);
  int status = 1;
  try {
    status = train(arguments, schedule, run);
  } catch (const std::exception &error) {
    // All processes come here together: one that fails in a run has ended the
    // job.
    if (process == 0)
      std::fprintf(stderr, "error: %s\n", error.what());
  }
  std::fflush(stdout);
  return status;
}

} // namespace train
