//===- Help.cpp - The text of --help --------------------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver/Help.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <string>

using namespace llvm;

namespace pipec {

/// The column of the texts, and the width of a line.
static constexpr size_t textColumn = 26;
static constexpr size_t lineWidth = 80;

void printHelpRow(StringRef left, StringRef text, raw_ostream &os) {
  os << left;
  size_t column = left.size();
  if (column + 2 > textColumn && !text.empty()) {
    os << '\n';
    column = 0;
  }
  SmallVector<StringRef> words;
  text.split(words, ' ', -1, /*KeepEmpty=*/false);
  bool first = true;
  for (StringRef word : words) {
    if (!first && column + 1 + word.size() > lineWidth) {
      os << '\n';
      column = 0;
    }
    if (column < textColumn) {
      os.indent(textColumn - column);
      column = textColumn;
    } else {
      os << ' ';
      ++column;
    }
    os << word;
    column += word.size();
    first = false;
  }
  os << '\n';
}

std::string optionText(const OptionInfo &info) {
  std::string value =
      info.type == OptionType::Choice ? "CHOICE" : info.value.str();
  if (info.name == info.letter)
    return "-" + info.name.str() + value;
  std::string text;
  if (!info.letter.empty())
    text = "-" + info.letter.str() + ", ";
  text += info.type == OptionType::Switch ? "--[no-]" : "--";
  text += info.name.str();
  if (!info.implied.empty())
    return text + "[=" + value + "]";
  return value.empty() ? text : text + "=" + value;
}

static bool isShown(const OptionInfo &info, const HelpText &help) {
  return (info.group & help.groups) && !info.help.empty();
}

/// The headings of a command's options without duplicates, in the order of the
/// table.
static SmallVector<StringRef> headings(const HelpText &help) {
  SmallVector<StringRef> found;
  for (const OptionInfo &info : allOptions())
    if (isShown(info, help) && !is_contained(found, groupHeading(info.group)))
      found.push_back(groupHeading(info.group));
  return found;
}

/// Returns the names of the choices of an option if none of them has a summary;
/// otherwise an empty text.
static std::string plainChoices(ArrayRef<Choice> choices) {
  std::string text;
  for (const auto &[i, choice] : enumerate(choices)) {
    if (!choice.summary.empty())
      return "";
    text += i == 0 ? "" : i + 1 == choices.size() ? " or " : ", ";
    text += choice.name;
  }
  return text;
}

void printHelp(const HelpText &help, raw_ostream &os) {
  os << help.overview << "\n\nUSAGE: " << help.command << " [options] "
     << help.words << '\n';
  for (StringRef heading : headings(help)) {
    os << '\n' << heading << ":\n";
    for (const OptionInfo &info : allOptions()) {
      if (!isShown(info, help) || groupHeading(info.group) != heading)
        continue;
      std::vector<Choice> choices;
      if (info.choices)
        choices = info.choices();
      std::string names = plainChoices(choices);
      std::string text = info.help.str();
      if (!names.empty())
        text += ": " + names;
      printHelpRow("  " + optionText(info), text, os);
      if (names.empty())
        for (const Choice &choice : choices)
          printHelpRow(("    " + choice.name).str(), choice.summary, os);
    }
  }
  if (help.examples.empty())
    return;
  os << "\nExamples:\n";
  SmallVector<StringRef> lines;
  help.examples.split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : lines)
    os << "  " << line << '\n';
}

void printHelpPage(const HelpText &help, raw_ostream &os) {
  os << "## " << help.command << "\n\n"
     << help.overview << "\n\n```\n"
     << help.command << " [options] " << help.words << "\n```\n\n";
  SmallVector<StringRef> lines;
  help.examples.split(lines, '\n', -1, /*KeepEmpty=*/false);
  if (!lines.empty()) {
    os << "For example:\n\n```\n";
    for (StringRef line : lines)
      os << line << '\n';
    os << "```\n\n";
  }
  for (StringRef heading : headings(help)) {
    os << "**" << heading << "**";
    SmallVector<std::string> names;
    for (const OptionInfo &info : allOptions())
      if (isShown(info, help) && groupHeading(info.group) == heading)
        names.push_back("`" + optionText(info) + "`");
    os << " " << join(names, ", ") << "\n\n";
  }
}

} // namespace pipec
