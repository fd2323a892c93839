//===- Arguments.cpp - Parsed command lines -------------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// llvm::opt splits the command line; the types of values are checked here.
//
//===----------------------------------------------------------------------===//

#include "Driver/Arguments.h"

#include "Driver/OptionTable.h"
#include "Driver/OutputName.h"
#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Words.h"
#include "Transforms/Passes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Option/Arg.h"
#include "llvm/Option/ArgList.h"
#include "llvm/Option/Option.h"

using namespace llvm;

namespace pipec {

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

Arguments::Arguments(ArrayRef<const char *> argv, optgroup::Set groups)
    : groups(groups) {
  const OptionTable &table = OptionTable::get();
  // An option is missing its value if another option follows it. What follows
  // `--` is not an option.
  SmallVector<const char *> rest;
  for (size_t i = 0; i != argv.size(); ++i) {
    if (StringRef(argv[i]) == "--") {
      rest.append(argv.begin() + i, argv.end());
      break;
    }
    bool ends = i + 1 == argv.size();
    const Spelling *spelling = findSpelling(argv[i], groups);
    if (spelling && spelling->kind == opt::Option::SeparateClass &&
        (ends || StringRef(argv[i + 1]).starts_with("--")))
      all.push_back({&optionInfo(spelling->option), "", argv[i],
                     Given::Problem::NoValue});
    else
      rest.push_back(argv[i]);
  }
  unsigned missingIndex = 0, missingCount = 0;
  opt::InputArgList list =
      table.parse(rest, missingIndex, missingCount, groups);
  for (const opt::Arg *arg : list) {
    const opt::Option &option = arg->getOption();
    if (option.getKind() == opt::Option::InputClass) {
      for (const char *value : arg->getValues())
        allWords.push_back(value);
      continue;
    }
    if (option.getKind() == opt::Option::UnknownClass) {
      std::string text = arg->getAsString(list);
      all.push_back({nullptr, text, shortened(text), Given::Problem::Unknown});
      continue;
    }
    const Spelling &spelling = table.spelling(option);
    const OptionInfo &info = optionInfo(spelling.option);
    if (!(spelling.group & groups)) {
      std::string text = arg->getAsString(list);
      all.push_back({nullptr, text, shortened(text), Given::Problem::Unknown});
      continue;
    }
    Given given{&info, "", ""};
    if (arg->getNumValues())
      given.value = arg->getValue();
    else if (info.type == OptionType::Switch)
      given.value = spelling.text.starts_with("--no-") ? "false" : "true";
    else
      given.value = info.implied.str();
    StringRef text = spelling.text;
    if (option.getKind() == opt::Option::SeparateClass)
      given.text = (text + "=").str();
    else
      given.text = text.str();
    if (arg->getNumValues())
      given.text += given.value;
    given.text = shortened(given.text);
    all.push_back(std::move(given));
  }
  // The last argument is a short option without its value.
  StringRef text = missingCount ? rest[missingIndex] : "";
  for (const Spelling &spelling : allSpellings())
    if (missingCount && spelling.text == text && (spelling.group & groups)) {
      all.push_back({&optionInfo(spelling.option), "", text.str(),
                     Given::Problem::NoValue});
      break;
    }
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// Reports a value where none is taken; `text` is the option as written.
static LogicalResult reportValueOfFlag(const OptionInfo &info, StringRef text,
                                       DiagEngine &diags) {
  return diags.report(
      DiagLoc(), diag::UnusableOption,
      (info.spelling() + " takes no value, got `" + text + "`").str());
}

LogicalResult Arguments::checkUnknown(const Given &given,
                                      DiagEngine &diags) const {
  auto [name, value] = StringRef(given.value).split('=');
  StringRef bare = name.ltrim('-');
  for (const OptionInfo &info : allOptions())
    if ((info.group & groups) && info.type == OptionType::Flag &&
        info.spelling() == name)
      return reportValueOfFlag(info, given.text, diags);
  InFlightDiagnostic error =
      diags.report(DiagLoc(), diag::UnknownOption, given.text);
  std::vector<StringRef> names;
  for (const OptionInfo &info : allOptions())
    if ((info.group & groups) && info.name.size() > 1 && !info.help.empty())
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
    return (info.group & groups) && info.name == meant &&
           info.type != OptionType::Flag;
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
  auto bad = [&](StringRef what) {
    return diags.report(DiagLoc(), diag::OptionValue, shortened(value),
                        info.spelling(), what);
  };
  switch (info.type) {
  case OptionType::Flag:
    if (value.empty())
      return success();
    return reportValueOfFlag(info, given.text, diags);
  case OptionType::Text:
  case OptionType::List:
    return success();
  case OptionType::Switch:
    if (value == "true" || value == "false" || value == "1" || value == "0")
      return success();
    return bad("true or false");
  case OptionType::Number:
  case OptionType::Count: {
    uint64_t number = 0;
    bool wide = info.type == OptionType::Count;
    if (value.getAsInteger(10, number) || (!wide && number > UINT32_MAX))
      return bad(wide ? "a number from 0 to 2^64 - 1"
                      : "a number from 0 to 2^32 - 1");
    return success();
  }
  case OptionType::Choice: {
    std::vector<StringRef> names;
    for (const Choice &choice : info.choices())
      names.push_back(choice.name);
    if (is_contained(names, value))
      return success();
    InFlightDiagnostic error =
        reportUnknownChoice(diags, info.noun, value, names);
    if (info.id == Opt::Emit && isPythonPicture(value))
      error.note(DiagLoc(), diag::NotePythonPictures);
    return error;
  }
  }
  llvm_unreachable("all types are checked");
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
      if (info.type != OptionType::Choice)
        continue;
      std::vector<StringRef> names;
      for (const Choice &choice : info.choices())
        names.push_back(choice.name);
      error.note(DiagLoc(), diag::NoteChoices, join(names, "`, `"));
      continue;
    }
    const Given *first = find(info.id);
    if (info.type != OptionType::List && info.type != OptionType::Flag &&
        first != &given) {
      good = false;
      (void)diags.report(DiagLoc(), diag::OptionTwice, info.spelling(),
                         first->text, given.text);
      continue;
    }
    good &= succeeded(checkValue(given, diags));
  }
  return success(good);
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

} // namespace pipec
