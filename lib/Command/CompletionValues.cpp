//===- CompletionValues.cpp - Completion of values ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values of types that are lists of words. Choices and files need nothing here.
//
//===----------------------------------------------------------------------===//

#include "Command/Completer.h"

#include "Command/CommandRun.h"
#include "Command/DescribeCommand.h"
#include "Cost/Figure.h"
#include "Driver/Io.h"
#include "Transforms/Passes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace pipec {

/// The text after the last comma.
static StringRef lastItem(StringRef list) {
  return list.substr(list.rfind(',') + 1);
}

void Completer::completePasses(StringRef typed) {
  // The list is a,b{option=value,...},...
  size_t begin = 0, open = StringRef::npos;
  for (auto [i, c] : enumerate(typed)) {
    if (c == '{')
      open = i;
    else if (c == '}')
      open = StringRef::npos;
    else if (c == ',' && open == StringRef::npos)
      begin = i + 1;
  }
  if (open == StringRef::npos) {
    for (const PassInfo &pass : allPasses().passes)
      add(typed.substr(begin), pass.name, pass.summary);
    for (const PipelineInfo &target : allPasses().pipelines)
      add(typed.substr(begin), target.name, target.summary);
    return;
  }
  const PassInfo *pass = allPasses().findPass(typed.slice(begin, open));
  if (!pass)
    return;
  StringRef setting = lastItem(typed.substr(open + 1));
  auto [name, value] = setting.split('=');
  for (const PassOptionInfo &option : pass->options) {
    if (!setting.contains('=')) {
      add(setting, option.name + "=", option.help);
      continue;
    }
    SmallVector<StringRef> values;
    StringRef(option.values).split(values, '|');
    for (StringRef word : values)
      if (option.name == name && !word.empty() && isLower(word.front()))
        add(value, word, "");
  }
}

void Completer::completeWarning(StringRef typed) {
  StringRef name = typed;
  name.consume_front("no-");
  bool graded = name.consume_front("error=");
  for (StringRef warning : warningNames())
    add(name, warning, warningText(warning));
  if (graded)
    return;
  add(name, "error", "All warnings are errors");
  add(name, "error=", "This warning is an error");
  add(name, "all", "All warnings");
  if (name.size() == typed.size())
    add(typed, "no-", "Not this warning");
}

void Completer::completeGrades(StringRef typed) {
  StringRef item = lastItem(typed);
  auto [name, grade] = item.split('=');
  if (item.contains('='))
    for (StringRef word : gradeNames())
      add(grade, word, "");
  else
    for (StringRef warning : warningNames())
      add(item, warning + "=", warningText(warning));
}

void Completer::completeCosts(StringRef typed) {
  StringRef item = lastItem(typed);
  for (StringRef name : figureNames(FigureBlock::Cost, FigureScope::Whole))
    add(item, name + "=",
        findFigure(FigureBlock::Cost, FigureScope::Whole, name)->doc);
}

void Completer::completeParameter(StringRef typed) {
  StringSet<> given;
  for (StringRef word : args->list(Opt::Define))
    given.insert(word.split('=').first);
  for (const std::string &word : args->words())
    given.insert(StringRef(word).split('=').first);
  constexpr Opt roles[] = {Opt::Ranks, Opt::Microbatches, Opt::Chunks};
  for (Opt role : roles)
    if (args->has(role))
      given.insert(optionInfo(role).name);

  std::vector<const ast::ScheduleDecl *> schedules = inputSchedules();
  for (const ast::ScheduleDecl *schedule : schedules)
    for (const ast::ParamDecl &param : schedule->params) {
      StringRef label = param.label.text, name = param.name.text;
      if (given.contains(name) || (!label.empty() && given.contains(label)))
        continue;
      StringRef word = label.empty() ? name : label;
      given.insert(word);
      add(typed, word + "=", parameterText(param));
    }
  // Commands that choose the schedules offer the sizes of all.
  if (schedules.empty() && args->syntax().inputs.least == 0)
    for (Opt role : roles)
      if (args->takes(role) && !given.contains(optionInfo(role).name))
        add(typed, optionInfo(role).name + "=", optionInfo(role).help);
}

void Completer::completeValue(const OptionInfo &info, StringRef typed) {
  for (const Choice &choice : info.choices(args->syntax()))
    add(info.type.hasCommas ? lastItem(typed) : typed, choice.name,
        choice.summary);
  switch (info.id) {
  case Opt::Passes:
    return completePasses(typed);
  case Opt::Warning:
    return completeWarning(typed);
  case Opt::Grade:
    return completeGrades(typed);
  case Opt::Cost:
    return completeCosts(typed);
  case Opt::Define:
  case Opt::Grid:
    return completeParameter(typed);
  case Opt::Minimize:
    return add(typed, "memory", "");
  case Opt::Explain:
    for (const DiagInfo &kind : allDiagInfos())
      add(typed, kind.name, textOf(kind));
    return;
  case Opt::Schedule:
    for (const ast::ScheduleDecl *schedule : inputSchedules()) {
      add(typed, schedule->name.text, "");
      for (const ast::StringLit &alias : schedule->aliases())
        add(typed, alias.value, "");
    }
    return;
  default:
    break;
  }
  if (info.type.kind == ValueKind::Switch)
    for (StringRef value : {"true", "false"})
      add(typed, value, "");
  if (info.type.kind == ValueKind::Schedule)
    addSchedules(typed);
  if (info.type.isFile())
    addFiles(typed);
}

} // namespace pipec
