//===- StepsFuzzer.cpp - Step IR from hostile text ----===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whatever the bytes are, they are refused with an error at a place of the
// text, or they are a schedule: then it prints as a text that reads back to the
// same text, and each level of the verifier is content or gives an error.
//
//===----------------------------------------------------------------------===//

#include "IR/Parser.h"
#include "IR/Printer.h"
#include "IR/TrainingRules.h"
#include "IR/Verifier.h"
#include "Support/DiagPrinter.h"

#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;
using namespace pipec;

#define PIPEC_CHECK(condition)                                                 \
  do {                                                                         \
    if (!(condition)) {                                                        \
      errs() << "failed: " #condition "\n";                                    \
      abort();                                                                 \
    }                                                                          \
  } while (false)

namespace {

/// The files and messages of one reading.
struct Session {
  Session() : diags(files, DiagPrinter(nulls(), files, "fuzz")) {}

  FailureOr<Schedule> read(StringRef text) {
    auto added = files.add(MemoryBuffer::getMemBufferCopy(text, "input.steps"));
    if (!added)
      abort();
    FailureOr<Schedule> schedule = parseSteps(*added, diags);
    PIPEC_CHECK(succeeded(schedule) == !diags.hadErrors());
    return schedule;
  }

  SourceFiles files;
  DiagEngine diags;
};

std::string print(const Schedule &schedule) {
  std::string text;
  raw_string_ostream os(text);
  printSteps(schedule, os);
  return text;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  StringRef text(reinterpret_cast<const char *>(data), size);
  Session session;
  FailureOr<Schedule> schedule = session.read(text);
  if (failed(schedule))
    return 0;

  std::string once = print(*schedule);
  Session second;
  FailureOr<Schedule> again = second.read(once);
  PIPEC_CHECK(succeeded(again));
  PIPEC_CHECK(print(*again) == once);

  for (VerifyLevel level : {VerifyLevel::Compute, VerifyLevel::Placed,
                            VerifyLevel::Sharded, VerifyLevel::Timed}) {
    unsigned errors = session.diags.numErrors();
    bool good = succeeded(verify(*schedule, level, session.diags));
    PIPEC_CHECK(good == (session.diags.numErrors() == errors) ||
                session.diags.atErrorLimit());
  }
  (void)verify(*schedule, session.diags);
  (void)checkLossOrder(*schedule, Severity::Warning, session.diags);
  (void)checkUnshardsUsed(*schedule, Severity::Warning, session.diags);
  return 0;
}
