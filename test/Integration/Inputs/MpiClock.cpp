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
  long long offsets[2] = {clockOffset(MPI_COMM_WORLD)};

  // The clock of rank r is r hours ahead of the one of rank 0.
  ahead = rank * std::int64_t(3600) * 1000000000;
  auto clock = [] { return RankTrace::now() + ahead; };
  std::int64_t offset = clockOffset(MPI_COMM_WORLD, clock);
  offsets[1] = offset;

  // All record one moment between two barriers of the others' clocks.
  RankTrace trace;
  MPI_Barrier(MPI_COMM_WORLD);
  TraceRecord record = {{RankState::Running}, 0, clock(), 0};
  MPI_Barrier(MPI_COMM_WORLD);
  record.end = clock();
  trace.append(std::span(&record, 1));
  std::vector<RankTrace> all = gatherTraces(MPI_COMM_WORLD, trace, offset);

  std::vector<long long> found(std::size_t(2 * size));
  MPI_Gather(offsets, 2, MPI_LONG_LONG, found.data(), 2, MPI_LONG_LONG, 0,
             MPI_COMM_WORLD);
  for (int other = 0; other != int(all.size()); ++other) {
    auto seconds = [](std::int64_t time) { return double(time) * 1e-9; };
    const TraceRecord &own = all[0].all()[0];
    const TraceRecord &theirs = all[std::size_t(other)].all()[0];
    // The second barrier lies between everyone's start and everyone's end.
    bool together = theirs.start <= own.end && own.start <= theirs.end;
    std::printf("rank %d: %lld ns, %.0f s, %s\n", other,
                found[std::size_t(2 * other)],
                seconds(found[std::size_t(2 * other + 1)]),
                together ? "together" : "apart");
  }
  MPI_Finalize();
}
