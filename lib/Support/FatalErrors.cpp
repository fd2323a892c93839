//===- FatalErrors.cpp - Ends of a run without a stack trace --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Support/FatalErrors.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <new>
#include <utility>

using namespace llvm;

namespace pipec {

/// Memory that is released so that the message can be allocated.
static constexpr size_t reserveBytes = size_t(1) << 18;

/// The current object; handlers have no other access to it.
static FatalErrors *active = nullptr;

[[noreturn]]
static void endProgram() {
  sys::RunInterruptHandlers();
  // Destructors could flush buffers, or fail again.
  sys::Process::Exit(1, /*NoCleanup=*/true);
}

FatalErrors::FatalErrors(Handlers functions)
    : handlers(std::move(functions)), reserve(new char[reserveBytes]),
      outer(std::exchange(active, this)) {
  if (outer)
    return;
  std::set_new_handler([] { active->endWithoutMemory(); });
  install_bad_alloc_error_handler(
      [](void *, const char *, bool) { active->endWithoutMemory(); });
  // Create the stream first, so that it is destroyed after the handler has run.
  (void)outs();
  static const int registered = std::atexit(checkOutput);
  (void)registered;
}

FatalErrors::~FatalErrors() {
  active = outer;
  if (outer)
    return;
  remove_bad_alloc_error_handler();
  std::set_new_handler(nullptr);
}

void FatalErrors::endWithoutMemory() {
  // The second failure: there is not even enough memory for the message.
  if (!reserve)
    endProgram();
  reserve.reset();
  handlers.outOfMemory();
  endProgram();
}

void FatalErrors::checkOutput() {
  if (!active)
    return;
  outs().flush();
  std::error_code error = outs().error();
  outs().clear_error();
  if (!error)
    return;
  active->handlers.outputFailed(error);
  endProgram();
}

} // namespace pipec
