//===- Threads.h - Training with ranks as threads ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef PIPEC_EXAMPLES_LIBTORCH_THREADS_H
#define PIPEC_EXAMPLES_LIBTORCH_THREADS_H

#include "Model.h"

#include <pipec/runtime/Executor.h>
#include <pipec/runtime/ThreadTransport.h>

// Compiled once, in Threads.cpp.
extern template class pipec::runtime::Executor<train::Model,
                                               pipec::runtime::ThreadTransport>;

namespace train {

using ThreadWorker =
    pipec::runtime::Executor<Model, pipec::runtime::ThreadTransport>;

/// The program: trains with the executor `run` of `schedule`, compares every
/// step with an unpipelined run and prints both. Returns the exit status, 0
/// only when losses and gradients are equal.
int trainOnThreads(int argc, char **argv,
                   const pipec::runtime::Schedule &schedule,
                   void (*run)(int rank, ThreadWorker &worker));

} // namespace train

#endif // PIPEC_EXAMPLES_LIBTORCH_THREADS_H
