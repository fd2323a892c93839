//===- Frameworks.cpp - Where a schedule runs -----------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Compare/Frameworks.h"

#include "Cost/LayerLayout.h"
#include "Frameworks/Megatron.h"
#include "Frameworks/TargetCheck.h"
#include "Lint/TorchVerdict.h"
#include "Search/Problem.h"
#include "Transforms/Passes.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

StringRef runsAsName(RunsAs how) {
  switch (how) {
  case RunsAs::No:
    return "";
  case RunsAs::Csv:
    return "csv";
  case RunsAs::Json:
    return "json";
  case RunsAs::BuiltIn:
    return "built-in";
  case RunsAs::Executor:
    return "executor";
  }
  llvm_unreachable("all values are handled");
}

//===----------------------------------------------------------------------===//
// The rules
//===----------------------------------------------------------------------===//

/// The rules for one schedule: for each row of Frameworks.def a member
/// `refusesId`, which returns true if the framework does not run the schedule.
class FrameworkJudge::Rules {
public:
  Rules(FrameworkJudge &judge, const Schedule &computes,
        const Schedule &shipped, const TorchVersion &version,
        ArrayRef<std::string> layout)
      : judge(judge), schedule(computes), shipped(shipped), version(version),
        layout(layout), chunks(computes.numStages / computes.numRanks) {}

  Verdicts run();

private:
  bool refusesShipped() { return refusedByTorch(shipped); }
  bool refusesComputes() { return refusedByTorch(schedule); }
  bool refusesNeitherLoopNorV() {
    return !isPlacedAs(/*isV=*/false) && !(chunks == 2 && isPlacedAs(true));
  }
  bool refusesDeepSpeed();
  bool refusesNotAChain() const { return !schedule.graph.isChain(); }
  bool refusesNotLoop() { return !isPlacedAs(/*isV=*/false); }
  bool refusesHalves() const { return isMismatch(MegatronMismatch::Half); }
  bool refusesNotInterleaved() const {
    return isMismatch(MegatronMismatch::Order);
  }
  bool refusesGroupSize() const { return isMismatch(MegatronMismatch::Group); }
  bool refusesNotAModel() const {
    return !onlyDecoders(layout) && !layout.empty() &&
           megatronProblem(layout, schedule.numRanks);
  }

  bool refusedByTorch(const Schedule &list);
  bool isMismatch(MegatronMismatch::Reason reason) const;
  bool isPlacedAs(bool isV) const;
  bool hasStages() const;
  std::string settingsOf(Framework framework) const;

  FrameworkJudge &judge;
  const Schedule &schedule;
  const Schedule &shipped;
  const TorchVersion &version;
  ArrayRef<std::string> layout;
  unsigned chunks;
  /// What is reported of the last list.
  std::string detail;
  std::variant<MegatronSettings, MegatronMismatch> megatron =
      recogniseMegatron(schedule);
};

bool FrameworkJudge::Rules::refusedByTorch(const Schedule &list) {
  std::vector<Diagnostic> reasons =
      reasonsAgainst(list, version, judge.diags.sourceFiles());
  if (reasons.empty())
    return false;
  detail = reasons.front().message;
  return true;
}

/// The target splits overlaps and adds the transfers itself.
bool FrameworkJudge::Rules::refusesDeepSpeed() {
  Schedule plain = schedule;
  (void)makeUnpair({})->run(plain, judge.diags);
  std::vector<Diagnostic> reasons =
      refusals(plain, Target::Deepspeed, judge.diags.sourceFiles());
  if (reasons.empty())
    return false;
  detail = reasons.front().message;
  return true;
}

bool FrameworkJudge::Rules::isPlacedAs(bool isV) const {
  return schedule.placement ==
         Placement({search::placementMap(isV, schedule.numRanks, chunks)});
}

bool FrameworkJudge::Rules::isMismatch(MegatronMismatch::Reason reason) const {
  const auto *why = std::get_if<MegatronMismatch>(&megatron);
  return why && why->reason == reason;
}

/// True if every rank has a stage.
bool FrameworkJudge::Rules::hasStages() const {
  BitVector used(schedule.numRanks);
  for (unsigned d = 0; d != schedule.placement.numDirections(); ++d)
    for (uint32_t rank : schedule.placement.map(d))
      used.set(rank);
  return used.all();
}

std::string FrameworkJudge::Rules::settingsOf(Framework framework) const {
  if (framework == Framework::Megatron)
    return std::get<MegatronSettings>(megatron).commandLine(layout);
  return "";
}

Verdicts FrameworkJudge::Rules::run() {
  Verdicts verdicts;
  for (const FrameworkInfo &info : frameworkTable)
    verdicts[size_t(info.framework)].how = info.how;
  auto refuse = [&](Framework framework, StringRef why) {
    Verdict &verdict = verdicts[size_t(framework)];
    verdict.how = RunsAs::No;
    verdict.reason = why.str();
    if (!detail.empty())
      verdict.reason += ": " + detail;
  };
#define PIPEC_FRAMEWORK_RULE(Which, Id, Refusal)                               \
  detail.clear();                                                              \
  if (verdicts[size_t(Framework::Which)].how != RunsAs::No && refuses##Id())   \
    refuse(Framework::Which, Refusal);
#include "Compare/Frameworks.def"
  // The executor runs all orders.
  Verdict &torch = verdicts[size_t(Framework::PyTorch)];
  if (torch.how == RunsAs::No && hasStages())
    torch.how = RunsAs::Executor;
  for (const FrameworkInfo &info : frameworkTable)
    if (Verdict &verdict = verdicts[size_t(info.framework)];
        verdict.how == RunsAs::BuiltIn)
      verdict.settings = settingsOf(info.framework);
  return verdicts;
}

//===----------------------------------------------------------------------===//
// The judge
//===----------------------------------------------------------------------===//

Verdicts FrameworkJudge::judge(const Schedule &computes,
                               const Schedule &shipped,
                               const TorchVersion &version,
                               ArrayRef<std::string> layout) {
  return Rules(*this, computes, shipped, version, layout).run();
}

} // namespace pipec
