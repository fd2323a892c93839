//===- SideStreams.h - Computes that ranks post -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The computes of stages on streams of their own (`StageStreams`) in one run. A
// rank posts them and continues; what uses their results waits for their ends.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "IR/DataFlow.h"

#include "llvm/ADT/DenseMap.h"

#include <algorithm>

namespace pipec {

class SideStreams {
public:
  explicit SideStreams(const Schedule &schedule)
      : schedule(schedule), flow(schedule) {}

  /// The stream of the group that starts at `begin`; 0 if it is not posted.
  unsigned of(const StepList &list, size_t begin) const {
    return isCompute(list[begin].kind()) ? schedule.streams.of(list[begin]) : 0;
  }

  /// Runs the group [begin, end) of the list of `rank`, which takes `duration`,
  /// at `ready` or later on its stream. Returns its start.
  int64_t run(unsigned rank, size_t begin, size_t end, int64_t ready,
              int64_t duration) {
    const StepList &list = schedule.ranks[rank];
    int64_t &stream = free[{rank, of(list, begin)}];
    int64_t start = std::max(ready, stream);
    stream = start + duration;
    for (Step step : llvm::ArrayRef(list).slice(begin, end - begin)) {
      for (DataKind data : {DataKind::None, dataKind(step.kind())})
        ends[ofUnit(step.stage(), step.unit(), data)] = stream;
      ends[ofStage(step.stage(), rank)] = stream;
    }
    return start;
  }

  /// The end of the last of these computes that a step of `rank` needs: those
  /// that make its inputs, or change its object before it. 0 if it needs none.
  int64_t needs(unsigned rank, Step step) const {
    StepKind kind = step.kind();
    if (isSend(kind))
      return ends.lookup(ofUnit(step.stage(), step.unit(), dataKind(kind)));
    int64_t end = 0;
    if (makesData(kind))
      for (const DataFlow::Port &input : flow.inputs(step))
        if (!input.transfers)
          end = std::max(end, ends.lookup(ofUnit(input.stage, step.unit(),
                                                 dataKind(input.kind))));
    if (hasUnit(kind) && !isP2P(kind))
      return std::max(
          end, ends.lookup(ofUnit(step.stage(), step.unit(), DataKind::None)));
    return stateAfter(kind) == State::Whole
               ? end
               : ends.lookup(ofStage(step.stage(), rank));
  }

private:
  /// A unit of a stage and a kind of its data, or None for its object; or a
  /// stage and a rank.
  using Key = std::pair<uint64_t, unsigned>;
  static Key ofUnit(unsigned stage, unsigned unit, DataKind data) {
    return {unitKey(stage, unit), unsigned(data)};
  }
  static Key ofStage(unsigned stage, unsigned rank) {
    return {unitKey(stage, maxUnits), rank};
  }

  const Schedule &schedule;
  DataFlow flow;
  /// By rank and stream, when its last step ends.
  llvm::DenseMap<std::pair<unsigned, unsigned>, int64_t> free;
  llvm::DenseMap<Key, int64_t> ends;
};

} // namespace pipec
