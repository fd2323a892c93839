//===- Verifier.cpp - What makes step IR well-formed ----===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/Verifier.h"
#include "Verify/VerifierDetail.h"

using namespace llvm;

namespace pipec {

VerifyLevel levelsAboveCompute(const Schedule &schedule, uint32_t kinds) {
  auto has = [&](auto isOfClass) {
    for (unsigned kind = 0; kind <= unsigned(StepKind::Bubble); ++kind)
      if ((kinds >> kind & 1) && isOfClass(StepKind(kind)))
        return true;
    return false;
  };
  unsigned levels = 0;
  if (has(isP2P) || has(isSendWait))
    levels |= unsigned(VerifyLevel::Placed);
  if (has(isFsdp) ||
      has([](StepKind kind) { return kind == StepKind::WaitReduceGrad; }))
    levels |= unsigned(VerifyLevel::Sharded);
  if (!schedule.times.empty())
    levels |= unsigned(VerifyLevel::Timed);
  return VerifyLevel(levels);
}

LogicalResult verify(const Schedule &schedule, DiagEngine &diags) {
  uint32_t kinds = 0;
  ComputeVerdict compute = verifyCompute(schedule, diags, &kinds);
  // A step that is missing, doubled or misplaced would be found again by every
  // other level, in other words.
  if (compute == ComputeVerdict::Broken)
    return failure();
  bool good = compute == ComputeVerdict::Good;
  VerifyLevel above = levelsAboveCompute(schedule, kinds);
  good &= succeeded(verify(schedule, above, diags));
  return success(good);
}

LogicalResult verify(const Schedule &schedule, VerifyLevel level,
                     DiagEngine &diags) {
  bool good = true;
  auto wants = [&](VerifyLevel one) {
    return (unsigned(level) & unsigned(one)) != 0;
  };
  if (wants(VerifyLevel::Compute))
    good &= verifyCompute(schedule, diags) == ComputeVerdict::Good;
  if (wants(VerifyLevel::Placed)) {
    good &= succeeded(verifyPlaced(schedule, diags));
    if (schedule.hasSendWaits())
      good &= succeeded(verifySendWaits(schedule, diags));
  }
  if (wants(VerifyLevel::Sharded)) {
    good &= succeeded(verifySharded(schedule, diags));
    if (schedule.hasReduceWaits())
      good &= succeeded(verifyReduceWaits(schedule, diags));
  }
  if (wants(VerifyLevel::Timed))
    good &= succeeded(verifyTimed(schedule, diags));
  return success(good);
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

Cells::Cells(const Schedule &schedule)
    : total(uint64_t(schedule.numStages) * schedule.numMicrobatches),
      microbatches(schedule.numMicrobatches) {
  // A whole schedule has a forward for every pair.
  uint64_t steps = schedule.numSteps();
  dense = total <= steps + (1u << 16);
  if (dense)
    return;
  for (const StepList &list : schedule.ranks)
    for (Step step : list)
      if (hasMicrobatch(step.kind()))
        sparse.try_emplace(uint64_t(step.stage()) << 32 | step.microbatch(),
                           sparse.size());
}

FirstSteps::FirstSteps(const Schedule &schedule, const Cells &cells)
    : cells(cells), first(cells.size() * kinds) {
  for (unsigned rank = 0; rank != schedule.ranks.size(); ++rank) {
    const StepList &list = schedule.ranks[rank];
    for (uint32_t i = 0; i != list.size(); ++i) {
      if (unsigned(list[i].kind()) >= kinds)
        continue;
      size_t place = cells.index(list[i]) * kinds + unsigned(list[i].kind());
      unsigned port = list[i].port();
      StepRef &ref = port ? morePorts[{place, port}] : first[place];
      unsigned home = schedule.rankOf(list[i].stage(), list[i].microbatch());
      if (!ref.isValid() || (ref.rank != home && rank == home))
        ref = {rank, i};
    }
  }
}

StepRef FirstSteps::find(StepKind kind, unsigned stage, unsigned microbatch,
                         unsigned port) const {
  size_t cell = cells.index(stage, microbatch);
  if (cell == Cells::none)
    return StepRef();
  size_t place = cell * kinds + unsigned(kind);
  return port ? morePorts.lookup({place, port}) : first[place];
}

} // namespace pipec
