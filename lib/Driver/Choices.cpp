//===- Choices.cpp - The values that options take -------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver/Choices.h"

#include "Driver/InputFormat.h"
#include "Emit/Emitter.h"
#include "Frameworks/FrameworkTargets.h"
#include "Frameworks/TorchVersions.h"
#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Words.h"
#include "Transforms/Passes.h"
#include "Waiting/WaitModel.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec {

std::vector<Choice> inputFormatChoices() {
  std::vector<Choice> choices;
  for (const InputFormat &format : allInputFormats())
    choices.push_back({format.name, format.summary});
  return choices;
}

std::vector<Choice> modelChoices() {
  std::vector<Choice> choices;
  for (WaitModel model : allWaitModels)
    choices.push_back({waitModelName(model), waitModelPhrase(model)});
  return choices;
}

std::vector<Choice> targetChoices() {
  std::vector<Choice> choices;
  for (const PipelineInfo &target : allPasses().pipelines)
    choices.push_back({target.name, target.summary});
  return choices;
}

std::vector<Choice> torchVersionChoices() {
  std::vector<Choice> choices;
  for (const TorchVersion &version : torchVersions)
    choices.push_back({version.name, version.phrase});
  return choices;
}

std::vector<Choice> dialectChoices() {
  return {{"torch-2.5", "`B` and `W` are the halves of a backward, `BW` is a "
                        "whole one"}};
}

std::vector<Choice> frameworkTargetChoices() {
  std::vector<Choice> choices;
  for (const FrameworkTarget &framework : frameworkTargets)
    choices.push_back({framework.name, framework.title});
  return choices;
}

std::vector<Choice> emitChoices() {
  std::vector<Choice> choices;
  for (const EmitterInfo &info : allEmitters())
    choices.push_back({info.name, info.summary});
  return choices;
}

std::vector<Choice> cppChoices() {
  return {{"loops", "code with loops"}, {"table", "constant tables"}};
}

std::vector<Choice> memoryViewChoices() {
  return {{"panel", "a curve per rank, below the lanes"},
          {"heat", "a strip per lane: the darker, the more memory"},
          {"none", "no memory"}};
}

std::vector<Choice> timelineChoices() {
  return {{"across", "a row per rank"},
          {"down", "a row per time slot, whatever the costs"}};
}

std::vector<Choice> formatChoices() { return {{"text", ""}, {"json", ""}}; }

std::vector<Choice> tableFormatChoices() {
  return {{"text", ""}, {"json", ""}, {"csv", ""}};
}

std::vector<Choice> findingFormatChoices() {
  return {{"text", ""},
          {"json", ""},
          {"sarif", "SARIF 2.1.0, for code scanning"},
          {"github", "annotations of GitHub Actions"},
          {"junit", "JUnit XML"}};
}

std::vector<Choice> sortChoices() {
  return {{"makespan", ""},  {"bubble_makespan", ""},
          {"span", ""},      {"bubble_span", ""},
          {"peak", ""},      {"memory", ""},
          {"transfers", ""}, {"exposed", ""},
          {"copies", ""},    {"bound", ""},
          {"name", ""},      {"parameters", ""},
          {"layout", ""},    {"target", ""},
          {"pytorch", ""},   {"torchtitan", ""},
          {"deepspeed", ""}, {"megatron", ""}};
}

std::vector<Choice> searchPlacementChoices() {
  return {{"loop", "stages in rounds over the ranks"},
          {"v", "down the ranks and back"},
          {"best", "the best of both, with up to --chunks chunks"}};
}

std::vector<Choice> backwardChoices() {
  return {{"best", "the better of both"}, {"split", "I and W"}, {"whole", "B"}};
}

std::vector<Choice> diagnosticsFormatChoices() {
  return {{"text", ""}, {"json", ""}};
}

std::vector<Choice> colorChoices() {
  return {{"auto", ""}, {"always", ""}, {"never", ""}};
}

InFlightDiagnostic reportUnknownChoice(DiagEngine &diags, StringRef noun,
                                       StringRef word,
                                       ArrayRef<StringRef> choices) {
  InFlightDiagnostic error =
      diags.report(DiagLoc(), diag::UnknownChoice, noun, shortened(word));
  // If many are equally similar, none of them is a useful hint.
  std::vector<StringRef> meant = nearestWords(word, choices);
  if (!meant.empty() && meant.size() <= 3)
    error.note(DiagLoc(), diag::NoteDidYouMean, join(meant, "` or `"));
  error.note(DiagLoc(), diag::NoteChoices, join(choices, "`, `"));
  return error;
}

} // namespace pipec
