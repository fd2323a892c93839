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

/// A step cannot be what the schedule's author meant: its data is not there, it
/// came twice, or something is left over at the end.
class ScheduleError : public Error {
public:
  using Error::Error;
};

/// A message that arrived is not the one that the receive expects.
class MessageError : public Error {
public:
  using Error::Error;
};

/// A rank waited longer than it may; says what every rank waits for.
class StallError : public Error {
public:
  using Error::Error;
};

/// The model threw. The text names the rank and the step; what was thrown is
/// nested in it (std::rethrow_if_nested).
class ModelError : public Error {
public:
  using Error::Error;
};

/// Another rank failed and took this one with it; carries its message.
class StoppedError : public Error {
public:
  using Error::Error;
};

/// Of what several ranks have thrown (null for one that has not), throws the
/// first that is not the echo of another rank's failure; the last echo when
/// there is nothing else. Returns when all are null.
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
