//===- Completion.cpp - Completion of command lines -----------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Commands, options and their values come from the tables. llvm::opt finds the
// options (OptTable::findByPrefix); values are in CompletionValues.cpp.
//
//===----------------------------------------------------------------------===//

#include "Command/Completion.h"

#include "Command/Completer.h"
#include "Command/DescribeCommand.h"
#include "Driver/OptionTable.h"
#include "Driver/ScheduleSource.h"
#include "Parse/Parser.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace pipec {

WordSyntax::WordSyntax(const CommandInfo &command) {
  StringRef words =
      command.help.words.take_until([](char c) { return c == '-'; });
  files = words.contains("file") || words.contains("trace");
  names = words.contains("name");
  required = words.count('<');
  many = words.contains("name>...") || words.contains("name]...") ||
         words.contains("trace>...");
}

Completer::Completer(ArrayRef<std::string> words, const SearchPath &library,
                     raw_ostream &os)
    : command(&defaultCommand()), search(library), os(os),
      diags(sources, [](const Diagnostic &) {}) {
  if (!words.empty()) {
    current = words.back();
    before = words.drop_back();
  }
  if (!before.empty() && before[0] == "help") {
    help = true;
    before = before.drop_front();
  }
  first = before.empty();
  if (!first)
    if (const CommandInfo *named = findCommand(before[0])) {
      command = named;
      before = before.drop_front();
    }
  SmallVector<const char *> argv;
  for (const std::string &word : before)
    argv.push_back(word.c_str());
  args.emplace(argv, command->help.groups);
  if (args->takes(Opt::Include))
    search = library.with(args->list(Opt::Include));
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

void Completer::add(StringRef typed, const Twine &word, StringRef description) {
  std::string text = word.str();
  if (!StringRef(text).starts_with(typed))
    return;
  ++numFound;
  SmallVector<StringRef> parts;
  SplitString(description, parts, " \t\r\n");
  os << current.drop_back(typed.size()) << text << '\t' << join(parts, " ")
     << '\n';
}

void Completer::addFiles(StringRef typed) {
  os << '\t' << current.drop_back(typed.size()) << '\n';
}

void Completer::addCommands(StringRef typed) {
  for (const CommandInfo &other : allCommands())
    add(typed, other.name, other.help.overview);
}

void Completer::addSchedules(StringRef typed) {
  FailureOr<std::vector<LibraryEntry>> entries = readLibrary(search, diags);
  if (succeeded(entries))
    for (const LibraryEntry &entry : *entries) {
      add(typed, entry.name, entry.summary);
      for (const std::string &alias : entry.aliases)
        add(typed, alias, entry.summary);
    }
  for (StringRef folder : search.folders())
    if (folder != search.libraryFolder())
      for (const std::string &name : programNames(folder))
        add(typed, name, "");
}

//===----------------------------------------------------------------------===//
// What was typed before
//===----------------------------------------------------------------------===//

/// The words that are not NAME=VALUE.
std::vector<StringRef> Completer::inputs() const {
  std::vector<StringRef> inputs;
  for (const std::string &word : args->words())
    if (!StringRef(word).contains('='))
      inputs.push_back(word);
  return inputs;
}

/// The schedules of the inputs that are programs.
std::vector<const ast::ScheduleDecl *> Completer::inputSchedules() {
  std::vector<const ast::ScheduleDecl *> schedules;
  std::vector<StringRef> names = inputs();
  if (args->takes(Opt::For) && args->has(Opt::For))
    names = {args->text(Opt::For)};
  for (StringRef name : names) {
    // Reading anything else, such as a pipe, may wait or have an effect.
    std::optional<std::string> path = search.findInput(name);
    if (!path || !sys::fs::is_regular_file(*path))
      continue;
    FailureOr<OpenedInput> input = findInput(name, search, *args, diags);
    if (failed(input) || input->kind != InputKind::Program)
      continue;
    FailureOr<ast::Module *> module =
        parsePipe(input->path, input->text, context, diags);
    if (failed(module))
      continue;
    StringRef chosen = args->text(Opt::Schedule);
    auto hasAlias = [&](const ast::ScheduleDecl *schedule) {
      return schedule->hasAlias(chosen.empty() ? StringRef(input->word)
                                               : chosen);
    };
    bool byAlias = any_of((*module)->schedules, hasAlias);
    for (const ast::ScheduleDecl *schedule : (*module)->schedules)
      if (byAlias ? hasAlias(schedule)
                  : chosen.empty() || schedule->name.text == chosen)
        schedules.push_back(schedule);
  }
  return schedules;
}

/// True if the option was given and must not be given again.
bool Completer::isGiven(const OptionInfo &info) const {
  return info.type != OptionType::List && args->has(info.id);
}

//===----------------------------------------------------------------------===//
// Words and options
//===----------------------------------------------------------------------===//

void Completer::completeOption() {
  // `--name=VALUE`, `-xVALUE`
  size_t equals = current.find('=');
  for (size_t length :
       {equals == StringRef::npos ? 0 : equals + 1, size_t(2)}) {
    const Spelling *spelling =
        findSpelling(current.take_front(length), command->help.groups);
    if (!spelling || spelling->kind == opt::Option::FlagClass)
      continue;
    const OptionInfo &info = optionInfo(spelling->option);
    // `-o` alone is not yet followed by the name of a file.
    if (current.size() > length || current.ends_with("=") || !isFile(info))
      completeValue(info, current.drop_front(length));
    if (current.size() > length || current.ends_with("=") || numFound)
      return;
  }
  for (const Spelling *spelling :
       spellingsByPrefix(current, command->help.groups)) {
    const OptionInfo &info = optionInfo(spelling->option);
    if (!isGiven(info))
      add(current, spelling->text, info.help);
  }
}

void Completer::completeWord(StringRef typed) {
  if (first)
    addCommands(typed);
  if (first && !help)
    add(typed, "help", "Prints the help of a command.");
  if (help)
    return;
  if (command->function == runCompletion) {
    for (StringRef shell : completionShells())
      add(typed, shell, "");
    return;
  }
  WordSyntax syntax(*command);
  bool traces = args->takes(Opt::Against) && args->has(Opt::Against);
  bool takesMore =
      syntax.many || inputs().size() < std::max<size_t>(syntax.required, 1);
  if (typed.contains('='))
    return; // a number
  if (args->takes(Opt::Define) && !first)
    completeParameter(typed);
  if (syntax.names && takesMore)
    addSchedules(typed);
  if (syntax.files && (takesMore || traces))
    addFiles(typed);
}

void Completer::run() {
  auto dashes = find(before, "--");
  if (dashes != before.end())
    return completeWord(current);
  if (!before.empty()) {
    const Spelling *last = findSpelling(before.back(), command->help.groups);
    if (last && (last->kind == opt::Option::SeparateClass ||
                 last->kind == opt::Option::JoinedOrSeparateClass))
      return completeValue(optionInfo(last->option), current);
  }
  if (current.starts_with("-"))
    return completeOption();
  completeWord(current);
}

void printCandidates(ArrayRef<std::string> words, const SearchPath &search,
                     raw_ostream &os) {
  Completer(words, search, os).run();
}

} // namespace pipec
