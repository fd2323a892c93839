//===- ProfileFuzzer.cpp - Cost profiles from hostile text ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Any bytes are either refused with an error at a position in the text, or are
// a profile. A small schedule accepts the profile, per stage and per part, or
// refuses it with an error. If it accepts it, it prints as step IR that reads
// back to the same text, and there is a report on the schedule unless the
// figures do not fit. The same bytes as the value of `--cost` are also refused
// with an error or accepted.
//
//===----------------------------------------------------------------------===//

#include "FuzzSession.h"

#include "Explain/Report.h"
#include "Import/CostText.h"
#include "Simulation/MemoryLimit.h"
#include "StepText/StepParser.h"
#include "StepText/StepPrinter.h"
#include "Verify/Verifier.h"

using namespace llvm;
using namespace pipec;

namespace {

/// Two ranks with two stages each, two micro-batches, and an overlap.
constexpr StringLiteral steps = R"(pipec-steps 1
schedule @s { ranks 2 stages 4 microbatches 2
  map 0 1 0 1
  rank 0 {
    F s0 m0
    F s0 m1
    F s2 m0
    F s2 m1
    I s2 m0
    W s2 m0
    B s2 m1
    B s0 m0
    B s0 m1
  }
  rank 1 {
    F s1 m0
    F s1 m1
    F s3 m0
    overlap F s3 m1 & B s3 m0
    B s3 m1
    B s1 m0
    B s1 m1
  }
}
)";

std::string print(const Schedule &schedule) {
  std::string text;
  raw_string_ostream os(text);
  printSteps(schedule, os);
  return text;
}

/// Applies `given` to the schedule and runs it.
void take(const Schedule &original, const GivenSettings &given,
          FuzzSession &session) {
  Schedule schedule = original;
  LogicalResult taken = applyCosts(schedule, given, session.diags);
  PIPEC_CHECK(session.agrees(taken));
  if (failed(taken))
    return;
  taken = applyMemory(schedule, given, session.diags);
  PIPEC_CHECK(session.agrees(taken));
  if (failed(taken))
    return;

  std::string once = print(schedule);
  FuzzSession second;
  FailureOr<Schedule> again =
      parseSteps(second.add(once, "again.steps"), second.diags);
  PIPEC_CHECK(succeeded(again));
  PIPEC_CHECK(print(*again) == once);
  PIPEC_CHECK(again->costs == schedule.costs);
  PIPEC_CHECK(again->memory == schedule.memory);

  PIPEC_CHECK(succeeded(verify(schedule, session.diags)));
  (void)session.agrees(
      success(checkMemoryLimit(schedule, Severity::Warning, session.diags)));
  PIPEC_CHECK(
      session.agrees(makeReport(schedule, ReportOptions(), session.diags)));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  StringRef text(reinterpret_cast<const char *>(data), size);
  FuzzSession option;
  PIPEC_CHECK(option.agrees(readCostOption(text, option.diags)));

  FuzzSession session;
  FailureOr<GivenSettings> given =
      readCostProfile(session.add(text, "input.json"), session.diags);
  PIPEC_CHECK(session.agrees(given));
  if (failed(given))
    return 0;
  FailureOr<Schedule> schedule =
      parseSteps(session.add(steps, "s.steps"), session.diags);
  PIPEC_CHECK(succeeded(schedule));

  take(*schedule, *given, session);
  given->per = CostPer::Part;
  for (unsigned parts : {1u, 3u, 4u, 16u}) {
    given->parts = parts;
    take(*schedule, *given, session);
  }
  return 0;
}
