//===- Options.cpp - The table of command line options --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Driver/Options.h"

#include "Support/StepKind.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

#include <vector>

using namespace llvm;

namespace pipec {

//===----------------------------------------------------------------------===//
// The tables
//===----------------------------------------------------------------------===//

ArrayRef<OptionInfo> allOptions() {
  static const std::vector<OptionInfo> table = [] {
    using namespace opttype;
    std::vector<OptionInfo> rows = {
#define PIPEC_OPTION(Group, Id, Name, Type, Help)                              \
  {Opt::Id, optgroup::Group, Name, Type, Help, ""},
#include "Driver/Options.def"
    };
    for (OptionInfo &row : rows)
      if (row.name.size() == 1)
        row.letter = row.name;
#define PIPEC_OPTION_LETTER(Id, Letter) rows[size_t(Opt::Id)].letter = Letter;
#define PIPEC_LIVE(Id, Use) rows[size_t(Opt::Id)].live = LiveUse::Use;
#include "Driver/Options.def"
    return rows;
  }();
  return table;
}

const OptionInfo &optionInfo(Opt option) {
  return allOptions()[size_t(option)];
}

StringRef groupHeading(optgroup::Set group) {
  static constexpr StringLiteral headings[] = {
#define PIPEC_OPTION_GROUP(Group, Heading) Heading,
#include "Driver/Options.def"
  };
  return headings[countr_zero(group)];
}

ArrayRef<OptionRelation> exclusiveOptions() {
  static constexpr OptionRelation rows[] = {
#define PIPEC_EXCLUDES(First, Second) {Opt::First, Opt::Second},
#include "Driver/Options.def"
  };
  return rows;
}

ArrayRef<OptionRelation> requiredOptions() {
  static constexpr OptionRelation rows[] = {
#define PIPEC_REQUIRES(First, Second) {Opt::First, Opt::Second},
#include "Driver/Options.def"
  };
  return rows;
}

ArrayRef<FormInfo> allForms() {
  static constexpr FormInfo rows[] = {
      {form::Text, "text", "txt", ""},
      {form::Json, "json", "json", ""},
      {form::Csv, "csv", "csv", ""},
      {form::Sarif, "sarif", "sarif", "SARIF 2.1.0, for code scanning"},
      {form::Github, "github", "", "annotations of GitHub Actions"},
      {form::Junit, "junit", "xml", "JUnit XML"},
  };
  return rows;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

std::string OptionInfo::spelling() const {
  return (name == letter ? "-" : "--") + name.str();
}

std::vector<Choice> OptionInfo::choices(const CommandSyntax &syntax) const {
  if (type.choices)
    return type.choices();
  std::vector<Choice> forms;
  if (type.kind == ValueKind::Form)
    for (const FormInfo &form : allForms())
      if (form.form & syntax.forms)
        forms.push_back({form.name, form.summary});
  return forms;
}

std::vector<StringRef>
OptionInfo::choiceNames(const CommandSyntax &syntax) const {
  std::vector<StringRef> names;
  for (const Choice &choice : choices(syntax))
    names.push_back(choice.name);
  return names;
}

std::string InputSyntax::usage() const {
  static constexpr std::pair<Kind, StringLiteral> words[] = {
      {File, "file"},
      {Name, "name"},
      {Trace, "trace"},
      {Shell, "shell"},
      {Folder, "folder"}};
  std::string input, text;
  for (auto [kind, word] : words)
    if (kinds & kind)
      input += (input.empty() ? "" : " or ") + word.str();
  if (kinds)
    text += least ? " <" + input + ">" : " [" + input + "]";
  if (least == 2)
    text += " <" + input + ">";
  if (most == many)
    text += "...";
  if (needsSizes)
    text += " ranks=N microbatches=N";
  if (sizes != NoSizes)
    text += sizes == OneSize ? " [NAME=VALUE]..." : " [NAME=VALUES]...";
  if (needsOutput)
    text += " -o <file>";
  return text.empty() ? text : text.substr(1);
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

OptionMatch matchOption(StringRef argument, optgroup::Set groups) {
  using Form = OptionMatch::Form;
  if (!argument.consume_front("-") || argument.empty())
    return {};
  bool isLong = argument.consume_front("-");
  auto [name, value] = argument.split('=');
  bool hasValue = argument.contains('=');
  for (const OptionInfo &info : allOptions()) {
    const ValueType &type = info.type;
    if (!(info.group & groups))
      continue;
    if (!isLong) {
      StringRef rest = argument;
      if (info.letter.empty() || !rest.consume_front(info.letter))
        continue;
      if (type.isFlag() && !rest.empty())
        continue;
      if (info.name != info.letter)
        rest.consume_front("=");
      return {&info,
              type.isFlag()          ? Form::On
              : argument.size() == 1 ? Form::Separate
                                     : Form::Joined,
              rest};
    }
    bool isAlone = type.isFlag() || type.kind == ValueKind::Switch ||
                   !type.implied.empty();
    if (info.name.size() == 1 || (type.isFlag() && hasValue))
      continue;
    if (info.name == name)
      return {&info,
              hasValue  ? Form::Joined
              : isAlone ? Form::On
                        : Form::Separate,
              hasValue ? value : StringRef(type.implied)};
    StringRef positive = argument;
    if (type.kind == ValueKind::Switch && positive.consume_front("no-") &&
        positive == info.name)
      return {&info, Form::Off, ""};
  }
  return {};
}

} // namespace pipec
