//===- MpiShards.h - Copies that are processes ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

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
    gathering.setSegments(*this, parameters.size());
    MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, parameters.data(),
                    gathering.counts.data(), gathering.places.data(),
                    MPI_DOUBLE, group, &gathering.request);
    await(gathering.request, "UNSHARD", stage);
  }

  void startReduce(int stage, const Values &gradients, bool sharded,
                   Values &sum) override {
    sum.assign(gradients.size(), 0);
    if (reducing.size() <= std::size_t(stage))
      reducing.resize(std::size_t(stage) + 1);
    Collective &reduction = reducing[std::size_t(stage)];
    if (sharded) {
      reduction.setSegments(*this, gradients.size());
      MPI_Ireduce_scatter(gradients.data(),
                          sum.data() + reduction.places[std::size_t(own)],
                          reduction.counts.data(), MPI_DOUBLE, MPI_SUM, group,
                          &reduction.request);
    } else {
      MPI_Iallreduce(gradients.data(), sum.data(), int(gradients.size()),
                     MPI_DOUBLE, MPI_SUM, group, &reduction.request);
    }
  }
  void finishReduce(int stage, const Values &, bool, Values &) override {
    await(reducing[std::size_t(stage)].request, "REDUCE_GRAD", stage);
  }

private:
  /// A collective that is under way, with the arrays that MPI reads meanwhile.
  struct Collective {
    MPI_Request request = MPI_REQUEST_NULL;
    std::vector<int> counts;
    std::vector<int> places;

    void setSegments(const MpiShards &shards, std::size_t parameters) {
      counts.clear();
      places.clear();
      for (int member = 0; member != shards.members; ++member) {
        Range range = shards.rangeOf(member, parameters);
        counts.push_back(int(range.end - range.begin));
        places.push_back(int(range.begin));
      }
    }
  };

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
  Collective gathering;
  /// By stage, up to the last one that was reduced. Growing the vector does not
  /// move the contents of the arrays that MPI reads.
  std::vector<Collective> reducing;
};

} // namespace train

#endif // PIPEC_EXAMPLES_TRAIN_MPISHARDS_H
