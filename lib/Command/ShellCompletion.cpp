//===- ShellCompletion.cpp - Completion of command lines ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Commands, options and their values come from the tables. Values are in
// CompletionValues.cpp.
//
//===----------------------------------------------------------------------===//

#include "Command/CommandRun.h"
#include "Command/Completer.h"
#include "Command/DescribeCommand.h"
#include "Driver/ScheduleSource.h"
#include "Parse/Parser.h"
#include "Support/Diagnostics/CommandDiags.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace pipec {

// clang-format off
static constexpr std::pair<StringLiteral, const char *> scripts[] = {
    {"bash",
#include "Command/completion.bash.inc"
    }, {"zsh",
#include "Command/completion.zsh.inc"
    }, {"fish",
#include "Command/completion.fish.inc"
    }};
// clang-format on

static std::vector<StringRef> completionShells() {
  std::vector<StringRef> names;
  for (const auto &[name, script] : scripts)
    names.push_back(name);
  return names;
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
  args.emplace(argv, command->help.syntax);
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
// The words before the current one
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

//===----------------------------------------------------------------------===//
// Words and options
//===----------------------------------------------------------------------===//

void Completer::completeOption() {
  // `--name=VALUE`, `-xVALUE`
  using Form = OptionMatch::Form;
  OptionMatch match = matchOption(current, args->syntax().groups);
  if (match && (match.form == Form::Joined ||
                (match.form == Form::Separate && current.size() == 2))) {
    // `-o` alone is not yet followed by the name of a file.
    if (match.form == Form::Joined || !match.option->type.isFile())
      completeValue(*match.option, match.value);
    if (match.form == Form::Joined || numFound)
      return;
  }
  std::vector<std::pair<std::string, StringRef>> spellings;
  for (const OptionInfo &info : allOptions()) {
    const ValueType &type = info.type;
    if (!info.isShown(args->syntax().groups) ||
        (!type.isList && args->has(info.id)))
      continue;
    auto offer = [&](const Twine &text) {
      spellings.emplace_back(text.str(), info.help);
    };
    if (!info.letter.empty())
      offer("-" + info.letter);
    if (info.name == info.letter)
      continue;
    bool isAlone = type.isFlag() || type.kind == ValueKind::Switch;
    if (isAlone || !type.implied.empty())
      offer("--" + info.name);
    if (!isAlone)
      offer("--" + info.name + "=");
    if (type.kind == ValueKind::Switch)
      offer("--no-" + info.name);
  }
  llvm::sort(spellings);
  for (const auto &[text, help] : spellings)
    add(current, text, help);
}

void Completer::completeWord(StringRef typed) {
  if (first)
    for (const CommandInfo &other : allCommands())
      add(typed, other.name, other.help.overview);
  if (first && !help)
    add(typed, "help", "Prints the help of a command.");
  if (help)
    return;
  const InputSyntax &syntax = args->syntax().inputs;
  if (syntax.kinds & InputSyntax::Shell) {
    for (StringRef shell : completionShells())
      add(typed, shell, "");
    return;
  }
  bool traces = args->takes(Opt::Against) && args->has(Opt::Against);
  bool takesMore = inputs().size() < syntax.most;
  if (typed.contains('='))
    return; // a number
  if (args->takes(Opt::Define) && !first)
    completeParameter(typed);
  if ((syntax.kinds & InputSyntax::Name) && takesMore)
    addSchedules(typed);
  bool takesFiles = syntax.kinds & (InputSyntax::File | InputSyntax::Trace |
                                    InputSyntax::Folder);
  if (takesFiles && (takesMore || traces))
    addFiles(typed);
}

void Completer::run() {
  auto dashes = find(before, "--");
  if (dashes != before.end())
    return completeWord(current);
  if (!before.empty()) {
    OptionMatch last = matchOption(before.back(), args->syntax().groups);
    if (last && last.form == OptionMatch::Form::Separate)
      return completeValue(*last.option, current);
  }
  if (current.starts_with("-"))
    return completeOption();
  completeWord(current);
}

//===----------------------------------------------------------------------===//
// The command
//
// The scripts run `pipec completion --candidates -- WORD...`, so that a script
// remains right when options are added.
//===----------------------------------------------------------------------===//

LogicalResult runCompletion(const CommandRun &run) {
  ArrayRef<std::string> words = run.args.words();
  if (run.args.has(Opt::Candidates))
    return run.write([&](raw_ostream &os) {
      Completer(words, run.search, os).run();
      return success();
    });
  if (failed(checkInputCount(run.args, words, run.diags)))
    return failure();
  if (words.empty())
    return reportMissingInput(run.diags).note(DiagLoc(), diag::NoteChoices,
                                              join(completionShells(), "`, `"));
  const auto *row = find_if(
      scripts, [&](const auto &script) { return script.first == words[0]; });
  if (row == std::end(scripts))
    return reportUnknownChoice(run.diags, "shell", words[0],
                               completionShells());
  return run.write([&](raw_ostream &os) {
    os << row->second;
    return success();
  });
}

} // namespace pipec
