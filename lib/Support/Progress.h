//===- Progress.h - The progress of a long run, and its end -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

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

/// Shows one line on the terminal with the current phase of a run and the
/// elapsed time, `pipec: lowering, 12 s`. The line appears after one second, is
/// updated several times per second, and is erased when the run ends. A
/// separate thread draws it, so the run itself only pays for changes of phase.
/// If the stream is not a terminal, nothing is shown.
class Progress {
public:
  /// `tool` is the first word of the line, which is written to `os`. With
  /// `outer`, the run is part of another, whose line shows its phases.
  Progress(llvm::StringRef tool, llvm::raw_ostream &os,
           Progress *outer = nullptr);
  /// Erases the line.
  ~Progress();
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

  /// Sets the current phase, for example `lowering` or `pass insert-p2p`.
  void phase(llvm::StringRef text);
  /// Sets the number of parts of the phase, and counts one part as done. Cheap
  /// enough for parts of a millisecond.
  void setTotal(uint64_t parts) { shown().total = parts; }
  void advance() { shown().done.fetch_add(1, std::memory_order_relaxed); }

  /// Erases the line for the rest of the run, before other output.
  void end();

  /// Erases the line while this object exists, so that other output can use the
  /// terminal. With `untilNext` the line reappears only when the next phase or
  /// part begins.
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
  Progress &shown() { return outer ? *outer : *this; }
  void run();
  void draw();
  void erase();

  const std::string tool;
  Progress *const outer;
  llvm::raw_ostream &os;
  const std::chrono::steady_clock::time_point start;
  std::atomic<uint64_t> done = 0;
  std::atomic<uint64_t> total = 0;

  /// Guards the members below and the terminal.
  std::mutex mutex;
  std::condition_variable wake;
  std::string text;
  /// The number of finished parts when the line was erased with `untilNext`.
  std::optional<uint64_t> heldAt;
  bool drawn = false;
  bool ended = false;
  std::thread thread;
};

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
