//===- Family.h - A schedule at many sizes ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Prove/Prove.h"
#include "Prove/SymbolicRun.h"
#include "Simulation/Simulate.h"

#include <map>
#include <memory>

namespace pipec {

/// The schedules of a program with different numbers of micro-batches.
class Family {
public:
  /// One of them, verified and simulated; its lists have no bubbles.
  struct Member {
    Schedule schedule;
    std::optional<Simulation> run;
  };

  explicit Family(const ProofRequest &request) : request(request) {}

  /// The schedule with `microbatches`; null if it is refused or wrong.
  const Member *at(int64_t microbatches);
  /// True if a requirement of the program refuses this number.
  bool isRefused(int64_t microbatches);
  /// Releases all schedules.
  void clear() { entries.clear(); }
  /// Reports the errors of the schedule with `microbatches`.
  void report(int64_t microbatches);

private:
  struct Entry {
    std::unique_ptr<Member> member;
    bool refused = false;
  };
  Entry &entry(int64_t microbatches);
  std::unique_ptr<Member> make(int64_t microbatches) const;

  const ProofRequest &request;
  std::map<int64_t, Entry> entries;
};

/// The code of a schedule, to be run for an unknown number of micro-batches.
class FamilyCode {
public:
  explicit FamilyCode(const ProofRequest &request);

  /// The lists of all ranks of the schedules with `first` + `step` n
  /// micro-batches. `header` is one of these schedules.
  struct Outcome {
    std::vector<Word> words;
    /// A requirement refuses `first`.
    bool refused = false;
    /// The undecided value, in words; empty if there is none.
    std::string undecided;
  };
  Outcome evaluate(const Schedule &header, int64_t first, int64_t step) const;
  /// The same for the requirements alone, without a schedule.
  Outcome checkSizes(unsigned ranks, int64_t first, int64_t step) const;

private:
  Outcome evaluate(const Schedule *header, unsigned ranks, int64_t first,
                   int64_t step) const;
  std::string describe(const SymbolicRun &run) const;

  const ProofRequest &request;
  std::map<const ast::Expr *, Segment> segments;
  uint32_t bodyEntry = 0;
  Code code;
};

} // namespace pipec
