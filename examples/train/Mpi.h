//===- Mpi.h - Training with ranks as MPI processes -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef PIPEC_EXAMPLES_TRAIN_MPI_H
#define PIPEC_EXAMPLES_TRAIN_MPI_H

#include "Model.h"

#include <pipec/runtime/Executor.h>
#include <pipec/runtime/MpiTransport.h>

// Compiled once, in Mpi.cpp.
extern template class pipec::runtime::Executor<train::Model,
                                               pipec::runtime::MpiTransport>;

namespace train {

using MpiWorker = pipec::runtime::Executor<Model, pipec::runtime::MpiTransport>;

/// As `trainOnThreads`, for one process of a job that has as many processes as
/// the schedule has ranks, times the copies; process `c * ranks + r` is rank r
/// of copy c. The first process prints. MPI is initialised before.
int trainOnMpi(int argc, char **argv, const pipec::runtime::Schedule &schedule,
               void (*run)(int rank, MpiWorker &worker));

} // namespace train

#endif // PIPEC_EXAMPLES_TRAIN_MPI_H
