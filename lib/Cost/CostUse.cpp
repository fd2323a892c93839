//===- CostUse.cpp - The costs that a schedule uses -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Cost/CostUse.h"

#include "Support/Diagnostics/AnalysisDiags.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec {

AssumedCosts::AssumedCosts(const CostSettings &costs, const CostUse &use) {
  for (const CostUse::Entry &entry : use.entries())
    for (unsigned kind = 0; kind != rulesOf.size(); ++kind)
      if (entry.kinds >> kind & 1) {
        CostRule rule =
            costs.ruleOf(StepKind(kind), entry.stage, entry.rank, entry.unit);
        if (rule != CostRule::Given)
          rulesOf[kind] |= 1u << unsigned(rule);
      }
}

SmallVector<StepKind, 4> AssumedCosts::kinds() const {
  SmallVector<StepKind, 4> kinds;
  for (auto [kind, rules] : enumerate(rulesOf))
    if (rules)
      kinds.push_back(StepKind(kind));
  return kinds;
}

static std::string joined(ArrayRef<StepKind> kinds) {
  std::string text;
  for (auto [i, kind] : enumerate(kinds))
    text += ((i == 0                  ? ""
              : i + 1 == kinds.size() ? " and "
                                      : ", ") +
             stepKindName(kind))
                .str();
  return text;
}

std::string AssumedCosts::kindsText() const { return joined(kinds()); }

/// The value of an assumed cost of `kind` by `rule`, for a text after "is" or
/// "are".
static StringRef ruleText(CostRule rule, StepKind kind) {
  bool isI = kind == StepKind::I;
  switch (rule) {
  case CostRule::Given:
    break;
  case CostRule::HalfOfB:
  case CostRule::HalfBackward:
    return "half of B";
  case CostRule::HalfOfSum:
    return "half of I + W";
  case CostRule::Sum:
    return "I + W";
  case CostRule::TwiceF:
    return "2 F";
  case CostRule::RestOfB:
    return isI ? "B - W" : "B - I";
  case CostRule::OtherHalf:
    return isI ? "as long as W" : "as long as I";
  case CostRule::AsF:
    return "as long as F";
  }
  llvm_unreachable("a given cost has no rule");
}

std::string AssumedCosts::text() const {
  // The kinds of each rule, in the order of the first of them.
  SmallVector<std::pair<StringRef, SmallVector<StepKind, 4>>, 4> groups;
  for (StepKind kind : kinds())
    for (unsigned rule = 0; rule != 16; ++rule)
      if (rulesOf[unsigned(kind)] >> rule & 1) {
        StringRef text = ruleText(CostRule(rule), kind);
        auto *group = find_if(
            groups, [&](const auto &other) { return other.first == text; });
        if (group == groups.end()) {
          groups.push_back({text, {}});
          group = &groups.back();
        }
        group->second.push_back(kind);
      }
  std::string text;
  ListSeparator comma;
  raw_string_ostream os(text);
  for (const auto &[rule, kinds] : groups)
    os << comma << joined(kinds) << (kinds.size() == 1 ? " is " : " are ")
       << rule;
  return text;
}

void AssumedCosts::write(json::OStream &json) const {
  json.attributeArray("assumed", [&] {
    for (StepKind kind : kinds())
      json.value(stepKindName(kind));
  });
}

void warnOfAssumed(const AssumedCosts &assumed, DiagLoc loc,
                   DiagEngine &diags) {
  if (!assumed.empty())
    (void)diags.report(loc, diag::SplitCostAssumed, assumed.kindsText(),
                       assumed.text());
}

} // namespace pipec
