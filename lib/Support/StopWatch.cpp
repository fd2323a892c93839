//===- StopWatch.cpp - What ends long work early --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Support/StopWatch.h"

#include <csignal>

namespace pipec {

/// Global for the signal handler.
static std::atomic<bool> stopped;

/// The first Ctrl-C stops, a second one ends the program.
static void stopOnSignal(int) {
  stopped = true;
  std::signal(SIGINT, SIG_DFL);
}

StopWatch::StopWatch(std::optional<std::chrono::milliseconds> time) {
  stopped = false;
  before = std::signal(SIGINT, stopOnSignal);
  if (time)
    timer = std::thread([this, time = *time] {
      std::unique_lock<std::mutex> lock(mutex);
      if (!wake.wait_for(lock, time, [this] { return over; }))
        stopped = true;
    });
}

StopWatch::~StopWatch() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    over = true;
  }
  wake.notify_one();
  if (timer.joinable())
    timer.join();
  std::signal(SIGINT, before);
}

const std::atomic<bool> &StopWatch::flag() const { return stopped; }

} // namespace pipec
