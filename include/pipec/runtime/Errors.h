//===- Errors.h - How a run fails -------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef PIPEC_RUNTIME_ERRORS_H
#define PIPEC_RUNTIME_ERRORS_H

#include <exception>
#include <span>
#include <stdexcept>

namespace pipec::runtime {

/// The base of everything that the runtime throws. Its text speaks in the
/// schedule's terms.
class Error : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// The worker does not fit the schedule: other numbers of ranks, stages or
/// micro-batches. Thrown before anything has run.
class RefusedError : public Error {
public:
  using Error::Error;
};

/// A step is wrong: its data is missing, it ran twice, or something is left
/// over at the end.
class ScheduleError : public Error {
public:
  using Error::Error;
};

/// A receive got another message than it expects.
class MessageError : public Error {
public:
  using Error::Error;
};

/// A rank waited longer than it may; says what every rank waits for.
class StallError : public Error {
public:
  using Error::Error;
};

/// The model threw. The text names the rank and the step; the exception of the
/// model is nested in this one (std::rethrow_if_nested).
class ModelError : public Error {
public:
  using Error::Error;
};

/// Another rank failed and took this one with it; carries its message.
class StoppedError : public Error {
public:
  using Error::Error;
};

/// Throws one of the exceptions of several ranks, which are null for ranks that
/// threw none: the first that is not the echo of another rank's failure, or the
/// last echo if all are echoes. Returns when all are null.
inline void rethrowCause(std::span<const std::exception_ptr> thrown) {
  std::exception_ptr echo;
  for (const std::exception_ptr &one : thrown) {
    if (!one)
      continue;
    try {
      std::rethrow_exception(one);
    } catch (const StoppedError &) {
      echo = one;
    }
  }
  if (echo)
    std::rethrow_exception(echo);
}

} // namespace pipec::runtime

#endif // PIPEC_RUNTIME_ERRORS_H
