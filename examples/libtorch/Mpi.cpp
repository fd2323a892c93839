//===- Mpi.cpp - Training with ranks as MPI processes ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Mpi.h"

#include "Report.h"

#include <algorithm>
#include <cmath>

using namespace pipec::runtime;

template class pipec::runtime::Executor<train::Model, MpiTransport>;

namespace train {

int trainOnMpi(int argc, char **argv, const Schedule &schedule,
               void (*run)(int rank, MpiWorker &worker)) {
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int steps = stepsOf(argc, argv);
  if (steps < 1 || size != schedule.ranks) {
    if (rank == 0 && steps < 1)
      std::fprintf(stderr, "usage: %s [--steps N]\n", argv[0]);
    else if (rank == 0)
      std::fprintf(stderr, "error: %s has %d ranks, and the job %d processes\n",
                   schedule.name, schedule.ranks, size);
    return 2;
  }

  Config config = configOf(schedule);
  Reference reference(config);
  if (rank == 0)
    printHeading(schedule, "MPI processes", reference);
  Model model(config, schedule.stagesOf(rank));
  MpiTransport transport(MPI_COMM_WORLD);
  MpiWorker worker(model, transport);

  double lossDifference = 0, gradientDifference = 0;
  for (int step = 1; step <= steps; ++step) {
    reference.run(step);
    model.beginStep(step);
    run(rank, worker); // a failure ends the job here

    double loss = model.loss();
    MPI_Allreduce(MPI_IN_PLACE, &loss, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    lossDifference =
        std::max(lossDifference, std::abs(loss - reference.loss()));
    if (rank == 0)
      printStep(step, loss, reference.loss());
    if (schedule.forwardOnly)
      continue;
    gradientDifference =
        std::max(gradientDifference, reference.difference(model));
    reference.update();
    model.update();
  }
  MPI_Allreduce(MPI_IN_PLACE, &gradientDifference, 1, MPI_DOUBLE, MPI_MAX,
                MPI_COMM_WORLD);

  Statistics statistics = worker.statistics();
  int counts[2] = {statistics.peakActivations, statistics.peakReceived};
  std::vector<int> all(std::size_t(2 * size), 0);
  MPI_Gather(counts, 2, MPI_INT, all.data(), 2, MPI_INT, 0, MPI_COMM_WORLD);
  bool equal = lossDifference <= allowedRounding &&
               gradientDifference <= allowedRounding;
  if (rank == 0) {
    for (int other = 0; other != size; ++other)
      std::printf("rank %d: peak %d activations, %d received tensors\n", other,
                  all[std::size_t(2 * other)], all[std::size_t(2 * other + 1)]);
    equal = printVerdict(lossDifference, gradientDifference);
    std::fflush(stdout);
  }
  return equal ? 0 : 1;
}

} // namespace train
