//===- ActionTable.h - Looking up the steps of one rank ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "IR/Schedule.h"

#include "llvm/ADT/DenseMap.h"

#include <cstdint>
#include <limits>
#include <vector>

namespace pipec {

/// A map from (stage, micro-batch, forward or backward), and the port for
/// stages with several (IR/DataFlow.h), to a number. It is filled for one rank
/// at a time: `startRank` clears it in time linear in the steps of that rank.
/// It is a flat array over the stages of the rank's steps, or a hash table if
/// the header declares far more micro-batches than the rank has steps, so that
/// memory is linear in the steps for any header.
class ActionTable {
public:
  static constexpr uint32_t none = std::numeric_limits<uint32_t>::max();

  explicit ActionTable(const Schedule &schedule)
      : schedule(schedule), slotOf(schedule.numStages, none) {}

  /// Clears the table and prepares it for the stages of `rank`.
  void startRank(unsigned rank) {
    for (uint32_t stage : stages)
      slotOf[stage] = none;
    stages.clear();
    for (Step step : schedule.ranks[rank])
      if (hasStage(step.kind()) && slotOf[step.stage()] == none) {
        slotOf[step.stage()] = uint32_t(stages.size());
        stages.push_back(step.stage());
      }
    uint64_t cells = uint64_t(stages.size()) * schedule.numUnits * 2;
    dense = cells <= 8 * uint64_t(schedule.ranks[rank].size()) + 1024;
    sparse.clear();
    morePorts.clear();
    if (dense)
      flat.assign(cells, none);
  }

  /// The number for a key; `none` if there is none.
  uint32_t find(unsigned stage, unsigned microbatch, bool backward,
                unsigned port = 0) const {
    if (port != 0)
      return findPort(stage, microbatch, backward, port);
    if (slotOf[stage] == none)
      return none;
    uint64_t cell = cellOf(stage, microbatch, backward);
    if (dense)
      return flat[cell];
    auto it = sparse.find(cell);
    return it == sparse.end() ? none : it->second;
  }

  /// Inserts `number`, unless the key has one already. The rank must have a
  /// step on the stage.
  void insert(unsigned stage, unsigned microbatch, bool backward,
              uint32_t number, unsigned port = 0) {
    uint64_t cell = cellOf(stage, microbatch, backward);
    if (port != 0) {
      morePorts.try_emplace({cell, port}, number);
      return;
    }
    if (!dense)
      sparse.try_emplace(cell, number);
    else if (flat[cell] == none)
      flat[cell] = number;
  }

private:
  uint32_t findPort(unsigned stage, unsigned microbatch, bool backward,
                    unsigned port) const {
    if (slotOf[stage] == none)
      return none;
    auto it = morePorts.find({cellOf(stage, microbatch, backward), port});
    return it == morePorts.end() ? none : it->second;
  }
  uint64_t cellOf(unsigned stage, unsigned microbatch, bool backward) const {
    return (uint64_t(slotOf[stage]) * 2 + backward) * schedule.numUnits +
           microbatch;
  }

  const Schedule &schedule;
  std::vector<uint32_t> slotOf;
  std::vector<uint32_t> stages;
  std::vector<uint32_t> flat;
  llvm::DenseMap<uint64_t, uint32_t> sparse;
  /// Indexed by cell and port: the numbers for ports other than 0.
  llvm::DenseMap<std::pair<uint64_t, unsigned>, uint32_t> morePorts;
  bool dense = true;
};

} // namespace pipec
