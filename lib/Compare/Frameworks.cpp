//===- Frameworks.cpp - Where a schedule runs -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Compare/Frameworks.h"

#include "Cost/LayerLayout.h"
#include "Frameworks/Megatron.h"
#include "IR/RegularPlacements.h"
#include "Lint/Lint.h"
#include "Transforms/Passes.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

StringRef runsAsName(RunsAs how) {
  static constexpr StringLiteral names[] = {"", "csv", "json", "built-in",
                                            "executor"};
  return names[size_t(how)];
}

//===----------------------------------------------------------------------===//
// The rules
//===----------------------------------------------------------------------===//

/// The rules for one schedule: for each rule of Frameworks.def a member
/// `refusesId`, which returns true if the framework does not run the schedule.
class FrameworkJudge::Rules {
public:
  Rules(FrameworkJudge &judge, const Schedule &computes,
        const Schedule &shipped, const TorchVersion &version,
        ArrayRef<std::string> layout)
      : judge(judge), schedule(computes), shipped(shipped), version(version),
        layout(layout) {}

  Verdicts run(std::optional<Framework> only);

private:
  bool refusesShipped(Framework) { return refusedByTorch(shipped); }
  bool refusesComputes(Framework) { return refusedByTorch(schedule); }
  bool refusesNeitherLoopNorV(Framework framework) {
    return refusesNotLoop(framework) &&
           (schedule.placement.bidirectional() ||
            !isV(schedule.placement.map(0), schedule.numRanks));
  }
  bool refusesTarget(Framework framework);
  bool refusesNotAChain(Framework) { return !schedule.graph.isChain(); }
  bool refusesNotLoop(Framework) {
    return schedule.placement.bidirectional() ||
           !isLoop(schedule.placement.map(0), schedule.numRanks);
  }
  bool refusesHalves(Framework) { return isMismatch(MegatronMismatch::Half); }
  bool refusesNotInterleaved(Framework) {
    return isMismatch(MegatronMismatch::Order);
  }
  bool refusesGroupSize(Framework) {
    return isMismatch(MegatronMismatch::Group);
  }
  bool refusesNotAModel(Framework) {
    return !onlyDecoders(layout) && !layout.empty() &&
           (firstOther(layout) || megatronProblem(layout, schedule.numRanks));
  }

  bool isRefused(function_ref<void(DiagEngine &)> check);
  bool refusedByTorch(const Schedule &list) {
    return isRefused(
        [&](DiagEngine &diags) { (void)checkForTorch(list, version, diags); });
  }
  bool isMismatch(MegatronMismatch::Reason reason) const;
  bool hasStages() const;

  FrameworkJudge &judge;
  const Schedule &schedule;
  const Schedule &shipped;
  const TorchVersion &version;
  ArrayRef<std::string> layout;
  /// The first error of the last check.
  std::string detail;
  std::variant<MegatronSettings, MegatronMismatch> megatron =
      recogniseMegatron(schedule);
};

/// True if `check` reports an error; the first one becomes the detail.
bool FrameworkJudge::Rules::isRefused(function_ref<void(DiagEngine &)> check) {
  std::vector<Diagnostic> errors = errorsOf(judge.diags.sourceFiles(), check);
  if (!errors.empty())
    detail = errors.front().message;
  return !errors.empty();
}

/// Runs the passes of the framework's target, which add the transfers.
bool FrameworkJudge::Rules::refusesTarget(Framework framework) {
  Schedule list = schedule;
  return isRefused([&](DiagEngine &diags) {
    (void)judge.passes[size_t(framework)].run(list, diags);
  });
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

Verdicts FrameworkJudge::Rules::run(std::optional<Framework> only) {
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
  if (only.value_or(Framework::Which) == Framework::Which &&                   \
      verdicts[size_t(Framework::Which)].how != RunsAs::No &&                  \
      refuses##Id(Framework::Which))                                           \
    refuse(Framework::Which, Refusal);
#include "Frameworks/Frameworks.def"
  // The executor runs all orders.
  Verdict &torch = verdicts[size_t(Framework::PyTorch)];
  if (torch.how == RunsAs::No && hasStages())
    torch.how = RunsAs::Executor;
  if (const auto *settings = std::get_if<MegatronSettings>(&megatron))
    verdicts[size_t(Framework::Megatron)].settings =
        settings->commandLine(layout);
  return verdicts;
}

//===----------------------------------------------------------------------===//
// The judge
//===----------------------------------------------------------------------===//

FrameworkJudge::FrameworkJudge(DiagEngine &diags) : diags(diags) {
  for (const FrameworkInfo &info : frameworkTable)
    passes.emplace_back(*parsePipeline(info.target, allPasses(), diags));
}

Verdicts FrameworkJudge::judge(const Schedule &computes,
                               const Schedule &shipped,
                               const TorchVersion &version,
                               ArrayRef<std::string> layout,
                               std::optional<Framework> only) {
  return Rules(*this, computes, shipped, version, layout).run(only);
}

} // namespace pipec
