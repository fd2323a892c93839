//===- Choices.cpp - The values that options take -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Driver/Choices.h"

#include "Driver/InputFormat.h"
#include "Driver/Io.h"
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

static constexpr auto nameAndSummary = [](const auto &row) {
  return Choice{row.name, row.summary};
};

/// A choice per row of a table.
static std::vector<Choice> choicesOf(const auto &rows, auto choiceOf) {
  std::vector<Choice> choices;
  for (const auto &row : rows)
    choices.push_back(choiceOf(row));
  return choices;
}

std::vector<Choice> inputFormatChoices() {
  return choicesOf(allInputFormats(), nameAndSummary);
}

std::vector<Choice> modelChoices() {
  return choicesOf(allWaitModels, [](WaitModel model) {
    return Choice{waitModelName(model), waitModelPhrase(model)};
  });
}

std::vector<Choice> targetChoices() {
  return choicesOf(allPasses().pipelines, nameAndSummary);
}

std::vector<Choice> torchVersionChoices() {
  return choicesOf(torchVersions, [](const TorchVersion &version) {
    return Choice{version.name, version.phrase};
  });
}

std::vector<Choice> dialectChoices() {
  return {{"torch-2.5", "`B` and `W` are the halves of a backward, `BW` is a "
                        "whole one"}};
}

std::vector<Choice> frameworkTargetChoices() {
  return choicesOf(frameworkTable, [](const FrameworkInfo &framework) {
    return Choice{framework.key, framework.title};
  });
}

std::vector<Choice> emitChoices() {
  std::vector<Choice> choices = choicesOf(allEmitters(), nameAndSummary);
  for (const FrameworkEmitter &one : frameworkEmitters())
    choices.push_back({one.key, one.summary});
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

std::vector<Choice> sortChoices() {
  std::vector<Choice> choices = {
#define PIPEC_FIGURE_KEY(Key, IsRate, Value) {Key, ""},
#define PIPEC_SORT_KEY(Key, Order) {Key, ""},
#include "Driver/SortKeys.def"
  };
  for (const FrameworkInfo &framework : frameworkTable)
    choices.push_back({framework.key, ""});
  return choices;
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
  if (const FrameworkInfo *framework = findFramework(word);
      framework && noun == "target")
    return reportUsageError(diags, framework->title +
                                       " has no target, because it runs orders "
                                       "of its own code; --emit=" +
                                       framework->key +
                                       " writes the settings that choose one");
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
