//===- Warnings.cpp - Options about warnings ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   -WNAME -Wno-NAME -Werror=NAME -Wno-error=NAME --grade=NAME=GRADE
//   -Wall -Wno-all -Werror -Wno-error
//
// NAME is the name of a flag or of a kind of warning.
//
// All commands read them here, and DiagEngine applies them.
//
//===----------------------------------------------------------------------===//

#include "Driver/Warnings.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace llvm;

namespace pipec {

using Grade = DiagEngine::Grade;

static constexpr std::pair<StringLiteral, Grade> grades[] = {
    {"error", Grade::Error},
    {"warning", Grade::Warning},
    {"note", Grade::Note},
    {"off", Grade::Off},
};

std::vector<StringRef> warningNames() {
  std::vector<StringRef> names;
  for (const DiagInfo &info : allDiagInfos())
    if (info.severity == Severity::Warning && !is_contained(names, info.flag))
      names.push_back(info.flag);
  return names;
}

std::string warningText(StringRef name) {
  for (const DiagInfo &info : allDiagInfos())
    if (info.severity == Severity::Warning && info.flag == name)
      return textOf(info);
  return "";
}

std::vector<StringRef> gradeNames() {
  std::vector<StringRef> names;
  for (const auto &[name, grade] : grades)
    names.push_back(name);
  return names;
}

static LogicalResult setGrade(StringRef name, Grade grade, DiagEngine &diags) {
  if (diags.setGrade(name, grade))
    return success();
  std::vector<StringRef> names = {"all", "error"};
  llvm::append_range(names, warningNames());
  return reportUnknownChoice(diags, "warning", name, names);
}

/// Applies the value of one `-W` option. The names of some warnings begin with
/// `no-`.
static LogicalResult applyFlag(StringRef flag, DiagEngine &diags) {
  if (is_contained(warningNames(), flag))
    return setGrade(flag, Grade::On, diags);
  bool on = !flag.consume_front("no-");
  if (flag == "error") {
    diags.setWarningsAreErrors(on);
    return success();
  }
  if (flag.consume_front("error="))
    return setGrade(flag, on ? Grade::Error : Grade::Warning, diags);
  return setGrade(flag, on ? Grade::On : Grade::Off, diags);
}

/// Applies the value of one `--grade` option.
static LogicalResult applyGrades(StringRef list, DiagEngine &diags) {
  SmallVector<StringRef> settings;
  list.split(settings, ',');
  for (StringRef setting : settings) {
    auto [name, value] = setting.split('=');
    const auto *grade = find_if(grades, [&, value = value](const auto &row) {
      return row.first == value;
    });
    if (grade == std::end(grades))
      return reportUnknownChoice(diags, "grade of --grade", value,
                                 gradeNames());
    if (failed(setGrade(name, grade->second, diags)))
      return failure();
  }
  return success();
}

LogicalResult applyWarnings(const Arguments &args, DiagEngine &diags) {
  for (auto [option, value] : args.lists({Opt::Warning, Opt::Grade}))
    if (failed(option == Opt::Warning ? applyFlag(value, diags)
                                      : applyGrades(value, diags)))
      return failure();
  return success();
}

} // namespace pipec
