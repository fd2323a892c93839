//===- ValueType.cpp - The types of values of options ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Driver/ValueType.h"

#include "Import/CostText.h"

#include "llvm/ADT/SmallVector.h"
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

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static bool isInstance(const ValueType &type, StringRef value) {
  switch (type.kind) {
  case ValueKind::Flag:
    return value.empty();
  case ValueKind::Switch:
    return value == "true" || value == "false" || value == "1" || value == "0";
  case ValueKind::Number: {
    uint64_t number = 0;
    return !value.getAsInteger(10, number) && number >= type.least &&
           number <= type.most;
  }
  case ValueKind::Share:
    return parseShare(value).has_value();
  case ValueKind::Duration:
    return parseDuration(value).has_value();
  case ValueKind::Time: {
    std::optional<Rational> time = Rational::parse(value);
    return time && !time->isNegative();
  }
  case ValueKind::Factor: {
    std::optional<Rational> factor = Rational::parse(value);
    return factor && *factor >= *Rational::make(1, 10) &&
           *factor <= Rational(10);
  }
  case ValueKind::Window:
    return parseWindow(value).has_value();
  case ValueKind::Edges:
    return parseEdge(value).has_value();
  case ValueKind::Size:
    return parseMemorySize(value).has_value();
  case ValueKind::Goal:
    return parseGoal(value).has_value();
  case ValueKind::Text:
  case ValueKind::Choice:
  case ValueKind::Form:
  case ValueKind::File:
  case ValueKind::Schedule:
    return true;
  }
  llvm_unreachable("all kinds are listed");
}

std::optional<StringRef> ValueType::findWrong(StringRef value) const {
  SmallVector<StringRef> parts = {value};
  if (kind == ValueKind::Edges) {
    parts.clear();
    value.split(parts, ',');
  }
  for (StringRef part : parts)
    if (!isInstance(*this, part))
      return part;
  return std::nullopt;
}

std::string ValueType::description() const {
  switch (kind) {
  case ValueKind::Flag:
  case ValueKind::Text:
  case ValueKind::Choice:
  case ValueKind::Form:
  case ValueKind::File:
  case ValueKind::Schedule:
    break;
  case ValueKind::Switch:
    return "true or false";
  case ValueKind::Number: {
    std::string last = most == opttype::max32   ? "2^32 - 1"
                       : most == opttype::max64 ? "2^64 - 1"
                                                : utostr(most);
    return "a number from " + utostr(least) + " to " + last;
  }
  case ValueKind::Share:
    return "a share such as 1% or 0.01";
  case ValueKind::Duration:
    return "a time such as 10s, 2m or 500ms";
  case ValueKind::Time:
    return "a time";
  case ValueKind::Factor:
    return "a number from 0.1 to 10";
  case ValueKind::Window:
    return "FROM:TO with FROM < TO";
  case ValueKind::Edges:
    return "an edge between two stages, such as 0->2";
  case ValueKind::Size:
    return ("a size; a size is a number in the unit of the profile's sizes, "
            "such as 20 or 3.5, or bytes in one of the units " +
            memoryUnits() + ", such as 1.5GiB")
        .str();
  case ValueKind::Goal:
    return "memory, or memory,within=1%";
  }
  return "";
}

} // namespace pipec
