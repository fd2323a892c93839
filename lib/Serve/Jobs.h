//===- Jobs.h - Long runs that a page follows ----------------- -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Serve/ChildRun.h"

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace pipec {

/// Runs a program: `runChild`, or a function of a test.
using RunChild = std::function<ChildResult(const ChildRequest &)>;

/// Runs of seconds to minutes, each on a thread of its own. A page polls the
/// state of a job; a job that no page polls is ended.
class Jobs {
public:
  explicit Jobs(RunChild run) : run(std::move(run)) {}
  /// Ends all jobs.
  ~Jobs();
  Jobs(const Jobs &) = delete;
  Jobs &operator=(const Jobs &) = delete;

  /// Makes the answer of a job that has ended, as JSON.
  using Finish = std::function<std::string(const ChildResult &)>;

  /// Starts a job and returns its number; empty if too many are running.
  std::optional<uint64_t> start(ChildRequest request, Finish finish);
  /// An object of JSON with `done`, `seconds`, `progress` (the last line of
  /// standard error, empty if it is a message) and, once the job is done,
  /// `answer`. Empty if the job does not exist or was forgotten.
  std::optional<std::string> state(uint64_t id);
  /// Interrupts a job, and ends it if it still runs some seconds later. False
  /// if the job does not exist or was forgotten.
  bool cancel(uint64_t id);

private:
  struct Job;

  std::shared_ptr<Job> find(uint64_t id);
  void forgetOld();

  const RunChild run;
  std::mutex mutex;
  uint64_t last = 0;
  std::map<uint64_t, std::shared_ptr<Job>> all;
};

} // namespace pipec
