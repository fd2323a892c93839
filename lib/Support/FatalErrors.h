//===- FatalErrors.h - Memory, and ends without a stack trace ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <functional>
#include <memory>
#include <system_error>

namespace pipec {

/// While an object of this type exists, failures that would otherwise abort the
/// program call a function and then exit with status 1. These are failed
/// allocations (in `operator new` and in LLVM's containers), and standard
/// output that cannot be written when the program exits early. Temporary files
/// registered for removal are removed. Of several objects the last one counts: a
/// command that runs another one has its handlers again afterwards.
class FatalErrors {
public:
  struct Handlers {
    /// Reserved memory has been released for allocations in this function.
    std::function<void()> outOfMemory;
    std::function<void(std::error_code)> outputFailed;
  };

  explicit FatalErrors(Handlers handlers);
  ~FatalErrors();
  FatalErrors(const FatalErrors &) = delete;
  FatalErrors &operator=(const FatalErrors &) = delete;

private:
  [[noreturn]] void endWithoutMemory();
  static void checkOutput();

  Handlers handlers;
  std::unique_ptr<char[]> reserve;
  /// The object that existed before; null if there is none.
  FatalErrors *outer;
};

/// Makes the allocator use 2 MB pages for large lists where the system supports
/// them, and reuse freed memory for the next list. Call it in `main` before the
/// first list is built. Without it, a whole run of 25 million steps takes 1.13
/// times as long (benchmarks/README.md). It has no effect on small runs, and
/// none on systems other than Linux with the GNU C library.
void useLargePages();

} // namespace pipec
