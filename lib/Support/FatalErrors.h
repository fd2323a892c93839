//===- FatalErrors.h - Ends of a run without a stack trace ------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_SUPPORT_FATALERRORS_H
#define PIPEC_SUPPORT_FATALERRORS_H

#include <functional>
#include <memory>
#include <system_error>

namespace pipec {

/// While an object of this type lives, the failures that would abort the
/// program call a function and then end it with status 1: memory that the
/// system does not give (to `operator new` or to LLVM's containers), and
/// standard output that cannot be written when the program exits on the way (as
/// LLVM's command line does after `--help`). Temporary files that were
/// registered for removal are removed. One object at a time.
class FatalErrors {
public:
  struct Handlers {
    /// Some memory was set free for what this allocates.
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
};

} // namespace pipec

#endif // PIPEC_SUPPORT_FATALERRORS_H
