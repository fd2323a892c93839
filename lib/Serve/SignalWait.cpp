//===- SignalWait.cpp - Waiting for Ctrl-C --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Serve/SignalWait.h"

#include <cerrno>

namespace pipec {

SignalWait::SignalWait() {
  sigemptyset(&waited);
  sigaddset(&waited, SIGINT);
  sigaddset(&waited, SIGTERM);
  struct sigaction hangup;
  if (sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
    sigaddset(&waited, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &waited, &before);
}

SignalWait::~SignalWait() {
  // Further signals of an impatient user do not change the exit status.
  timespec now{};
  while (sigtimedwait(&waited, nullptr, &now) > 0)
    ;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

bool SignalWait::wait(std::optional<std::chrono::milliseconds> time) {
  while (!came) {
    timespec limit{};
    if (time) {
      limit.tv_sec = time->count() / 1000;
      limit.tv_nsec = time->count() % 1000 * 1'000'000;
    }
    int signal = time ? sigtimedwait(&waited, nullptr, &limit)
                      : sigwaitinfo(&waited, nullptr);
    came = signal > 0;
    if (!came && time && errno != EINTR)
      return false;
  }
  return true;
}

} // namespace pipec
