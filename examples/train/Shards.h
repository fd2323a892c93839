//===- Shards.h - Stages sharded over copies of the pipeline ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fully sharded data parallelism: several copies of the whole pipeline work on
// different micro-batches, and the copies of a rank are a group, of which each
// keeps one segment of the parameters of every sharded stage. UNSHARD gathers
// the segments of the others, RESHARD gives them up again (they become NaN, so
// that a use of them shows), and REDUCE_GRAD starts to sum the gradient of the
// own segment over the group, which WAIT_REDUCE_GRAD waits for. All members of
// a group run the same list, so what they do together comes in the same order.
//
// In a schedule with two directions the two ranks that hold a stage are in
// different groups; each group has the whole stage, and the executor sums the
// two gradients at the end of the run, segment by segment.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_EXAMPLES_TRAIN_SHARDS_H
#define PIPEC_EXAMPLES_TRAIN_SHARDS_H

#include "Network.h"

#include <algorithm>
#include <limits>

namespace train {

/// One member of the group of a rank's copies.
class Shards {
public:
  /// Part of the parameters of a stage.
  struct Range {
    std::size_t begin, end;
  };

  Shards(int member, int size) : own(member), members(size) {}
  virtual ~Shards() = default;

  int size() const { return members; }
  /// The segment of a member: one of `size` parts of nearly the same length.
  Range rangeOf(int member, std::size_t parameters) const {
    return {parameters * std::size_t(member) / std::size_t(members),
            parameters * std::size_t(member + 1) / std::size_t(members)};
  }
  Range ownRange(std::size_t parameters) const {
    return rangeOf(own, parameters);
  }

  /// Fills in the segments of the others.
  virtual void gather(int stage, Values &parameters) = 0;
  /// Gives up all segments but the own one.
  void drop(Values &parameters) const {
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    Range range = ownRange(parameters.size());
    std::fill_n(parameters.begin(), range.begin, none);
    std::fill(parameters.begin() + std::ptrdiff_t(range.end), parameters.end(),
              none);
  }
  /// Starts to sum the own segment of all members' gradients into `sum`, or for
  /// a stage that is not sharded the whole. `gradients` stay as they are until
  /// the run has ended.
  virtual void startReduce(int stage, const Values &gradients, bool sharded,
                           Values &sum) = 0;
  /// Waits until that has been done; throws when a member does not come to it.
  virtual void finishReduce(int stage, const Values &gradients, bool sharded,
                            Values &sum) = 0;

protected:
  int own;
  int members;
};

} // namespace train

#endif // PIPEC_EXAMPLES_TRAIN_SHARDS_H
