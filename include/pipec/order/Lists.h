//===- Lists.h - Lists of steps whose times depend on data ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A schedule, reduced to the data that the choice of an order needs: the waits
// of steps for each other, the times of steps for a micro-batch of weight 1,
// and the changes of the memory of ranks. `pipec order --lists` writes it.
//
//===----------------------------------------------------------------------===//

#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

namespace pipec::order {

/// Products of two numbers of 64 bits.
__extension__ typedef __int128 Wide;

/// The time of some steps.
struct Cost {
  /// For a micro-batch of weight 1.
  int64_t ticks = 0;
  uint32_t stage = 0;
  /// The row of `Lists::factors`.
  uint32_t row = 0;
};

/// A step. It starts when the job `first` has ended, and `lag` ticks after
/// `second` has. Job 0 is the start of all, and jobs refer to earlier jobs.
struct Job {
  uint32_t first = 0;
  uint32_t second = 0;
  int64_t lag = 0;
  /// The index of its cost, and the micro-batch, as the lists number them.
  uint32_t cost = 0;
  uint32_t position = 0;
};

/// A change of the memory of a rank by a micro-batch of size 1.
struct Change {
  /// The position of a change that no micro-batch makes.
  static constexpr uint32_t fixed = std::numeric_limits<uint32_t>::max();
  uint32_t position = fixed;
  int64_t by = 0;
};

/// The memory of a rank, in the order of its list.
struct Memory {
  static constexpr int64_t unlimited = std::numeric_limits<int64_t>::max();
  int64_t base = 0;
  int64_t limit = unlimited;
  std::vector<Change> changes;
};

/// The lists of all ranks.
struct Lists {
  uint32_t microbatches = 0;
  uint32_t stages = 1;
  /// The ticks in a unit of time, and the parts of one in `factors`.
  int64_t ticksPerUnit = 1;
  int64_t factorUnit = 1;
  /// The parts of a unit of size.
  int64_t sizeUnit = 1;
  std::vector<Cost> costs;
  /// In topological order; the first one is the start.
  std::vector<Job> jobs = {Job()};
  /// Factors of micro-batches that the costs of the schedule have, by row and
  /// micro-batch of the batch; without rows all are one.
  std::vector<std::vector<int64_t>> factors;
  /// By rank; empty if memory is not considered.
  std::vector<Memory> ranks;

  /// Adds a job and returns its number.
  uint32_t add(Job job) {
    jobs.push_back(job);
    return uint32_t(jobs.size() - 1);
  }

  /// True if all numbers are in range.
  bool isValid() const {
    if (microbatches == 0 || stages == 0 || ticksPerUnit < 1 ||
        factorUnit < 1 || sizeUnit < 1 || costs.empty() || jobs.empty())
      return false;
    for (const Cost &cost : costs)
      if (cost.ticks < 0 || cost.stage >= stages ||
          cost.row >= (factors.empty() ? 1 : factors.size()))
        return false;
    for (const std::vector<int64_t> &row : factors) {
      if (row.size() != microbatches)
        return false;
      for (int64_t factor : row)
        if (factor < 0)
          return false;
    }
    for (size_t i = 1; i < jobs.size(); ++i)
      if (jobs[i].first >= i || jobs[i].second >= i || jobs[i].lag < 0 ||
          jobs[i].cost >= costs.size() || jobs[i].position >= microbatches)
        return false;
    for (const Memory &rank : ranks)
      for (const Change &change : rank.changes)
        if (change.position >= microbatches && change.position != Change::fixed)
          return false;
    return true;
  }

  /// Writes the lists as text, which `read` reads.
  void write(std::ostream &os) const {
    os << "pipec-lists 1\n"
       << microbatches << ' ' << stages << ' ' << ticksPerUnit << ' '
       << factorUnit << ' ' << sizeUnit << ' ' << costs.size() << ' '
       << jobs.size() << ' ' << factors.size() << ' ' << ranks.size() << '\n';
    for (const Cost &cost : costs)
      os << cost.ticks << ' ' << cost.stage << ' ' << cost.row << '\n';
    for (size_t i = 1; i < jobs.size(); ++i)
      os << jobs[i].first << ' ' << jobs[i].second << ' ' << jobs[i].lag << ' '
         << jobs[i].cost << ' ' << jobs[i].position << '\n';
    for (const std::vector<int64_t> &row : factors)
      for (size_t i = 0; i != row.size(); ++i)
        os << row[i] << (i + 1 == row.size() ? '\n' : ' ');
    for (const Memory &rank : ranks) {
      os << rank.base << ' ' << rank.limit << ' ' << rank.changes.size()
         << '\n';
      for (const Change &change : rank.changes)
        os << change.position << ' ' << change.by << '\n';
    }
  }

  /// Reads the text of `write`; false if it is something else.
  bool read(std::istream &is) {
    std::string word;
    int version = 0;
    size_t sizes[4] = {};
    is >> word >> version >> microbatches >> stages >> ticksPerUnit >>
        factorUnit >> sizeUnit;
    for (size_t &size : sizes)
      is >> size;
    // An element has at least two characters, and no list is this long.
    constexpr size_t most = size_t(1) << 31;
    if (!is || word != "pipec-lists" || version != 1 || sizes[1] == 0 ||
        microbatches >= most)
      return false;
    costs.clear();
    jobs.assign(1, Job());
    factors.clear();
    ranks.clear();
    for (size_t i = 0; i != sizes[0] && is; ++i) {
      Cost cost;
      is >> cost.ticks >> cost.stage >> cost.row;
      costs.push_back(cost);
    }
    for (size_t i = 1; i != sizes[1] && is; ++i) {
      Job job;
      is >> job.first >> job.second >> job.lag >> job.cost >> job.position;
      jobs.push_back(job);
    }
    for (size_t row = 0; row != sizes[2] && is; ++row) {
      factors.emplace_back();
      for (uint32_t i = 0; i != microbatches && is; ++i)
        is >> factors.back().emplace_back();
    }
    for (size_t rank = 0; rank != sizes[3] && is; ++rank) {
      Memory memory;
      size_t changes = 0;
      is >> memory.base >> memory.limit >> changes;
      for (size_t i = 0; i != changes && is; ++i) {
        Change change;
        is >> change.position >> change.by;
        memory.changes.push_back(change);
      }
      ranks.push_back(std::move(memory));
    }
    return bool(is) && isValid();
  }
};

} // namespace pipec::order
