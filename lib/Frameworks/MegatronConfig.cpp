//===- MegatronConfig.cpp - --emit=megatron-config and megatron-layout ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The settings with which Megatron-LM itself runs the schedule, as JSON: words
// of its command line, and attributes of megatron-core's configuration. If
// there are none, the first step that differs is reported. docs/Megatron.md
// lists the keys.
//
// A layout is the layers of the stages in the notation of
// `--pipeline-model-parallel-layout` (Cost/LayoutText.h), on one line.
//
//===----------------------------------------------------------------------===//

#include "Cost/LayerLayout.h"
#include "Frameworks/FrameworkFormats.h"
#include "Frameworks/Megatron.h"
#include "Frameworks/TargetCheck.h"
#include "IR/StepPlaces.h"
#include "Support/Diagnostics/EmitDiags.h"
#include "Support/Json.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec {

/// Reports why no settings give the schedule, at its place.
static LogicalResult report(const Schedule &schedule,
                            const MegatronMismatch &why, DiagEngine &diags) {
  if (why.reason == MegatronMismatch::Placement) {
    ArrayRef<uint32_t> map = schedule.placement.map(0);
    if (why.stage == map.size())
      return diags.report(schedule.source, diag::MegatronStages, schedule.name,
                          countText(map.size(), "stage"),
                          countText(schedule.numRanks, "rank"));
    return diags.report(schedule.source, diag::MegatronPlacement, schedule.name,
                        why.stage, map[why.stage],
                        why.stage % schedule.numRanks);
  }
  const MegatronSettings &nearest = why.nearest;
  auto [rank, index] = why.place;
  if (index == schedule.ranks[rank].size())
    return diags.report(schedule.source, diag::MegatronTooShort, rank,
                        stepText(schedule, *why.expected));
  SourceLoc loc = schedule.ranks[rank][index].source();
  StepPlace place = StepPlaces(schedule).name(rank, index);
  switch (why.reason) {
  case MegatronMismatch::Placement:
    break;
  case MegatronMismatch::Half:
    return diags.report(loc, diag::MegatronHalf, place);
  case MegatronMismatch::Order: {
    auto error = diags.report(loc, diag::MegatronOrder, place);
    if (why.expected)
      error.note(DiagLoc(), diag::NoteMegatronStep, nearest.text(),
                 stepText(schedule, *why.expected));
    return error;
  }
  case MegatronMismatch::Group:
    return diags
        .report(loc, diag::MegatronGroup, place,
                countText(nearest.group, "micro-batch", "es"),
                countText(nearest.ranks, "rank"),
                countText(nearest.microbatches, "micro-batch", "es"))
        .note(DiagLoc(), diag::NoteMegatronGroup);
  }
  llvm_unreachable("all reasons are handled");
}

static void write(const Schedule &schedule, const MegatronSettings &settings,
                  json::OStream &json) {
  json.attribute("command_line", settings.commandLine(schedule.layers));
  writeTexts(json, "arguments", settings.flags(schedule.layers));
  json.attributeObject("config", [&] {
    json.attribute("pipeline_model_parallel_size", settings.ranks);
    auto attribute = [&](StringRef key, unsigned value) {
      json.attribute(key, settings.chunks != 1 ? json::Value(value)
                                               : json::Value(nullptr));
    };
    attribute("virtual_pipeline_model_parallel_size", settings.chunks);
    attribute("microbatch_group_size_per_vp_stage", settings.group);
    json.attribute("overlap_moe_expert_parallel_comm", settings.overlaps);
  });
  json.attributeArray("notes", [&] {
    json.value("--global-batch-size is " + utostr(settings.microbatches) +
               " times --micro-batch-size times the number of data-parallel "
               "ranks");
    if (settings.chunks != 1 && schedule.layers.empty())
      json.value("--num-layers is a multiple of the " +
                 utostr(schedule.numStages) + " stages");
    if (settings.chunks != 1 && settings.ranks == 2)
      json.value("with 2 ranks Megatron-LM refuses interleaved 1F1B with "
                 "--no-overlap-p2p-communication");
    if (settings.overlaps)
      json.value("--overlap-moe-expert-parallel-comm needs a model with "
                 "experts in parallel");
  });
}

/// Warns of the first layer of the layout of `schedule`, if it has one, that
/// Megatron-LM refuses, and of each empty stage; at their places in the text,
/// if there is one. With `addsEnds` a layout of decoder layers alone is right,
/// since the embedding and the loss are added to it.
static void checkMegatronLayout(const Schedule &schedule, bool addsEnds,
                                DiagEngine &diags) {
  ArrayRef<std::string> stages = schedule.layers;
  if (stages.empty())
    return;
  if (std::optional<char> other = firstOther(stages))
    (void)diags.report(schedule.source, diag::LayoutOther, *other);
  else if (!(addsEnds && onlyDecoders(stages)))
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

LogicalResult emitMegatronConfig(const Schedule &schedule, raw_ostream &os,
                                 DiagEngine &diags) {
  if (failed(checkOutput(schedule, Output::MegatronConfig, diags)))
    return failure();
  auto recognised = recogniseMegatron(schedule);
  if (const auto *why = std::get_if<MegatronMismatch>(&recognised))
    return report(schedule, *why, diags);
  checkMegatronLayout(schedule, /*addsEnds=*/true, diags);
  return emitJsonFile(schedule, /*output=*/std::nullopt, "", os, diags,
                      [&](json::OStream &json) {
                        write(schedule, std::get<MegatronSettings>(recognised),
                              json);
                      });
}

LogicalResult emitMegatronLayout(const Schedule &schedule, raw_ostream &os,
                                 DiagEngine &diags) {
  checkMegatronLayout(schedule, /*addsEnds=*/false, diags);
  os << layoutText(schedule.layers) << '\n';
  return success();
}

} // namespace pipec
