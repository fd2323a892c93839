//===- VerifySettings.cpp - The levels that --verify names ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Driver/VerifySettings.h"

#include "Driver/Choices.h"
#include "Simulation/MemoryLimit.h"
#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Words.h"
#include "Verify/TrainingRules.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec {

static constexpr std::pair<StringLiteral, VerifyLevel> levelNames[] = {
    {"none", VerifyLevel::None},     {"compute", VerifyLevel::Compute},
    {"placed", VerifyLevel::Placed}, {"sharded", VerifyLevel::Sharded},
    {"tied", VerifyLevel::Tied},     {"timed", VerifyLevel::Timed},
};

std::vector<StringRef> VerifySettings::names() {
  std::vector<StringRef> names;
  for (const auto &[name, level] : levelNames)
    names.push_back(name);
  return names;
}

FailureOr<VerifySettings> VerifySettings::parse(ArrayRef<StringRef> lists,
                                                DiagEngine &diags) {
  VerifySettings settings;
  bool none = false;
  SmallVector<StringRef> given;
  for (StringRef list : lists)
    list.split(given, ',');
  settings.all = given.empty();
  for (StringRef name : given) {
    const auto *it =
        find_if(levelNames, [&](const auto &row) { return row.first == name; });
    if (it == std::end(levelNames))
      return reportUnknownChoice(diags, "verifier level", name, names());
    if (it->second != VerifyLevel::None)
      settings.levels.push_back(it->second);
    else
      none = true;
  }
  if (none && !settings.levels.empty())
    return diags.report(DiagLoc(), diag::UnusableOption,
                        "--verify=none excludes other levels");
  return settings;
}

LogicalResult VerifySettings::run(const Schedule &schedule,
                                  DiagEngine &diags) const {
  if (all)
    return verify(schedule, diags);
  if (is_contained(levels, VerifyLevel::Timed) && schedule.times.empty())
    return diags.report(DiagLoc(), diag::OptionWithoutEffect, "--verify=timed",
                        "on steps without start times");
  bool good = true;
  for (VerifyLevel level : levels)
    good &= succeeded(verify(schedule, level, diags));
  return success(good);
}

void VerifySettings::warn(const Schedule &schedule, DiagEngine &diags) const {
  if (!any())
    return;
  checkLossOrder(schedule, Severity::Warning, diags);
  checkUnshardsUsed(schedule, Severity::Warning, diags);
  checkMemoryLimit(schedule, Severity::Warning, diags);
}

} // namespace pipec
