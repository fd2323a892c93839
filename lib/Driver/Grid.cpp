//===- Grid.cpp - The sizes on a command line -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Driver/Grid.h"

#include "Driver/Io.h"
#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Diagnostics/LoweringDiags.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

#include <map>
#include <set>

using namespace llvm;

namespace pipec {

/// The maximum number of values of one parameter.
static constexpr size_t maxValues = 1 << 16;

//===----------------------------------------------------------------------===//
// The command line
//===----------------------------------------------------------------------===//

/// True for a word of the form `NAME=...`.
static bool isSize(StringRef word) {
  StringRef name = word.take_while(isWordByte);
  return !name.empty() && word.drop_front(name.size()).starts_with("=");
}

/// `1000000` for `1e6`; empty for other texts.
static std::string withoutExponent(StringRef text) {
  auto [digits, exponent] = text.split('e');
  unsigned zeros = 0;
  if (digits.empty() || !all_of(digits, isDigit) ||
      exponent.getAsInteger(10, zeros) || zeros > 18)
    return "";
  return digits.str() + std::string(zeros, '0');
}

LogicalResult Grid::add(StringRef name, StringRef list, std::string written,
                        Values values, DiagEngine &diags) {
  for (const Dimension &other : dimensions)
    if (other.name == name)
      return diags.report(DiagLoc(), diag::ParameterGivenTwice, name,
                          other.written, written);
  auto bad = [&](StringRef part, StringRef what) {
    return diags.report(DiagLoc(), diag::OptionValue, shortened(part), written,
                        what);
  };
  auto notNumber = [&](StringRef part) {
    InFlightDiagnostic error =
        bad(part, values == Values::One ? "a 64-bit integer"
                                        : "an integer or a range of them");
    if (std::string meant = withoutExponent(part); !meant.empty())
      error.note(DiagLoc(), diag::NoteDidYouMean, meant);
    return error;
  };
  Dimension dimension{name.str(), {}, written};
  if (values == Values::One) {
    if (list.getAsInteger(10, dimension.values.emplace_back()))
      return notNumber(list);
    dimensions.push_back(std::move(dimension));
    return success();
  }
  std::set<int64_t> seen;
  SmallVector<StringRef> parts;
  list.split(parts, ',');
  for (StringRef part : parts) {
    auto [from, to] = part.split("..");
    int64_t low = 0, high = 0;
    if (from.getAsInteger(10, low))
      return notNumber(part);
    high = low;
    if (part.contains("..") && to.getAsInteger(10, high))
      return notNumber(part);
    if (high < low)
      return bad(part, "a range that rises");
    if (uint64_t(high) - uint64_t(low) >= maxValues)
      return bad(part, "a range of at most 65536 values");
    // Counts by distance, so that a range may end at the largest number.
    for (uint64_t i = 0; i <= uint64_t(high) - uint64_t(low); ++i)
      if (seen.insert(low + int64_t(i)).second)
        dimension.values.push_back(low + int64_t(i));
    if (seen.size() > maxValues)
      return bad(list, "a list of at most 65536 values");
  }
  dimensions.push_back(std::move(dimension));
  return success();
}

FailureOr<Grid> Grid::read(const Arguments &args, Values values,
                           std::vector<std::string> &inputs,
                           DiagEngine &diags) {
  Grid grid;
  bool good = true;
  for (Opt option : {Opt::Ranks, Opt::Microbatches, Opt::Chunks})
    if (args.has(option))
      good &= succeeded(grid.add(optionInfo(option).name, args.text(option),
                                 args.written(option), values, diags));
  auto addText = [&](StringRef text, const Twine &prefix, Values many) {
    std::string written = (prefix + text).str();
    auto [name, list] = text.split('=');
    if (isSize(text))
      good &= succeeded(grid.add(name, list, shortened(written), many, diags));
    else
      good = succeeded(
          diags.report(DiagLoc(), diag::OptionValue, shortened(text),
                       StringRef(prefix.str()).rtrim(" ="),
                       many == Values::One ? "NAME=VALUE" : "NAME=VALUES"));
  };
  for (StringRef text : args.list(Opt::Define))
    addText(text, "-D", values);
  for (StringRef text : args.list(Opt::Grid))
    addText(text, "--grid ", Values::Many);
  for (const std::string &word : args.words()) {
    if (isSize(word))
      addText(word, "", values);
    else
      inputs.push_back(word);
  }
  if (args.has(Opt::Stages))
    for (const Dimension &dimension : grid.dimensions)
      if (dimension.name == "stages")
        return diags.report(DiagLoc(), diag::ParameterGivenTwice, "stages",
                            args.written(Opt::Stages), dimension.written);
  if (!good || failed(checkInputCount(args, inputs, diags)))
    return failure();
  return grid;
}

void Grid::setDefault(StringRef name, ArrayRef<int64_t> values) {
  dimensions.push_back({name.str(), values, ""});
}

void Grid::setSizesOf(const ModelSettings &schedule) {
  setDefault("ranks", int64_t(schedule.numRanks));
  setDefault("microbatches", int64_t(schedule.numMicrobatches()));
  setDefault("slices", int64_t(schedule.numSlices));
}

std::string Grid::writtenBut(ArrayRef<StringRef> names) const {
  for (const Dimension &dimension : dimensions)
    if (!is_contained(names, dimension.name))
      return dimension.written;
  return "";
}

ArrayRef<int64_t> Grid::valuesOf(StringRef name) const {
  for (const Dimension &dimension : dimensions)
    if (dimension.name == name)
      return dimension.values;
  return {};
}

FailureOr<std::optional<int64_t>> Grid::only(StringRef name,
                                             DiagEngine &diags) const {
  for (const Dimension &dimension : dimensions) {
    if (dimension.name != name)
      continue;
    if (dimension.values.size() != 1)
      return diags.report(DiagLoc(), diag::GivenCount,
                          countText(dimension.values.size(), "value"), "one is",
                          dimension.written);
    return std::optional(dimension.values[0]);
  }
  return std::optional<int64_t>();
}

FailureOr<unsigned> Grid::required(const Arguments &args, StringRef name,
                                   unsigned most, DiagEngine &diags,
                                   std::optional<unsigned> otherwise) const {
  FailureOr<std::optional<int64_t>> value = only(name, diags);
  if (failed(value))
    return failure();
  std::string range = "1 to " + utostr(most);
  if (!*value && !otherwise)
    return diags.report(DiagLoc(), diag::OptionNeeds, args.syntax().command,
                        ("--" + name + "=N, from " + range).str());
  int64_t number = value->value_or(otherwise.value_or(0));
  if (number < 1 || number > int64_t(most))
    return diags.report(DiagLoc(), diag::OptionValue, itostr(number),
                        ("--" + name).str(), "a number from " + range);
  return unsigned(number);
}

InputOptions Grid::wanted(const Arguments &args) const {
  InputOptions options;
  for (const Dimension &dimension : dimensions) {
    if (!dimension.insists())
      continue;
    auto &size = dimension.name == "ranks"    ? options.ranks
                 : dimension.name == "stages" ? options.stages
                                              : options.microbatches;
    size = WantedSize{dimension.values, dimension.written};
  }
  if (std::optional<unsigned> stages = args.number(Opt::Stages))
    options.stages = WantedSize{{*stages}, args.written(Opt::Stages)};
  options.dialect = args.text(Opt::Dialect);
  if (args.has(Opt::Reduce))
    options.reduced = args.text(Opt::Reduce);
  if (args.has(Opt::Tie))
    options.ties = args.text(Opt::Tie);
  return options;
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

/// The parameter that `word` refers to; null if there is none.
static const ast::ParamDecl *findParam(const ast::ScheduleDecl &schedule,
                                       StringRef word) {
  const auto *it = find_if(schedule.params, [&](const ast::ParamDecl &param) {
    return param.name.text == word || param.label.text == word;
  });
  return it == schedule.params.end() ? nullptr : it;
}

/// `ranks p`, `microbatches m` and `group`
static std::string paramList(const ast::ScheduleDecl &schedule) {
  std::string text;
  for (const ast::ParamDecl &param : schedule.params) {
    text += text.empty() ? "`" : ", `";
    if (!param.label.text.empty())
      text += param.label.text.str() + " ";
    text += param.name.text.str() + "`";
  }
  return text.empty() ? "none" : text;
}

LogicalResult Grid::fit(ArrayRef<const ast::ScheduleDecl *> schedules,
                        bool otherInputs, DiagEngine &diags) const {
  bool good = true;
  for (const Dimension &dimension : dimensions) {
    if (dimension.written.empty() || (otherInputs && dimension.insists()) ||
        any_of(schedules, [&](const ast::ScheduleDecl *schedule) {
          return findParam(*schedule, dimension.name);
        }))
      continue;
    good = false;
    if (schedules.empty()) {
      (void)diags.report(DiagLoc(), diag::OptionWithoutEffect,
                         dimension.written,
                         "on an input that has no parameters");
      continue;
    }
    InFlightDiagnostic error =
        schedules.size() == 1
            ? diags.report(DiagLoc(), diag::UnknownParameter,
                           schedules[0]->name.text, shortened(dimension.name))
            : reportUsageError(diags, "no schedule has a parameter `" +
                                          shortened(dimension.name) + "`");
    std::vector<StringRef> names;
    for (const ast::ScheduleDecl *schedule : schedules)
      for (const ast::ParamDecl &param : schedule->params) {
        names.push_back(param.name.text);
        names.push_back(param.label.text);
      }
    if (StringRef meant = nearestWord(dimension.name, names); !meant.empty())
      error.note(DiagLoc(), diag::NoteDidYouMean, meant);
    if (schedules.size() == 1)
      error.note(DiagLoc(), diag::NoteParameters, paramList(*schedules[0]));
  }
  for (const ast::ScheduleDecl *schedule : schedules) {
    std::map<const ast::ParamDecl *, const Dimension *> given;
    for (const Dimension *dimension : dimensionsOf(*schedule)) {
      auto [it, fresh] =
          given.try_emplace(findParam(*schedule, dimension->name), dimension);
      if (fresh)
        continue;
      good = false;
      (void)diags.report(DiagLoc(), diag::ParameterGivenTwice,
                         it->first->name.text, it->second->written,
                         dimension->written);
    }
    if (!good)
      break; // the same error for every other schedule
  }
  return success(good);
}

std::vector<const Grid::Dimension *>
Grid::dimensionsOf(const ast::ScheduleDecl &schedule) const {
  std::vector<const Dimension *> own;
  for (const Dimension &dimension : dimensions) {
    const ast::ParamDecl *param = findParam(schedule, dimension.name);
    bool overridden =
        dimension.written.empty() && any_of(own, [&](const Dimension *given) {
          return findParam(schedule, given->name) == param;
        });
    if (param && !overridden)
      own.push_back(&dimension);
  }
  return own;
}

void Grid::forEachPoint(const ast::ScheduleDecl &schedule,
                        function_ref<void(const ParamValues &)> visit) const {
  std::vector<const Dimension *> own = dimensionsOf(schedule);
  std::vector<size_t> at(own.size());
  ParamValues point = this->point(schedule);
  while (true) {
    visit(point);
    size_t i = own.size();
    while (i != 0) {
      --i;
      at[i] = (at[i] + 1) % own[i]->values.size();
      point[i].second = own[i]->values[at[i]];
      if (at[i] != 0)
        break;
      if (i == 0)
        return;
    }
    if (own.empty())
      return;
  }
}

ParamValues Grid::point(const ast::ScheduleDecl &schedule) const {
  ParamValues point;
  for (const Dimension *dimension : dimensionsOf(schedule))
    point.push_back({dimension->name, dimension->values[0]});
  return point;
}

uint64_t Grid::numPoints(const ast::ScheduleDecl &schedule) const {
  uint64_t points = 1;
  for (const Dimension *dimension : dimensionsOf(schedule))
    points =
        std::min(SaturatingMultiply(points, uint64_t(dimension->values.size())),
                 uint64_t(1) << 63);
  return points;
}

std::string paramText(const ParamValues &values) {
  std::string text;
  for (const auto &[name, value] : values) {
    text += text.empty() ? "" : ", ";
    text += name + " = " + std::to_string(value);
  }
  return text;
}

} // namespace pipec
