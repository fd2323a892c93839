//===- Verifier.cpp - The levels of the verifier --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Verify/Verifier.h"
#include "Verify/VerifierDetail.h"

using namespace llvm;

namespace pipec {

static bool wants(VerifyLevel levels, VerifyLevel level) {
  return (unsigned(levels) & unsigned(level)) != 0;
}

VerifyLevel levelsAboveCompute(const Schedule &schedule, uint32_t kinds) {
  using namespace step_facts;
  constexpr uint32_t ofShards =
      (kindsOf(Object::Parameters) | kindsOf(Object::Gradients)) & ~extras;
  unsigned levels = 0;
  if (kinds & (transfers | sendWaits))
    levels |= unsigned(VerifyLevel::Placed);
  if (kinds & ofShards)
    levels |= unsigned(VerifyLevel::Sharded);
  if (kinds & kindsOn(Stream::Tied))
    levels |= unsigned(VerifyLevel::Tied);
  if (!schedule.times.empty())
    levels |= unsigned(VerifyLevel::Timed);
  return VerifyLevel(levels);
}

/// The levels of a set without compute.
static bool verifyAbove(const Schedule &schedule, VerifyLevel levels,
                        const StateScan &scan, DiagEngine &diags,
                        const PresentRanks &present) {
  bool good = true;
  if (wants(levels, VerifyLevel::Placed)) {
    good &= succeeded(verifyPlaced(schedule, diags, present));
    if (scan.kinds & step_facts::sendWaits)
      good &= succeeded(verifySendWaits(schedule, diags));
  }
  if (wants(levels, VerifyLevel::Sharded))
    good &= succeeded(verifySharded(schedule, scan, diags, present));
  if (wants(levels, VerifyLevel::Tied))
    good &= succeeded(verifyTied(schedule, diags, present));
  if (wants(levels, VerifyLevel::Timed))
    good &= succeeded(verifyTimed(schedule, diags));
  return good;
}

/// Reports overlaps of steps on several streams.
static LogicalResult verifyStreams(const Schedule &schedule,
                                   DiagEngine &diags) {
  if (schedule.streams.empty())
    return success();
  StepReporter reporter(schedule, diags);
  auto nameOf = [&](unsigned stream) -> StringRef {
    return stream ? StringRef(schedule.streams.names[stream - 1]) : "compute";
  };
  bool good = true;
  for (unsigned rank = 0; rank != schedule.ranks.size(); ++rank) {
    const StepList &list = schedule.ranks[rank];
    for (uint32_t i = 1; i < list.size() && !reporter.full(); ++i) {
      unsigned own = schedule.streams.of(list[i]);
      unsigned before = schedule.streams.of(list[i - 1]);
      if (!list[i - 1].joined() || !isCompute(list[i].kind()) || own == before)
        continue;
      good = false;
      (void)reporter.report({rank, i}, diag::OverlapStreams, nameOf(before),
                            nameOf(own));
    }
  }
  return success(good);
}

LogicalResult verify(const Schedule &schedule, DiagEngine &diags) {
  StateScan scan = scanStates(schedule, {});
  ComputeVerdict compute = verifyCompute(schedule, scan, diags, {});
  // Other levels would report a missing, duplicate or misplaced step again.
  if (compute == ComputeVerdict::Broken)
    return failure();
  bool good = compute == ComputeVerdict::Good;
  good &= succeeded(verifyStreams(schedule, diags));
  good &= verifyAbove(schedule, levelsAboveCompute(schedule, scan.kinds), scan,
                      diags, {});
  return success(good);
}

LogicalResult verify(const Schedule &schedule, VerifyLevel level,
                     DiagEngine &diags, const PresentRanks &present) {
  StateScan scan = scanStates(schedule, present);
  bool good =
      !wants(level, VerifyLevel::Compute) ||
      verifyCompute(schedule, scan, diags, present) == ComputeVerdict::Good;
  if (wants(level, VerifyLevel::Compute))
    good &= succeeded(verifyStreams(schedule, diags));
  good &= verifyAbove(schedule, level, scan, diags, present);
  return success(good);
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

Cells::Cells(const Schedule &schedule)
    : total(uint64_t(schedule.numStages) * schedule.numUnits),
      microbatches(schedule.numUnits) {
  // A complete schedule has a forward for every pair.
  uint64_t steps = schedule.numSteps();
  dense = total <= steps + (1u << 16);
  if (dense)
    return;
  for (const StepList &list : schedule.ranks)
    for (Step step : list)
      if (hasUnit(step.kind()))
        sparse.try_emplace(unitKey(step), sparse.size());
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
      unsigned home = schedule.rankOf(list[i].stage(), list[i].unit());
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
