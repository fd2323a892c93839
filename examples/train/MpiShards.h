//===- MpiShards.h - Copies that are processes -----*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_EXAMPLES_TRAIN_MPISHARDS_H
#define PIPEC_EXAMPLES_TRAIN_MPISHARDS_H

#include "Shards.h"

#include <pipec/runtime/MpiTransport.h>

#include <chrono>
#include <stdexcept>
#include <string>

namespace train {

/// The collectives of the copies of one rank. They do not block, so that the
/// transfers of the pipeline go on meanwhile and a copy that never comes ends
/// in an error.
class MpiShards : public Shards {
public:
  /// `group` has the copies of this rank, in order.
  explicit MpiShards(MPI_Comm group)
      : Shards(rankIn(group), sizeOf(group)), group(group) {}

  void gather(int stage, Values &parameters) override {
    setSegments(parameters.size());
    MPI_Request request;
    MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, parameters.data(),
                    counts.data(), places.data(), MPI_DOUBLE, group, &request);
    await(request, "UNSHARD", stage);
  }

  void reduce(int stage, const Values &gradients, bool sharded,
              Values &sum) override {
    sum.assign(gradients.size(), 0);
    MPI_Request request;
    if (sharded) {
      setSegments(gradients.size());
      MPI_Ireduce_scatter(gradients.data(),
                          sum.data() + places[std::size_t(own)], counts.data(),
                          MPI_DOUBLE, MPI_SUM, group, &request);
    } else {
      MPI_Iallreduce(gradients.data(), sum.data(), int(gradients.size()),
                     MPI_DOUBLE, MPI_SUM, group, &request);
    }
    await(request, "REDUCE_GRAD", stage);
  }

private:
  static int rankIn(MPI_Comm group) {
    int rank = 0;
    MPI_Comm_rank(group, &rank);
    return rank;
  }
  static int sizeOf(MPI_Comm group) {
    int size = 0;
    MPI_Comm_size(group, &size);
    return size;
  }
  void setSegments(std::size_t parameters) {
    counts.resize(std::size_t(members));
    places.resize(std::size_t(members));
    for (int member = 0; member != members; ++member) {
      Range range = rangeOf(member, parameters);
      counts[std::size_t(member)] = int(range.end - range.begin);
      places[std::size_t(member)] = int(range.begin);
    }
  }
  static void await(MPI_Request &request, const char *what, int stage) {
    auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    int done = 0;
    while (MPI_Test(&request, &done, MPI_STATUS_IGNORE), !done)
      if (std::chrono::steady_clock::now() > deadline)
        throw std::runtime_error("another copy of the pipeline does not come "
                                 "to its " +
                                 std::string(what) + " s" +
                                 std::to_string(stage));
  }

  MPI_Comm group;
  std::vector<int> counts;
  std::vector<int> places;
};

} // namespace train

#endif // PIPEC_EXAMPLES_TRAIN_MPISHARDS_H
