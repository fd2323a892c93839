//===- MpiTrace.h - Time stamps of ranks that are processes -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   ClockOffset offset = clockOffset(comm);            // at the start
//   ... runs that record into `trace` ...
//   std::vector<RankTrace> all = gatherTraces(comm, trace, offset);
//   if (rank == 0)
//     writeChromeTrace(file, schedule, all);
//
// Ranks on one machine read one clock. Ranks on other machines have a clock
// that began at another time; its offset is found as in Cristian,
// "Probabilistic clock synchronization" (1989): a rank asks rank 0 for its
// time, and assumes that rank 0 read it in the middle between question and
// answer. The fastest of some rounds counts; half of its time is the
// uncertainty.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_RUNTIME_MPITRACE_H
#define PIPEC_RUNTIME_MPITRACE_H

#include "pipec/runtime/MpiTransport.h"
#include "pipec/runtime/Trace.h"

#include <cstdlib>
#include <type_traits>
#include <vector>

namespace pipec::runtime {

/// The difference to add to this rank's clock for the time of rank 0.
struct ClockOffset {
  std::int64_t nanoseconds = 0;
  /// How far `nanoseconds` can be from the truth: half of the time that the
  /// fastest question took, much on machines that have other work.
  std::int64_t uncertainty = 0;
};

/// The offset of this rank's clock, which `now` reads. Called by all ranks of
/// `comm` together. Exactly 0 where the two clocks cannot be told apart, and so
/// on one machine.
inline ClockOffset clockOffset(MPI_Comm comm,
                               std::int64_t (*now)() = RankTrace::now) {
  constexpr int rounds = 16, tag = 0;
  int rank = 0, size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  if (rank == 0) {
    for (int other = 1; other != size; ++other)
      for (int k = 0; k != rounds; ++k) {
        MPI_Recv(nullptr, 0, MPI_INT64_T, other, tag, comm, MPI_STATUS_IGNORE);
        std::int64_t time = now();
        MPI_Send(&time, 1, MPI_INT64_T, other, tag, comm);
      }
    return {};
  }
  ClockOffset best = {0, INT64_MAX};
  for (int k = 0; k != rounds; ++k) {
    std::int64_t theirs = 0, asked = now();
    MPI_Send(nullptr, 0, MPI_INT64_T, 0, tag, comm);
    MPI_Recv(&theirs, 1, MPI_INT64_T, 0, tag, comm, MPI_STATUS_IGNORE);
    // Rounded up: the middle is half a nanosecond off after odd times.
    std::int64_t half = (now() - asked + 1) / 2;
    if (half < best.uncertainty)
      best = {theirs - (asked + half), half};
  }
  std::int64_t distance = std::abs(best.nanoseconds);
  if (distance <= best.uncertainty)
    return {0, distance + best.uncertainty};
  return best;
}

/// The traces of all ranks on rank 0, indexed by rank, in the time of rank 0;
/// nothing on the others. Called by all ranks of `comm` together.
inline std::vector<RankTrace> gatherTraces(MPI_Comm comm, RankTrace own,
                                           ClockOffset offset) {
  static_assert(std::is_trivially_copyable_v<TraceRecord>);
  constexpr int tag = 0;
  int rank = 0, size = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(int(sizeof(TraceRecord)), MPI_BYTE, &type);
  MPI_Type_commit(&type);
  own.shift(offset.nanoseconds);
  std::vector<RankTrace> all;
  if (rank != 0) {
    MPI_Send(own.all().data(), int(own.all().size()), type, 0, tag, comm);
  } else {
    all.push_back(std::move(own));
    for (int other = 1; other != size; ++other) {
      MPI_Status status;
      int count = 0;
      MPI_Probe(other, tag, comm, &status);
      MPI_Get_count(&status, type, &count);
      std::vector<TraceRecord> records;
      records.resize(std::size_t(count));
      MPI_Recv(records.data(), count, type, other, tag, comm,
               MPI_STATUS_IGNORE);
      all.emplace_back().append(records);
    }
  }
  MPI_Type_free(&type);
  return all;
}

} // namespace pipec::runtime

#endif // PIPEC_RUNTIME_MPITRACE_H
