//===- InsertWaitsTest.cpp - Waits that never deadlock --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Transforms/Passes.h"
#include "Verify/Verifier.h"
#include "Waiting/RandomSchedules.h"
#include "Waiting/Waiting.h"

#include "gtest/gtest.h"

using namespace pipec;
using namespace pipec::test;

/// The maximum number of sends of a rank that are posted and not waited for.
static unsigned outstanding(const StepList &list) {
  unsigned now = 0, most = 0;
  for (Step step : list) {
    if (isSend(step.kind()))
      most = std::max(most, ++now);
    else if (isSendWait(step.kind()))
      --now;
  }
  return most;
}

// Lists with transfers in many orders, including batches, finish under the same
// communication models as before; each send gets its wait; and every rank keeps
// its budget, or a warning reports that it does not.
TEST(InsertWaits, KeepsWhatEnds) {
  Rng rng(20261122);
  unsigned strict = 0, mild = 0, late = 0, within = 0;
  for (unsigned round = 0; round != 6000; ++round) {
    Schedule schedule = randomTransfers(rng, /*size=*/4, /*maxErrors=*/4);
    unsigned warnings = 0;
    SourceFiles files;
    DiagEngine diags(files, [&](const Diagnostic &found) {
      warnings += found.severity == Severity::Warning;
    });
    if (failed(verify(schedule, VerifyLevel::Placed, diags)))
      continue;
    WaitOutcomes before = endsUnder(schedule, Transfers(schedule));

    InsertWaitsOptions waits;
    waits.sends = oneIn(rng, 2) ? WaitPlace::End : WaitPlace::Backward;
    if (!oneIn(rng, 3))
      waits.budget = AtLeastOne{1 + pick(rng, 3)};
    Schedule result = schedule;
    ASSERT_TRUE(succeeded(makeInsertWaits(waits)->run(result, diags)));
    ASSERT_TRUE(succeeded(verify(result, VerifyLevel::Placed, diags)))
        << listing(result);
    WaitOutcomes after = endsUnder(result, Transfers(result));
    for (WaitModel model : mainWaitModels())
      ASSERT_EQ(before[model], after[model])
          << listing(schedule) << listing(result);

    Schedule stripped = result;
    ASSERT_TRUE(succeeded(makeStripWaits({})->run(stripped, diags)));
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
      ASSERT_TRUE(std::equal(
          stripped.ranks[rank].begin(), stripped.ranks[rank].end(),
          schedule.ranks[rank].begin(), schedule.ranks[rank].end(),
          [](const Step &a, const Step &b) { return a.sameAction(b); }));
    bool exceeds = false;
    if (waits.budget)
      for (const StepList &list : result.ranks)
        exceeds |= outstanding(list) > waits.budget->value;
    // If the list finishes under no model, the waits are at the end.
    if (after[WaitModel::Buffered]) {
      ASSERT_EQ(exceeds, warnings != 0) << listing(result);
    }
    strict += before[WaitModel::Stream];
    mild += !before[WaitModel::Stream] && before[WaitModel::Buffered];
    late += exceeds;
    within += waits.budget && !exceeds;
  }
  EXPECT_GT(strict, 200u);
  EXPECT_GT(mild, 200u);
  EXPECT_GT(late, 10u);
  EXPECT_GT(within, 200u);
}
