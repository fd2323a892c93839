//===- ManPage.cpp - The manual page --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Command/Command.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <string>

using namespace llvm;

namespace pipec {

static constexpr char manPage[] =
#include "Command/pipec.1.inc"
    ;

/// Escapes a text for roff, where a plain minus sign is a hyphen and a
/// backslash begins a request. Text in backquotes becomes bold.
static std::string roff(StringRef text) {
  static constexpr std::pair<char, StringLiteral> escapes[] = {{'-', "\\-"},
                                                               {'\\', "\\e"},
                                                               {'\'', "\\(aq"},
                                                               {'^', "\\(ha"},
                                                               {'~', "\\(ti"}};
  std::string result;
  bool bold = false;
  for (char c : text) {
    if (c == '`') {
      bold = !bold;
      result += bold ? "\\fB" : "\\fR";
      continue;
    }
    const auto *escape =
        find_if(escapes, [&](const auto &row) { return row.first == c; });
    if (escape == std::end(escapes))
      result += c;
    else
      result += escape->second;
  }
  // A line that begins with a dot would be a request.
  return StringRef(result).starts_with(".") ? "\\&" + result : result;
}

/// Prints a text in lines of at most 80 columns.
static void printText(StringRef text, raw_ostream &os) {
  std::string escaped = roff(text);
  size_t column = 0;
  for (StringRef word : split(escaped, ' ')) {
    if (column && column + 1 + word.size() > 80) {
      os << '\n';
      column = 0;
    }
    if (column)
      os << ' ';
    if (!column && word.starts_with("."))
      os << "\\&";
    os << word;
    column += (column != 0) + word.size();
  }
  os << '\n';
}

static void printExamples(StringRef examples, raw_ostream &os) {
  SmallVector<StringRef> lines;
  examples.split(lines, '\n', -1, /*KeepEmpty=*/false);
  if (lines.empty())
    return;
  os << ".PP\n.RS\n.nf\n";
  for (StringRef line : lines)
    os << roff(line) << '\n';
  os << ".fi\n.RE\n";
}

static void printCommands(raw_ostream &os) {
  for (const CommandInfo &command : allCommands()) {
    os << ".SS " << roff(command.help.syntax.command) << '\n';
    printText(command.help.overview, os);
    os << ".PP\n.B " << roff(command.help.syntax.command) << '\n';
    printText(command.help.usage(), os);
    printExamples(command.help.examples, os);
  }
}

/// The commands with an option; empty if all have it.
static std::string commandsWith(const OptionInfo &info) {
  SmallVector<StringRef> names;
  for (const CommandInfo &command : allCommands())
    if (command.help.syntax.groups & info.group)
      names.push_back(command.name);
  return names.size() == allCommands().size() ? "" : join(names, ", ");
}

static void printOption(const OptionInfo &info, raw_ostream &os) {
  os << ".TP\n\\fB" << roff(optionText(info)) << "\\fR\n";
  printText((info.help + ".").str(), os);
  std::vector<Choice> choices;
  if (info.type.isChoice())
    choices = info.choices({"", ~optgroup::Set(0), 0xff, {}});
  if (!choices.empty()) {
    os << "Choices:\n.RS\n";
    for (const Choice &choice : choices) {
      os << ".TP\n\\fB" << roff(choice.name) << "\\fR\n";
      if (!choice.summary.empty())
        printText(choice.summary, os);
    }
    os << ".RE\n";
  }
  if (std::string names = commandsWith(info); !names.empty()) {
    os << (choices.empty() ? ".br\n" : ".IP\n");
    printText("Option of " + names + ".", os);
  }
}

static void printOptions(raw_ostream &os) {
  optgroup::Set taken = 0;
  for (const CommandInfo &command : allCommands())
    taken |= command.help.syntax.groups;
  for (StringRef heading : optionHeadings(taken)) {
    os << ".SS " << roff(heading) << '\n';
    for (const OptionInfo &info : allOptions())
      if (info.isShown(taken) && groupHeading(info.group) == heading)
        printOption(info, os);
  }
}

static void printSynopsis(raw_ostream &os) {
  for (const CommandInfo &command : allCommands()) {
    os << (&command == &defaultCommand() ? "" : ".br\n") << ".B "
       << roff(command.help.syntax.command) << '\n';
    printText(command.help.usage(), os);
  }
}

void printManPage(raw_ostream &os) {
  fillPage(manPage,
           {{"version", [](raw_ostream &os) { os << PIPEC_VERSION; }},
            {"synopsis", printSynopsis},
            {"commands", printCommands},
            {"options", printOptions}},
           os);
}

} // namespace pipec
