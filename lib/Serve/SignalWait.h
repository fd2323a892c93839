//===- SignalWait.h - Waiting for Ctrl-C ---------------------- -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <chrono>
#include <csignal>
#include <optional>

namespace pipec {

/// While it lives, SIGINT, SIGTERM and SIGHUP, unless that is ignored (nohup),
/// do not end the program but are waited for. Must be created before the
/// threads of the program.
class SignalWait {
public:
  SignalWait();
  ~SignalWait();
  SignalWait(const SignalWait &) = delete;
  SignalWait &operator=(const SignalWait &) = delete;

  /// Waits for a signal, at most for `time` if it is given. True if one came
  /// now or before.
  bool wait(std::optional<std::chrono::milliseconds> time = std::nullopt);

private:
  sigset_t waited, before;
  bool came = false;
};

} // namespace pipec
