//===- ValueType.cpp - The types of values of options ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Driver/ValueType.h"

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

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// A number with one of `units`, as multiples of the unit with factor 1.
static std::optional<Rational>
parseQuantity(StringRef text, ArrayRef<std::pair<StringRef, Rational>> units) {
  for (const auto &[unit, factor] : units) {
    StringRef number = text;
    if (!number.consume_back(unit))
      continue;
    std::optional<Rational> value = Rational::parse(number.trim());
    if (value && !value->isNegative())
      return Rational::mul(*value, factor);
  }
  return std::nullopt;
}

std::optional<uint64_t> parseShare(StringRef text) {
  auto share = parseQuantity(text, {{"%", 10'000}, {"", 1'000'000}});
  if (!share || *share > Rational(1'000'000'000))
    return std::nullopt;
  return share->floor();
}

std::optional<std::chrono::milliseconds> parseDuration(StringRef text) {
  auto time = parseQuantity(
      text, {{"ms", 1}, {"s", 1000}, {"min", 60000}, {"m", 60000}, {"", 1000}});
  if (!time || *time > Rational(int64_t(1) << 31))
    return std::nullopt;
  return std::chrono::milliseconds(time->floor());
}

std::optional<TimeWindow> parseWindow(StringRef text) {
  auto [first, second] = text.split(':');
  std::optional<Rational> from = Rational::parse(first);
  std::optional<Rational> to = Rational::parse(second);
  if (!from || !to || from->isNegative() || *to <= *from)
    return std::nullopt;
  return TimeWindow{*from, *to, text.str()};
}

std::optional<uint64_t> parseGoal(StringRef text) {
  if (!text.consume_front("memory"))
    return std::nullopt;
  if (text.empty())
    return 0;
  return text.consume_front(",within=") ? parseShare(text) : std::nullopt;
}

std::optional<StageGraph::Edge> parseEdge(StringRef text) {
  auto [from, to] = text.split("->");
  StageGraph::Edge edge{};
  if (from.trim().getAsInteger(10, edge.from) ||
      to.trim().getAsInteger(10, edge.to))
    return std::nullopt;
  return edge;
}

std::optional<Rational> parseTime(StringRef text) {
  std::optional<Rational> time = Rational::parse(text);
  return time && !time->isNegative() ? time : std::nullopt;
}

std::optional<std::pair<JitterScope, std::optional<Rational>>>
parseSpread(StringRef text) {
  if (text == "profile")
    return std::pair(JitterScope::Step, std::nullopt);
  auto [name, value] = text.split(':');
  std::optional<Rational> spread = Rational::parse(value);
  auto scope = StringSwitch<std::optional<JitterScope>>(name)
                   .Case("step", JitterScope::Step)
                   .Case("rank", JitterScope::Rank)
                   .Case("microbatch", JitterScope::Microbatch)
                   .Case("transfer", JitterScope::Transfer)
                   .Default(std::nullopt);
  if (!scope || !spread || spread->isNegative() ||
      *spread > Rational(maxSpread))
    return std::nullopt;
  return std::pair(*scope, spread);
}

std::optional<Rational> parseFactor(StringRef text) {
  std::optional<Rational> factor = Rational::parse(text);
  bool fits =
      factor && *factor >= *Rational::make(1, 10) && *factor <= Rational(10);
  return fits ? factor : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

SmallVector<StringRef> ValueType::partsOf(StringRef value) const {
  SmallVector<StringRef> parts;
  value.split(parts, ',', hasCommas ? -1 : 0);
  return parts;
}

std::optional<StringRef> ValueType::findWrong(StringRef value) const {
  auto isInstance = [&](StringRef part) {
    uint64_t number = 0;
    if (kind == ValueKind::Flag)
      return part.empty();
    if (kind == ValueKind::Switch)
      return part == "true" || part == "false" || part == "1" || part == "0";
    if (kind == ValueKind::Number)
      return !part.getAsInteger(10, number) && number >= least &&
             number <= most;
    return !accepts || accepts(part);
  };
  for (StringRef part : partsOf(value))
    if (!isInstance(part))
      return part;
  return std::nullopt;
}

std::string ValueType::description() const {
  if (kind == ValueKind::Switch)
    return "true or false";
  if (kind == ValueKind::Number) {
    std::string last = most == opttype::max32   ? "2^32 - 1"
                       : most == opttype::max64 ? "2^64 - 1"
                                                : utostr(most);
    return "a number from " + utostr(least) + " to " + last;
  }
  if (accepts == opttype::Size.accepts)
    return ("a size; a size is a number in the unit of the profile's sizes, "
            "such as 20 or 3.5, or bytes in one of the units " +
            memoryUnits() + ", such as 1.5GiB")
        .str();
  return wanted.str();
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

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

std::vector<Choice> planConsumerChoices() {
  return {
#define PIPEC_PLAN_CONSUMER(Key, Framework, RunsAs, AnyOrder, BuiltIn, Places, \
                            PlacesByTime, Doc)                                 \
  {Key, Doc},
#include "Driver/PlanConsumers.def"
  };
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

std::vector<Choice> communicatorChoices() {
  return choicesOf(communicatorForms, [](const CommunicatorForm &form) {
    return Choice{form.name, waitModelPhrase(form.model)};
  });
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
  return {{"best", "the best of all"},
          {"split", "I and W"},
          {"whole", "B"},
          {"mixed", "I and W, or B, for each backward"}};
}

std::vector<Choice> memoryByChoices() {
  return {{"best", "as they are, with recomputation or with copies"},
          {"plain", "as they are"}};
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
