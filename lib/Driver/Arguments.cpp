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

#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Words.h"
#include "Transforms/Passes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Option/Arg.h"
#include "llvm/Option/ArgList.h"
#include "llvm/Option/OptTable.h"
#include "llvm/Option/Option.h"

using namespace llvm;

namespace pipec {

//===----------------------------------------------------------------------===//
// The table of llvm::opt
//===----------------------------------------------------------------------===//

namespace {

/// One way to write an option.
struct Spelling {
  StringLiteral text;
  Opt option;
  optgroup::Set group;
  opt::Option::OptionClass kind;
};

constexpr Spelling spellings[] = {
#define PIPEC_FLAG(Group, Id, Name, Help)                                      \
  {"--" Name, Opt::Id, optgroup::Group, opt::Option::FlagClass},
#define PIPEC_SWITCH(Group, Id, Name, Help)                                    \
  {"--" Name, Opt::Id, optgroup::Group, opt::Option::FlagClass},               \
      {"--no-" Name, Opt::Id, optgroup::Group, opt::Option::FlagClass},        \
      {"--" Name "=", Opt::Id, optgroup::Group, opt::Option::JoinedClass},
#define PIPEC_VALUE(Group, Id, Name, Type, Value, Help)                        \
  {"--" Name "=", Opt::Id, optgroup::Group, opt::Option::JoinedClass},         \
      {"--" Name, Opt::Id, optgroup::Group, opt::Option::SeparateClass},
#define PIPEC_OPTIONAL(Group, Id, Name, Type, Value, Implied, Help)            \
  {"--" Name "=", Opt::Id, optgroup::Group, opt::Option::JoinedClass},         \
      {"--" Name, Opt::Id, optgroup::Group, opt::Option::FlagClass},
#define PIPEC_CHOICE(Group, Id, Name, Noun, Choices, Help)                     \
  {"--" Name "=", Opt::Id, optgroup::Group, opt::Option::JoinedClass},         \
      {"--" Name, Opt::Id, optgroup::Group, opt::Option::SeparateClass},
#define PIPEC_SHORT(Group, Id, Name, Type, Value, Help)                        \
  {"-" Name, Opt::Id, optgroup::Group, opt::Option::JoinedOrSeparateClass},
#define PIPEC_SHORT_NAME(Group, Id, Name, Kind)                                \
  {"-" Name, Opt::Id, optgroup::Group, opt::Option::Kind##Class},              \
      {"-" Name "=", Opt::Id, optgroup::Group, opt::Option::JoinedClass},
#include "Driver/Options.def"
};

constexpr StringLiteral prefixes[] = {"--", "-"};

/// The order in which llvm::opt searches: alphabetical, except that a name
/// comes before its own prefixes.
bool isBefore(StringRef a, StringRef b) {
  size_t common = std::min(a.size(), b.size());
  if (int order =
          a.take_front(common).compare_insensitive(b.take_front(common)))
    return order < 0;
  if (a.size() != b.size())
    return a.size() > b.size();
  return a < b;
}

StringRef withoutDashes(StringRef text) { return text.ltrim('-'); }

/// A set of groups in the 32 bits of llvm::opt, where two groups may share one:
/// which options a command takes is checked once more after they are found.
/// Options of one spelling must not have groups that share a bit.
constexpr unsigned folded(optgroup::Set groups) {
  return unsigned(groups) | unsigned(groups >> 32);
}

/// The spellings as a table of llvm::opt.
class Table : public opt::GenericOptTable {
public:
  static const Table &get() {
    static const Rows rows;
    static const Table table(rows);
    return table;
  }
  /// The spelling of a parsed option.
  const Spelling &spelling(const opt::Option &option) const {
    return *rows.sorted[option.getID() - numSpecial - 1];
  }

private:
  /// Words and unknown options come first.
  static constexpr unsigned numSpecial = 2;

  struct Rows {
    Rows();
    std::vector<const Spelling *> sorted;
    std::vector<Info> infos;
  };

  explicit Table(const Rows &rows) : GenericOptTable(rows.infos), rows(rows) {
    setDashDashParsing(true);
  }

  const Rows &rows;
};

Table::Rows::Rows() {
  for (const Spelling &spelling : spellings)
    sorted.push_back(&spelling);
  llvm::stable_sort(sorted, [](const Spelling *a, const Spelling *b) {
    return isBefore(withoutDashes(a->text), withoutDashes(b->text));
  });
  auto add = [&](ArrayRef<StringLiteral> prefixes, StringLiteral name,
                 opt::Option::OptionClass kind, optgroup::Set group) {
    infos.push_back({prefixes,
                     name,
                     nullptr,
                     {},
                     nullptr,
                     unsigned(infos.size() + 1),
                     (unsigned char)kind,
                     /*Param=*/0,
                     /*Flags=*/0,
                     folded(group),
                     /*GroupID=*/0,
                     /*AliasID=*/0,
                     nullptr,
                     nullptr});
  };
  add({}, "<input>", opt::Option::InputClass, ~optgroup::Set(0));
  add({}, "<unknown>", opt::Option::UnknownClass, ~optgroup::Set(0));
  for (const Spelling *spelling : sorted)
    add(ArrayRef(prefixes)
            .drop_front(spelling->text.starts_with("--") ? 0 : 1)
            .take_front(1),
        spelling->text, spelling->kind, spelling->group);
}

} // namespace

/// The spelling `text` if its value is the next argument.
static const Spelling *separate(StringRef text) {
  for (const Spelling &spelling : spellings)
    if (spelling.text == text && spelling.kind == opt::Option::SeparateClass)
      return &spelling;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

Arguments::Arguments(ArrayRef<const char *> argv, optgroup::Set groups)
    : groups(groups) {
  const Table &table = Table::get();
  // An option is missing its value if another option follows it.
  SmallVector<const char *> rest;
  for (size_t i = 0; i != argv.size(); ++i) {
    bool ends = i + 1 == argv.size();
    const Spelling *spelling = separate(argv[i]);
    if (spelling && (spelling->group & groups) &&
        (ends || StringRef(argv[i + 1]).starts_with("--")))
      all.push_back({&optionInfo(spelling->option), "", argv[i],
                     Given::Problem::NoValue});
    else
      rest.push_back(argv[i]);
  }
  unsigned missingIndex = 0, missingCount = 0;
  opt::InputArgList list = table.ParseArgs(rest, missingIndex, missingCount,
                                           opt::Visibility(folded(groups)));
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
  for (const Spelling &spelling : spellings)
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
  StringRef bare = withoutDashes(name);
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
    error.note(DiagLoc(), diag::NoteDidYouMean,
               shortened(("--passes=" + withoutDashes(given.value)).str()));
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
    return reportUnknownChoice(diags, info.noun, value, names);
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
