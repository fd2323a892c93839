//===- Progress.cpp - The progress of a long run, and its end -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Support/Progress.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Process.h"

#include <csignal>
#include <cstdlib>

using namespace llvm;

namespace pipec {

static constexpr std::chrono::milliseconds firstAfter(1000);
static constexpr std::chrono::milliseconds interval(200);

Progress::Progress(StringRef tool, raw_ostream &os, Progress *outer)
    : tool(tool.str()), outer(outer), os(os),
      start(std::chrono::steady_clock::now()) {
  const char *terminal = std::getenv("TERM");
  if (!outer && os.is_displayed() && terminal && StringRef(terminal) != "dumb")
    thread = std::thread([this] { run(); });
}

Progress::~Progress() { end(); }

void Progress::end() {
  if (!thread.joinable())
    return;
  {
    std::lock_guard<std::mutex> lock(mutex);
    ended = true;
  }
  wake.notify_one();
  thread.join();
}

void Progress::phase(StringRef name) {
  if (outer)
    return outer->phase(name);
  std::lock_guard<std::mutex> lock(mutex);
  text = name.str();
  done = 0;
  total = 0;
  heldAt.reset();
}

void Progress::run() {
  std::unique_lock<std::mutex> lock(mutex);
  for (auto next = start + firstAfter;
       !wake.wait_until(lock, next, [this] { return ended; }); next += interval)
    draw();
  erase();
}

void Progress::draw() {
  if (text.empty() || heldAt == done)
    return;
  std::string line = tool + ": " + text;
  if (uint64_t parts = total)
    line += formatv(", {0} of {1}", done.load(), parts).str();
  auto passed = std::chrono::steady_clock::now() - start;
  line +=
      formatv(", {0} s",
              std::chrono::duration_cast<std::chrono::seconds>(passed).count())
          .str();
  // A line that wraps could not be erased.
  if (unsigned columns = sys::Process::StandardErrColumns();
      columns > 1 && line.size() >= columns)
    line.resize(columns - 1);
  os << "\r\x1b[K" << line;
  os.flush();
  drawn = true;
}

void Progress::erase() {
  if (!drawn)
    return;
  os << "\r\x1b[K";
  os.flush();
  drawn = false;
}

//===----------------------------------------------------------------------===//
// StopWatch
//===----------------------------------------------------------------------===//

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
