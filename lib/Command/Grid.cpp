//===- Grid.cpp - Many sizes of a schedule -----===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command/Grid.h"

#include "Driver/Input.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

#include <set>

using namespace llvm;

namespace pipec {

/// Values of one parameter; more are a slip of the finger.
static constexpr size_t maxValues = 1 << 16;

/// True for a word of the form `NAME=...`.
static bool isDimension(StringRef word) {
  StringRef name =
      word.take_while([](char c) { return isAlnum(c) || c == '_'; });
  return !name.empty() && word.drop_front(name.size()).starts_with("=");
}

LogicalResult Grid::add(StringRef text, DiagEngine &diags) {
  auto bad = [&](const Twine &why) {
    return unusable(diags, "`" + text + "` " + why);
  };
  if (!isDimension(text))
    return bad("is not NAME=VALUES");
  auto [name, list] = text.split('=');
  if (any_of(dimensions, [&, name = name](const Dimension &dimension) {
        return dimension.name == name;
      }))
    return bad("is a second list of values for `" + name + "`");
  Dimension dimension{name.str(), {}};
  std::set<int64_t> seen;
  SmallVector<StringRef> parts;
  list.split(parts, ',');
  for (StringRef part : parts) {
    auto [from, to] = part.split("..");
    int64_t low = 0, high = 0;
    if (from.getAsInteger(10, low))
      return bad("holds `" + part + "`, which is neither a number nor a range");
    high = low;
    if (part.contains("..") && to.getAsInteger(10, high))
      return bad("holds `" + part + "`, which is neither a number nor a range");
    if (high < low)
      return bad("holds the empty range `" + part + "`");
    if (uint64_t(high) - uint64_t(low) >= maxValues)
      return bad("holds more than " + Twine(maxValues) + " values");
    // Counted by distance, so that a range may end at the largest number.
    for (uint64_t i = 0; i <= uint64_t(high) - uint64_t(low); ++i)
      if (seen.insert(low + int64_t(i)).second)
        dimension.values.push_back(low + int64_t(i));
    if (seen.size() > maxValues)
      return bad("holds more than " + Twine(maxValues) + " values");
  }
  dimensions.push_back(std::move(dimension));
  return success();
}

LogicalResult Grid::add(const ParamValues &values, DiagEngine &diags) {
  for (size_t i = 0; i != values.size(); ++i) {
    const auto &[name, value] = values[i];
    // The last value counts.
    if (none_of(ArrayRef(values).drop_front(i + 1),
                [&, &name = name](const auto &later) {
                  return later.first == name;
                }) &&
        failed(add(name + "=" + std::to_string(value), diags)))
      return failure();
  }
  return success();
}

/// The parameter that `word` means; null when there is none.
static const ast::ParamDecl *findParam(const ast::ScheduleDecl &schedule,
                                       StringRef word) {
  const auto *it = find_if(schedule.params, [&](const ast::ParamDecl &param) {
    return param.name.text == word || param.label.text == word;
  });
  return it == schedule.params.end() ? nullptr : it;
}

LogicalResult Grid::fit(ArrayRef<const ast::ScheduleDecl *> schedules,
                        DiagEngine &diags) const {
  bool good = true;
  for (const Dimension &dimension : dimensions) {
    if (any_of(schedules, [&](const ast::ScheduleDecl *schedule) {
          return findParam(*schedule, dimension.name);
        }))
      continue;
    good = false;
    InFlightDiagnostic error =
        schedules.size() == 1
            ? diags.report(DiagLoc(), diag::UnknownParameter,
                           schedules[0]->name.text, dimension.name)
            : unusable(diags,
                       "no schedule has a parameter `" + dimension.name + "`");
    std::vector<StringRef> names;
    for (const ast::ScheduleDecl *schedule : schedules)
      for (const ast::ParamDecl &param : schedule->params) {
        names.push_back(param.name.text);
        names.push_back(param.label.text);
      }
    if (StringRef meant = nearestWord(dimension.name, names); !meant.empty())
      error.note(DiagLoc(), diag::NoteDidYouMean, meant);
  }
  for (const ast::ScheduleDecl *schedule : schedules) {
    std::map<const ast::ParamDecl *, StringRef> words;
    for (const Dimension *dimension : dimensionsOf(*schedule)) {
      auto [it, fresh] = words.try_emplace(
          findParam(*schedule, dimension->name), dimension->name);
      if (fresh)
        continue;
      good = false;
      (void)diags.report(DiagLoc(), diag::ParameterGivenTwice,
                         it->first->name.text, it->second, dimension->name);
    }
  }
  return success(good);
}

std::vector<const Grid::Dimension *>
Grid::dimensionsOf(const ast::ScheduleDecl &schedule) const {
  std::vector<const Dimension *> own;
  for (const Dimension &dimension : dimensions)
    if (findParam(schedule, dimension.name))
      own.push_back(&dimension);
  return own;
}

void Grid::forEachPoint(const ast::ScheduleDecl &schedule,
                        function_ref<void(const ParamValues &)> visit) const {
  std::vector<const Dimension *> own = dimensionsOf(schedule);
  std::vector<size_t> at(own.size());
  ParamValues point;
  for (const Dimension *dimension : own)
    point.push_back({dimension->name, dimension->values[0]});
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

uint64_t Grid::numPoints(const ast::ScheduleDecl &schedule) const {
  uint64_t points = 1;
  for (const Dimension *dimension : dimensionsOf(schedule))
    points =
        std::min(SaturatingMultiply(points, uint64_t(dimension->values.size())),
                 uint64_t(1) << 63);
  return points;
}

GridFlags::GridFlags(cl::OptionCategory &category, StringRef overview)
    : words(cl::Positional, cl::desc("<file or name>..."), cl::cat(category)),
      grid("grid", cl::desc(overview), cl::value_desc("NAME=2,4..8"),
           cl::cat(category)) {}

LogicalResult GridFlags::read(Grid &into, std::vector<std::string> &inputs,
                              DiagEngine &diags) const {
  for (StringRef text : grid)
    if (failed(into.add(text, diags)))
      return failure();
  for (StringRef word : words) {
    if (!grid.getNumOccurrences() || !isDimension(word))
      inputs.push_back(word.str());
    else if (failed(into.add(word, diags)))
      return failure();
  }
  return success();
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
