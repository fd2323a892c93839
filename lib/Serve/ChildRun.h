//===- ChildRun.h - Runs of pipec in processes of their own --- -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "llvm/ADT/StringRef.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace pipec {

/// A run of a program, and its limits. A separate process can be ended at any
/// time, and its memory is limited without effect on this one.
struct ChildRequest {
  std::string program;
  /// Without the name of the program.
  std::vector<std::string> arguments;
  /// The text on standard input.
  std::string input;
  /// Where the program runs; empty for the folder of this process.
  std::string folder;
  /// The run is ended after this time.
  std::chrono::milliseconds time = std::chrono::hours(24);
  /// The maximum size in bytes of its memory (0: no limit), and of each of its
  /// outputs.
  uint64_t memory = 0;
  size_t output = size_t(1) << 26;
  /// Called every few milliseconds; the result decides about the run.
  /// `Interrupt` sends SIGINT once, and `End` ends the process.
  enum class Wish { GoOn, Interrupt, End };
  std::function<Wish()> wish;
  /// Called with each piece of standard error.
  std::function<void(llvm::StringRef)> onMessages;
};

struct ChildResult {
  enum class End {
    /// By itself, with `status`.
    Exited,
    /// By a signal from elsewhere, or it could not be started.
    Crashed,
    /// By a limit, or because `wish` said so.
    TimeOut,
    TooMuchOutput,
    Ended,
  };
  End end = End::Exited;
  int status = 0;
  std::string output;
  std::string messages;

  bool succeeded() const { return end == End::Exited && status == 0; }
};

/// Runs a program to its end. The process gets a process group of its own, so
/// that Ctrl-C on the terminal does not reach it, and is killed if this process
/// ends before it, however that ends.
ChildResult runChild(const ChildRequest &request);

/// Ends all current and future runs, and waits a short time for them.
void endChildren();

} // namespace pipec
