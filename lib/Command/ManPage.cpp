//===- ManPage.cpp - The manual page --------------------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command/ManPage.h"

#include "Command/Command.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <string>

using namespace llvm;

namespace pipec {

/// A text as input of roff, in which a minus sign is not a hyphen and a
/// backslash does not begin a request. Backquotes set what they enclose in
/// bold.
static std::string roff(StringRef text) {
  std::string result;
  bool bold = false;
  for (char c : text) {
    if (c == '`') {
      bold = !bold;
      result += bold ? "\\fB" : "\\fR";
    } else if (c == '-') {
      result += "\\-";
    } else if (c == '\\') {
      result += "\\e";
    } else if (c == '\'') {
      result += "\\(aq";
    } else if (c == '^') {
      result += "\\(ha";
    } else if (c == '~') {
      result += "\\(ti";
    } else {
      result += c;
    }
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
    os << ".SS " << roff(command.help.command) << '\n';
    printText(command.help.overview, os);
    os << ".PP\n.B " << roff(command.help.command) << '\n';
    printText(("[options] " + command.help.words).str(), os);
    printExamples(command.help.examples, os);
  }
}

/// The commands that take an option; empty if all do.
static std::string commandsWith(const OptionInfo &info) {
  SmallVector<StringRef> names;
  for (const CommandInfo &command : allCommands())
    if (command.help.groups & info.group)
      names.push_back(command.name);
  return names.size() == allCommands().size() ? "" : join(names, ", ");
}

static void printOption(const OptionInfo &info, raw_ostream &os) {
  os << ".TP\n\\fB" << roff(optionText(info)) << "\\fR\n";
  printText((info.help + ".").str(), os);
  std::vector<Choice> choices;
  if (info.choices)
    choices = info.choices();
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
    taken |= command.help.groups;
  SmallVector<StringRef> headings;
  for (const OptionInfo &info : allOptions())
    if ((info.group & taken) && !info.help.empty() &&
        !is_contained(headings, groupHeading(info.group)))
      headings.push_back(groupHeading(info.group));
  for (StringRef heading : headings) {
    os << ".SS " << roff(heading) << '\n';
    for (const OptionInfo &info : allOptions())
      if ((info.group & taken) && !info.help.empty() &&
          groupHeading(info.group) == heading)
        printOption(info, os);
  }
}

void printManPage(raw_ostream &os) {
  os << R"(.\" Made by `pipec --doc-man` from the tables of options and commands.
.TH PIPEC 1 "" "pipec )" PIPEC_VERSION R"(" "User Commands"
.SH NAME
pipec \- compiler for pipeline\-parallel training schedules
.SH SYNOPSIS
)";
  for (const CommandInfo &command : allCommands()) {
    os << (&command == &defaultCommand() ? "" : ".br\n") << ".B "
       << roff(command.help.command) << '\n';
    printText(("[options] " + command.help.words).str(), os);
  }
  os << R"(.SH DESCRIPTION
.B pipec
compiles programs that describe pipeline\-parallel training schedules: which
rank runs the forward and backward of which micro\-batch, in which order.
Without a command it checks a schedule, runs passes over it and writes it as a
CSV of PyTorch, as a C++ executor, as a picture, or in another form, as it does
with the command \fBcompile\fR.
.PP
An input is a file, \- for standard input, or the name of a program in a folder
of \fB\-I\fR or in the library. NAME=VALUE sets a parameter of a program.
.PP
An option with a value is written \fB\-\-name=\fRVALUE or \fB\-\-name\fR VALUE,
one with a short name \fB\-o\fRVALUE or \fB\-o\fR VALUE. What follows
\fB\-\-\fR is not an option. An option that is given twice, or that has no
effect on what is asked for, is an error.
.SH COMMANDS
)";
  printCommands(os);
  os << ".SH OPTIONS\n";
  printOptions(os);
  os << R"(.SH EXIT STATUS
.TP
.B 0
All went well.
.TP
.B 1
An error was reported.
.TP
.B 2
The command line cannot be used.
.SH ENVIRONMENT
.TP
.B NO_COLOR
Switches colors off.
.TP
.BR FORCE_COLOR ", " CLICOLOR_FORCE
Switch colors on where the output is not a terminal.
.SH FILES
.TP
.I PREFIX/share/pipec/schedules
The library of schedules, where PREFIX is the folder above that of the program.
)";
}

} // namespace pipec
