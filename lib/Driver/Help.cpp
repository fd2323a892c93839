//===- Help.cpp - The text of --help --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

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
  std::string value = info.type.placeholder.str();
  if (info.name == info.letter)
    return "-" + info.name.str() + value;
  std::string text;
  if (!info.letter.empty())
    text = "-" + info.letter.str() + ", ";
  text += info.type.kind == ValueKind::Switch ? "--[no-]" : "--";
  text += info.name.str();
  if (!info.type.implied.empty())
    return text + "[=" + value + "]";
  return value.empty() ? text : text + "=" + value;
}

SmallVector<StringRef> optionHeadings(optgroup::Set groups) {
  SmallVector<StringRef> found;
  for (const OptionInfo &info : allOptions())
    if (info.isShown(groups) && !is_contained(found, groupHeading(info.group)))
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

void printOptions(const CommandSyntax &syntax, optgroup::Set shown,
                  raw_ostream &os) {
  shown &= syntax.groups;
  for (StringRef heading : optionHeadings(shown)) {
    os << '\n' << heading << ":\n";
    for (const OptionInfo &info : allOptions()) {
      if (!info.isShown(shown) || groupHeading(info.group) != heading)
        continue;
      std::vector<Choice> choices = info.choices(syntax);
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
}

static SmallVector<StringRef> linesOf(StringRef text) {
  SmallVector<StringRef> lines;
  text.split(lines, '\n', -1, /*KeepEmpty=*/false);
  return lines;
}

void printHelp(const HelpText &help, raw_ostream &os) {
  os << help.overview << "\n\nUSAGE: " << help.syntax.command << " "
     << help.usage() << '\n';
  printOptions(help.syntax,
               help.common.empty() ? help.syntax.groups : ~everyCommand, os);
  if (!help.common.empty())
    os << "\n`" << help.common << "` describes the options of every command.\n";
  os << "\nExamples:\n";
  for (StringRef line : linesOf(help.examples))
    os << "  " << line << '\n';
}

void printOptionNames(optgroup::Set shown, raw_ostream &os) {
  for (StringRef heading : optionHeadings(shown)) {
    SmallVector<std::string> names;
    for (const OptionInfo &info : allOptions())
      if (info.isShown(shown) && groupHeading(info.group) == heading)
        names.push_back("`" + optionText(info) + "`");
    os << "**" << heading << "** " << join(names, ", ") << "\n\n";
  }
}

void printHelpPage(const HelpText &help, raw_ostream &os) {
  os << "## " << help.syntax.command << "\n\n"
     << help.overview << "\n\n```\n"
     << help.syntax.command << " " << help.usage() << "\n```\n\n"
     << "For example:\n\n```\n"
     << join(linesOf(help.examples), "\n") << "\n```\n\n";
  printOptionNames(help.syntax.groups & ~everyCommand, os);
}

void fillPage(StringRef text, ArrayRef<PagePart> parts, raw_ostream &os) {
  while (!text.empty()) {
    auto [before, rest] = text.split('@');
    os << before;
    auto [name, after] = rest.split('@');
    for (const PagePart &part : parts)
      if (part.name == name)
        part.print(os);
    text = after;
  }
}

} // namespace pipec
