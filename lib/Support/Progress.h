//===- Progress.h - What a long run is doing --------------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_SUPPORT_PROGRESS_H
#define PIPEC_SUPPORT_PROGRESS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace pipec {

/// One line that says what a run is doing and for how long, `pipec: lowering,
/// 12 s`, for a person in front of a terminal: it comes when a run has taken a
/// second, is written over a few times a second, and is gone when the run ends.
/// A thread of its own draws it, so that the work pays for nothing but the
/// change of phases; where the stream is no terminal there is none of it.
class Progress {
public:
  /// `tool` begins the line, which goes to `os`.
  Progress(llvm::StringRef tool, llvm::raw_ostream &os);
  /// Erases the line.
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  /// What the run does from now on: `lowering`, `pass insert-p2p`.
  void phase(llvm::StringRef text);
  /// Of how many parts the phase consists, and that one more is done. Cheap
  /// enough for a part of a millisecond.
  void setTotal(uint64_t parts) { total = parts; }
  void advance() { done.fetch_add(1, std::memory_order_relaxed); }

  /// Erases the line and draws no other: what is written next stands alone.
  void end();

  /// While it lives the line is erased, and the terminal is free for others.
  /// With `untilNext` the line comes back only when the run goes on to another
  /// phase or part.
  class Hidden {
  public:
    explicit Hidden(Progress &progress, bool untilNext) : lock(progress.mutex) {
      progress.erase();
      if (untilNext)
        progress.heldAt = progress.done;
    }

  private:
    std::unique_lock<std::mutex> lock;
  };

private:
  void run();
  void draw();
  void erase();

  const std::string tool;
  llvm::raw_ostream &os;
  const std::chrono::steady_clock::time_point start;
  std::atomic<uint64_t> done = 0;
  std::atomic<uint64_t> total = 0;

  /// Guards what follows, and the terminal.
  std::mutex mutex;
  std::condition_variable wake;
  std::string text;
  /// The parts that were done when the line was held back.
  std::optional<uint64_t> heldAt;
  bool drawn = false;
  bool ended = false;
  std::thread thread;
};

} // namespace pipec

#endif // PIPEC_SUPPORT_PROGRESS_H
