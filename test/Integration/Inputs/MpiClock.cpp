//===- MpiClock.cpp - Clocks that began at other times ----------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <pipec/runtime/MpiTrace.h>

#include <cstdio>

using namespace pipec::runtime;

static std::int64_t ahead = 0;

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);

  // One machine, one clock.
  ClockOffset same = clockOffset(MPI_COMM_WORLD);

  // The clock of rank r is r hours ahead of the one of rank 0.
  ahead = rank * std::int64_t(3600) * 1000000000;
  auto clock = [] { return RankTrace::now() + ahead; };
  ClockOffset offset = clockOffset(MPI_COMM_WORLD, clock);

  // All record one moment between two barriers of the others' clocks.
  RankTrace trace;
  MPI_Barrier(MPI_COMM_WORLD);
  TraceRecord record = {{RankState::Running}, 0, -1, clock(), 0};
  MPI_Barrier(MPI_COMM_WORLD);
  record.end = clock();
  trace.append(std::span(&record, 1));
  std::vector<RankTrace> all = gatherTraces(MPI_COMM_WORLD, trace, offset);

  constexpr int values = 3;
  long long own[values] = {same.nanoseconds, offset.nanoseconds,
                           offset.uncertainty};
  std::vector<long long> found(std::size_t(values * size));
  MPI_Gather(own, values, MPI_LONG_LONG, found.data(), values, MPI_LONG_LONG, 0,
             MPI_COMM_WORLD);
  for (int other = 0; other != int(all.size()); ++other) {
    const long long *theirs = &found[std::size_t(values * other)];
    long long hours = other * 3600 * 1000000000LL;
    // A busy machine makes the uncertainty large, and never the error larger.
    long long uncertainty = theirs[2], error = std::llabs(theirs[1] + hours);
    const TraceRecord &first = all[0].all()[0];
    const TraceRecord &record = all[std::size_t(other)].all()[0];
    // The second barrier lies between everyone's start and everyone's end.
    bool together = record.start <= first.end + uncertainty &&
                    first.start <= record.end + uncertainty;
    std::printf("rank %d: %lld ns, %.0f s, %s, %s\n", other, theirs[0],
                double(theirs[1]) * 1e-9,
                error <= uncertainty ? "right" : "wrong",
                together ? "together" : "apart");
  }
  MPI_Finalize();
}
