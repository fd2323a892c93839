//===- MegatronLayout.cpp - --emit=megatron-layout ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layers of the stages in the notation of Megatron-LM's
// `--pipeline-model-parallel-layout` (Cost/LayoutText.h), on one line.
//
//===----------------------------------------------------------------------===//

#include "Frameworks/MegatronLayout.h"

#include "Cost/LayerLayout.h"
#include "Frameworks/FrameworkFormats.h"
#include "Support/Diagnostics/EmitDiags.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

void checkMegatronLayout(const Schedule &schedule, bool addsEnds,
                         DiagEngine &diags) {
  ArrayRef<std::string> stages = schedule.layers;
  if (stages.empty())
    return;
  if (!(addsEnds && onlyDecoders(stages)))
    if (auto problem = megatronProblem(stages, schedule.numRanks)) {
      DiagLoc loc = placeOfLayer(schedule, problem->stage, problem->layer);
      StringRef letters = stages[problem->stage];
      StringRef letter = letters.substr(problem->layer, 1);
      if (problem->isMtp)
        (void)diags.report(loc, diag::LayoutMtp, letter);
      else
        (void)diags.report(loc, diag::LayoutEnds, letter);
    }
  for (const auto &[stage, letters] : enumerate(stages))
    if (letters.empty())
      (void)diags.report(placeOfLayer(schedule, stage, 0),
                         diag::LayoutEmptyStage, stage);
}

LogicalResult emitMegatronLayout(const Schedule &schedule, raw_ostream &os,
                                 DiagEngine &diags) {
  checkMegatronLayout(schedule, /*addsEnds=*/false, diags);
  os << layoutText(schedule.layers) << '\n';
  return success();
}

} // namespace pipec
