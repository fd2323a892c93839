//===- StepsFuzzer.cpp - Step IR and CSV from hostile text ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text that begins like a CSV is read as CSV, all other text as step IR. Any
// bytes are either refused with an error at a position in the text, or are a
// schedule. It prints as text that reads back to the same text, and each level
// of the verifier accepts it or reports an error. If the verifier accepts it,
// there is a report or an error that explains why not. A schedule from a CSV is
// written as a CSV that reads back to the same schedule, or is refused with an
// error.
//
//===----------------------------------------------------------------------===//

#include "FuzzSession.h"

#include "Explain/Report.h"
#include "Frameworks/FrameworkFormats.h"
#include "IR/DataFlow.h"
#include "Import/Readers.h"
#include "StepText/StepParser.h"
#include "StepText/StepPrinter.h"
#include "Verify/TrainingRules.h"
#include "Verify/Verifier.h"

#include "llvm/ADT/StringExtras.h"
using namespace llvm;
using namespace pipec;

namespace {

/// CSVs begin with one of these characters, step IR never does.
bool isCsv(StringRef text) {
  return !text.empty() &&
         (isDigit(text[0]) || StringRef(",(").contains(text[0]));
}

/// One run on a text.
struct StepsSession : FuzzSession {
  FailureOr<Schedule> read(StringRef text) {
    StringRef added = add(text, "input.steps");
    FailureOr<Schedule> schedule =
        isCsv(text)              ? importCsv(added, ListOptions(), diags)
        : looksLikeTeOrder(text) ? importTeOrder(added, ListOptions(), diags)
        : looksLikeHyperParallel(text)
            ? importHyperParallel(added, ListOptions(), diags)
            : parseSteps(added, diags);
    PIPEC_CHECK(agrees(schedule));
    return schedule;
  }
};

std::string print(const Schedule &schedule) {
  std::string text;
  raw_string_ostream os(text);
  printSteps(schedule, os);
  return text;
}

/// False if a transfer has no peer. For other forms than step IR, only the
/// verifier reports this, and step IR cannot represent it.
bool allHavePeers(const Schedule &schedule) {
  DataFlow flow(schedule);
  return all_of(schedule.ranks, [&](const StepList &list) {
    return all_of(list, [&](Step step) {
      return !isP2P(step.kind()) || flow.transfer(step);
    });
  });
}

void checkForm(const Schedule &schedule) {
  std::string once = print(schedule);
  StepsSession second;
  FailureOr<Schedule> again = second.read(once);
  PIPEC_CHECK(succeeded(again));
  PIPEC_CHECK(print(*again) == once);
}

void checkCsv(const Schedule &schedule, StepsSession &session) {
  std::string once;
  raw_string_ostream os(once);
  LogicalResult written = emitCsv(schedule, os, session.diags);
  PIPEC_CHECK(session.agrees(written));
  if (failed(written))
    return;
  StepsSession second;
  FailureOr<Schedule> again = second.read(once);
  PIPEC_CHECK(succeeded(again));
  PIPEC_CHECK(print(*again) == print(schedule));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  StringRef text(reinterpret_cast<const char *>(data), size);
  StepsSession session;
  FailureOr<Schedule> schedule = session.read(text);
  if (failed(schedule))
    return 0;

  if (allHavePeers(*schedule))
    checkForm(*schedule);
  if (isCsv(text))
    checkCsv(*schedule, session);

  for (VerifyLevel level :
       {VerifyLevel::Compute, VerifyLevel::Placed, VerifyLevel::Sharded,
        VerifyLevel::Tied, VerifyLevel::Timed}) {
    PIPEC_CHECK(session.agrees(verify(*schedule, level, session.diags)) ||
                session.diags.atErrorLimit());
  }
  bool good = succeeded(verify(*schedule, session.diags));
  (void)checkLossOrder(*schedule, Severity::Warning, session.diags);
  (void)checkUnshardsUsed(*schedule, Severity::Warning, session.diags);
  if (good) {
    StepsSession third;
    FailureOr<Schedule> verified = third.read(text);
    PIPEC_CHECK(
        third.agrees(makeReport(*verified, ReportOptions(), third.diags)));
  }
  return 0;
}
