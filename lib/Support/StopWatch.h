//===- StopWatch.h - What ends long work early ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

namespace pipec {

/// While it lives, Ctrl-C and the end of a time set a flag instead of ending
/// the program. A second Ctrl-C ends the program. At most one exists at a time.
class StopWatch {
public:
  /// Without a time, only Ctrl-C sets the flag.
  explicit StopWatch(std::optional<std::chrono::milliseconds> time);
  ~StopWatch();
  StopWatch(const StopWatch &) = delete;
  StopWatch &operator=(const StopWatch &) = delete;

  /// The flag, which the work looks at from any thread.
  const std::atomic<bool> &flag() const;

private:
  void (*before)(int);
  std::mutex mutex;
  std::condition_variable wake;
  bool over = false;
  std::thread timer;
};

} // namespace pipec
