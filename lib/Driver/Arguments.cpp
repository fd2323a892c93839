//===- Arguments.cpp - Parsed command lines -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Driver/Arguments.h"

#include "Driver/Io.h"
#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Words.h"
#include "Transforms/Passes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec {

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

Arguments::Arguments(ArrayRef<const char *> argv, const CommandSyntax &syntax)
    : commandSyntax(syntax) {
  for (size_t i = 0; i != argv.size(); ++i) {
    StringRef arg = argv[i];
    if (arg == "--") {
      allWords.insert(allWords.end(), argv.begin() + i + 1, argv.end());
      return;
    }
    if (arg.empty())
      continue;
    if (!arg.starts_with("-") || arg == "-") {
      allWords.push_back(arg.str());
      continue;
    }
    OptionMatch match = matchOption(arg, syntax.groups);
    Given &given =
        all.emplace_back(Given{match.option, arg.str(), shortened(arg)});
    if (!match) {
      given.problem = Given::Problem::Unknown;
      continue;
    }
    const ValueType &type = match.option->type;
    given.value = match.value.str();
    using Form = OptionMatch::Form;
    if (type.kind == ValueKind::Switch && match.form != Form::Joined)
      given.value = match.form == Form::On ? "true" : "false";
    if (match.form != Form::Separate)
      continue;
    bool isLong = arg.starts_with("--");
    // The next argument is not the value if it is an option.
    if (i + 1 == argv.size() ||
        (isLong && StringRef(argv[i + 1]).starts_with("--"))) {
      given.problem = Given::Problem::NoValue;
      continue;
    }
    given.value = argv[++i];
    given.text = shortened((arg + (isLong ? "=" : "") + given.value).str());
  }
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

LogicalResult Arguments::checkUnknown(const Given &given,
                                      DiagEngine &diags) const {
  optgroup::Set groups = commandSyntax.groups;
  auto [name, value] = StringRef(given.value).split('=');
  StringRef bare = name.ltrim('-');
  for (const OptionInfo &info : allOptions())
    if ((info.group & groups) && info.type.isFlag() &&
        (name == info.spelling() || name == ("-" + info.letter).str()))
      return diags.report(DiagLoc(), diag::UnusableOption,
                          info.spelling() + " takes no value, got `" +
                              given.text + "`");
  InFlightDiagnostic error =
      diags.report(DiagLoc(), diag::UnknownOption, given.text);
  std::vector<StringRef> names;
  for (const OptionInfo &info : allOptions())
    if (info.isShown(groups) && info.name.size() > 1)
      names.push_back(info.name);
  // Names of passes are options of mlir-opt and opt, but not of these programs.
  StringRef pass = bare.take_until([](char c) { return c == '{'; });
  if ((groups & optgroup::Passes) &&
      (allPasses().findPass(pass) || allPasses().findPipeline(pass))) {
    error.note(
        DiagLoc(), diag::NoteDidYouMean,
        shortened(("--passes=" + StringRef(given.value).ltrim('-')).str()));
    return failure();
  }
  // A short option of many programs.
  StringRef meant = name == "-v" ? "version" : nearestWord(bare, names);
  if (meant.empty())
    return failure();
  std::string text = ("--" + meant).str();
  bool takesValue = any_of(allOptions(), [&](const OptionInfo &info) {
    return (info.group & groups) && info.name == meant && !info.type.isFlag();
  });
  if (takesValue && !value.empty())
    text += ("=" + value).str();
  error.note(DiagLoc(), diag::NoteDidYouMean, shortened(text));
  return failure();
}

LogicalResult Arguments::checkValue(const Given &given,
                                    DiagEngine &diags) const {
  const OptionInfo &info = *given.info;
  StringRef value = given.value;
  std::vector<StringRef> names = info.choiceNames(commandSyntax);
  for (StringRef part : info.type.partsOf(value)) {
    if (names.empty() || is_contained(names, part) ||
        (info.type.also && info.type.also(part)))
      continue;
    InFlightDiagnostic error =
        reportUnknownChoice(diags, info.type.noun, part, names);
    if (info.id == Opt::Emit && isPythonPicture(part))
      error.note(DiagLoc(), diag::NotePythonPictures);
    return error;
  }
  std::optional<StringRef> wrong = info.type.findWrong(value);
  if (!wrong)
    return success();
  return diags.report(DiagLoc(), diag::OptionValue, shortened(*wrong),
                      info.spelling(), info.type.description());
}

LogicalResult Arguments::checkRelations(DiagEngine &diags) const {
  for (auto [first, second] : exclusiveOptions())
    if (has(first) && has(second))
      return diags.report(DiagLoc(), diag::OptionsExclusive, written(first),
                          written(second));
  for (auto [option, required] : requiredOptions())
    if (has(option) && takes(required) && !has(required))
      return reportUseless(option, "without " + optionInfo(required).spelling(),
                           diags);
  return success();
}

LogicalResult Arguments::check(DiagEngine &diags) const {
  bool good = true;
  for (const Given &given : all) {
    if (given.problem == Given::Problem::Unknown) {
      good &= succeeded(checkUnknown(given, diags));
      continue;
    }
    const OptionInfo &info = *given.info;
    if (given.problem == Given::Problem::NoValue) {
      good = false;
      InFlightDiagnostic error =
          diags.report(DiagLoc(), diag::OptionValueMissing, given.text);
      if (info.type.isChoice())
        error.note(DiagLoc(), diag::NoteChoices,
                   join(info.choiceNames(commandSyntax), "`, `"));
      continue;
    }
    const Given *first = find(info.id);
    if (!info.type.isList && !info.type.isFlag() && first != &given) {
      good = false;
      (void)diags.report(DiagLoc(), diag::OptionTwice, info.spelling(),
                         first->text, given.text);
      continue;
    }
    good &= succeeded(checkValue(given, diags));
  }
  return success(good && succeeded(checkRelations(diags)));
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

const Arguments::Given *Arguments::find(Opt option) const {
  for (const Given &given : all)
    if (given.info && given.info->id == option)
      return &given;
  return nullptr;
}

StringRef Arguments::text(Opt option, StringRef otherwise) const {
  const Given *given = find(option);
  return given ? StringRef(given->value) : otherwise;
}

std::optional<unsigned> Arguments::number(Opt option) const {
  unsigned value = 0;
  if (!has(option) || text(option).getAsInteger(10, value))
    return std::nullopt;
  return value;
}

uint64_t Arguments::count(Opt option, uint64_t otherwise) const {
  uint64_t value = 0;
  return !has(option) || text(option).getAsInteger(10, value) ? otherwise
                                                              : value;
}

std::optional<unsigned> Arguments::index(Opt option) const {
  std::vector<StringRef> names = optionInfo(option).choiceNames(commandSyntax);
  auto it = llvm::find(names, text(option));
  if (!has(option) || it == names.end())
    return std::nullopt;
  return it - names.begin();
}

bool Arguments::isOn(Opt option, bool otherwise) const {
  StringRef value = text(option);
  return value.empty() ? otherwise : value == "true" || value == "1";
}

std::vector<StringRef> Arguments::list(Opt option) const {
  std::vector<StringRef> values;
  for (const Given &given : all)
    if (given.info && given.info->id == option)
      values.push_back(given.value);
  return values;
}

std::vector<StringRef> Arguments::items(Opt option) const {
  std::vector<StringRef> items;
  for (StringRef value : list(option))
    append_range(items, optionInfo(option).type.partsOf(value));
  return items;
}

std::vector<std::pair<Opt, StringRef>>
Arguments::lists(ArrayRef<Opt> options) const {
  std::vector<std::pair<Opt, StringRef>> values;
  for (const Given &given : all)
    if (given.info && is_contained(options, given.info->id))
      values.push_back({given.info->id, given.value});
  return values;
}

std::optional<Opt> Arguments::firstOf(optgroup::Set groups) const {
  for (const Given &given : all)
    if (given.info && (given.info->group & groups))
      return given.info->id;
  return std::nullopt;
}

std::string Arguments::written(Opt option) const { return find(option)->text; }

InFlightDiagnostic Arguments::reportUseless(Opt option, const Twine &where,
                                            DiagEngine &diags) const {
  return diags.report(DiagLoc(), diag::OptionWithoutEffect, written(option),
                      where.str());
}

} // namespace pipec
