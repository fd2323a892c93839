//===- Completion.cpp - Completion of command lines -----------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Commands, options and their values come from the tables. llvm::opt finds the
// options (OptTable::findByPrefix); values are found here, because those of
// llvm::opt have no descriptions and are the same in all commands.
//
//===----------------------------------------------------------------------===//

#include "Command/Completion.h"

#include "AST/Context.h"
#include "Command/Command.h"
#include "Command/DescribeCommand.h"
#include "Cost/Figure.h"
#include "Driver/Arguments.h"
#include "Driver/OptionTable.h"
#include "Driver/ScheduleSource.h"
#include "Driver/VerifySettings.h"
#include "Driver/Warnings.h"
#include "Parse/Parser.h"
#include "Transforms/Passes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace pipec {

namespace {

/// The words that a command takes besides options, as its usage line says.
struct WordSyntax {
  explicit WordSyntax(const CommandInfo &command) {
    StringRef words =
        command.help.words.take_until([](char c) { return c == '-'; });
    files = words.contains("file") || words.contains("trace");
    names = words.contains("name");
    required = words.count('<');
    many = words.contains("name>...") || words.contains("name]...") ||
           words.contains("trace>...");
  }

  bool files, names, many;
  /// The number of inputs that it needs.
  size_t required;
};

/// The completion of one word.
class Completion {
public:
  Completion(ArrayRef<std::string> words, const SearchPath &library,
             raw_ostream &os);

  void run();

private:
  // In all of these `typed` is the end of the current word which is completed;
  // candidates repeat what comes before it.
  void add(StringRef typed, const Twine &word, StringRef description);
  void addFiles(StringRef typed);
  void addCommands(StringRef typed);
  void addSchedules(StringRef typed);

  void completeOption();
  void completeValue(const OptionInfo &info, StringRef typed);
  void completeWord(StringRef typed);
  void completePasses(StringRef typed);
  void completeTargets(StringRef typed);
  void completeLevels(StringRef typed);
  void completeWarning(StringRef typed);
  void completeGrades(StringRef typed);
  void completeKind(StringRef typed);
  void completeCosts(StringRef typed);
  void completeParameter(StringRef typed);
  void completeScheduleName(StringRef typed);
  void completeGoal(StringRef typed) { add(typed, "memory", ""); }

  std::vector<const ast::ScheduleDecl *> inputSchedules();
  std::vector<StringRef> inputs() const;
  bool isGiven(const OptionInfo &info) const;

  /// The values that are neither choices nor files.
  struct ValueKind {
    Opt option;
    void (Completion::*complete)(StringRef typed);
  };
  static const ValueKind valueKinds[];

  /// The command, and the words between it and the cursor.
  const CommandInfo *command;
  ArrayRef<std::string> before;
  /// True if the command would be the current word.
  bool first = false;
  /// True if the words after `pipec help` are completed.
  bool help = false;
  StringRef current;

  std::optional<Arguments> args;
  SearchPath search;
  raw_ostream &os;
  size_t numFound = 0;
  // Errors in what was typed so far are not reported.
  SourceFiles sources;
  DiagEngine diags;
  ast::Context context;
};

} // namespace

const Completion::ValueKind Completion::valueKinds[] = {
    {Opt::Passes, &Completion::completePasses},
    {Opt::ShippedTargets, &Completion::completeTargets},
    {Opt::Verify, &Completion::completeLevels},
    {Opt::Warning, &Completion::completeWarning},
    {Opt::Grade, &Completion::completeGrades},
    {Opt::Explain, &Completion::completeKind},
    {Opt::Cost, &Completion::completeCosts},
    {Opt::Define, &Completion::completeParameter},
    {Opt::Grid, &Completion::completeParameter},
    {Opt::Schedule, &Completion::completeScheduleName},
    {Opt::Minimize, &Completion::completeGoal},
};

Completion::Completion(ArrayRef<std::string> words, const SearchPath &library,
                       raw_ostream &os)
    : command(findCommand("")), search(library), os(os),
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
    if (const CommandInfo *named = findCommand(before[0]);
        named && !named->name.empty()) {
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

void Completion::add(StringRef typed, const Twine &word,
                     StringRef description) {
  std::string text = word.str();
  if (!StringRef(text).starts_with(typed))
    return;
  ++numFound;
  SmallVector<StringRef> parts;
  SplitString(description, parts, " \t\r\n");
  os << current.drop_back(typed.size()) << text << '\t' << join(parts, " ")
     << '\n';
}

void Completion::addFiles(StringRef typed) {
  os << '\t' << current.drop_back(typed.size()) << '\n';
}

void Completion::addCommands(StringRef typed) {
  for (const CommandInfo &other : allCommands())
    if (!other.name.empty())
      add(typed, other.name, other.help.overview);
}

void Completion::addSchedules(StringRef typed) {
  FailureOr<std::vector<LibraryEntry>> entries = readLibrary(search, diags);
  if (succeeded(entries))
    for (const LibraryEntry &entry : *entries)
      add(typed, entry.name, entry.summary);
  for (StringRef folder : search.folders()) {
    std::error_code error;
    if (folder == search.libraryFolder())
      continue;
    std::vector<std::string> names;
    for (sys::fs::directory_iterator it(folder, error), end;
         !error && it != end; it.increment(error))
      if (sys::path::extension(it->path()) == ".pipe")
        names.push_back(sys::path::stem(it->path()).str());
    llvm::sort(names);
    for (const std::string &name : names)
      add(typed, name, "");
  }
}

//===----------------------------------------------------------------------===//
// What was typed before
//===----------------------------------------------------------------------===//

/// The words that are not NAME=VALUE.
std::vector<StringRef> Completion::inputs() const {
  std::vector<StringRef> inputs;
  for (const std::string &word : args->words())
    if (!StringRef(word).contains('='))
      inputs.push_back(word);
  return inputs;
}

/// The schedules of the inputs that are programs.
std::vector<const ast::ScheduleDecl *> Completion::inputSchedules() {
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
    for (const ast::ScheduleDecl *schedule : (*module)->schedules)
      if (chosen.empty() || schedule->name.text == chosen)
        schedules.push_back(schedule);
  }
  return schedules;
}

/// True if the option was given and must not be given again.
bool Completion::isGiven(const OptionInfo &info) const {
  return info.type != OptionType::List && args->has(info.id);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// What follows the last comma.
static StringRef lastItem(StringRef list) {
  return list.substr(list.rfind(',') + 1);
}

void Completion::completePasses(StringRef typed) {
  // The list is a,b{option=value,...},...
  size_t begin = 0, open = StringRef::npos;
  for (auto [i, c] : enumerate(typed)) {
    if (c == '{')
      open = i;
    else if (c == '}')
      open = StringRef::npos;
    else if (c == ',' && open == StringRef::npos)
      begin = i + 1;
  }
  if (open == StringRef::npos) {
    for (const PassInfo &pass : allPasses().passes)
      add(typed.substr(begin), pass.name, pass.summary);
    for (const PipelineInfo &target : allPasses().pipelines)
      add(typed.substr(begin), target.name, target.summary);
    return;
  }
  const PassInfo *pass = allPasses().findPass(typed.slice(begin, open));
  if (!pass)
    return;
  StringRef setting = lastItem(typed.substr(open + 1));
  auto [name, value] = setting.split('=');
  for (const PassOptionInfo &option : pass->options) {
    if (!setting.contains('=')) {
      add(setting, option.name + "=", option.help);
      continue;
    }
    SmallVector<StringRef> values;
    StringRef(option.values).split(values, '|');
    for (StringRef word : values)
      if (option.name == name && !word.empty() && isLower(word.front()))
        add(value, word, "");
  }
}

void Completion::completeTargets(StringRef typed) {
  for (const Choice &target : targetChoices())
    add(lastItem(typed), target.name, target.summary);
}

void Completion::completeLevels(StringRef typed) {
  for (StringRef level : VerifySettings::names())
    add(lastItem(typed), level, "");
}

/// The text of a diagnostic, with `...` in the place of its arguments.
static std::string textOf(const DiagInfo &info) {
  std::string text;
  for (StringRef rest = info.format; !rest.empty();) {
    auto [before, after] = rest.split('{');
    text += before;
    if (before.size() == rest.size())
      break;
    text += "...";
    rest = after.split('}').second;
  }
  return text;
}

/// The text of the first warning of that name.
static std::string warningText(StringRef name) {
  for (const DiagInfo &info : allDiagInfos())
    if (info.severity == Severity::Warning && info.flag == name)
      return textOf(info);
  return "";
}

void Completion::completeWarning(StringRef typed) {
  StringRef name = typed;
  name.consume_front("no-");
  bool graded = name.consume_front("error=");
  for (StringRef warning : warningNames())
    add(name, warning, warningText(warning));
  if (graded)
    return;
  add(name, "error", "All warnings are errors");
  add(name, "error=", "This warning is an error");
  add(name, "all", "All warnings");
  if (name.size() == typed.size())
    add(typed, "no-", "Not this warning");
}

void Completion::completeGrades(StringRef typed) {
  StringRef item = lastItem(typed);
  auto [name, grade] = item.split('=');
  if (item.contains('='))
    for (StringRef word : gradeNames())
      add(grade, word, "");
  else
    for (StringRef warning : warningNames())
      add(item, warning + "=", warningText(warning));
}

void Completion::completeKind(StringRef typed) {
  for (const DiagInfo &info : allDiagInfos())
    add(typed, info.name, textOf(info));
}

void Completion::completeCosts(StringRef typed) {
  StringRef item = lastItem(typed);
  for (StringRef name : figureNames(FigureBlock::Cost, FigureScope::Whole))
    add(item, name + "=",
        findFigure(FigureBlock::Cost, FigureScope::Whole, name)->doc);
}

void Completion::completeParameter(StringRef typed) {
  StringSet<> given;
  for (StringRef word : args->list(Opt::Define))
    given.insert(word.split('=').first);
  for (const std::string &word : args->words())
    given.insert(StringRef(word).split('=').first);
  constexpr Opt roles[] = {Opt::Ranks, Opt::Microbatches, Opt::Chunks};
  for (Opt role : roles)
    if (args->has(role))
      given.insert(optionInfo(role).name);

  std::vector<const ast::ScheduleDecl *> schedules = inputSchedules();
  for (const ast::ScheduleDecl *schedule : schedules)
    for (const ast::ParamDecl &param : schedule->params) {
      StringRef label = param.label.text, name = param.name.text;
      if (given.contains(name) || (!label.empty() && given.contains(label)))
        continue;
      StringRef word = label.empty() ? name : label;
      given.insert(word);
      add(typed, word + "=", parameterText(param));
    }
  // Commands that choose schedules by themselves take the sizes of all.
  if (schedules.empty() && WordSyntax(*command).required == 0)
    for (Opt role : roles)
      if (args->takes(role) && !given.contains(optionInfo(role).name))
        add(typed, optionInfo(role).name + "=", optionInfo(role).help);
}

void Completion::completeScheduleName(StringRef typed) {
  for (const ast::ScheduleDecl *schedule : inputSchedules())
    add(typed, schedule->name.text, "");
}

/// True if the value is the name of a file.
static bool isFile(const OptionInfo &info) {
  return any_of(ArrayRef<StringLiteral>{"FILE", "FOLDER", "TRACE"},
                [&](StringRef word) { return info.value.starts_with(word); });
}

void Completion::completeValue(const OptionInfo &info, StringRef typed) {
  if (info.choices) {
    for (const Choice &choice : info.choices())
      add(typed, choice.name, choice.summary);
    return;
  }
  for (const ValueKind &kind : valueKinds)
    if (kind.option == info.id)
      return (this->*kind.complete)(typed);
  if (info.type == OptionType::Switch)
    for (StringRef value : {"true", "false"})
      add(typed, value, "");
  if (info.value == "FILE|NAME")
    addSchedules(typed);
  if (isFile(info))
    addFiles(typed);
}

//===----------------------------------------------------------------------===//
// Words and options
//===----------------------------------------------------------------------===//

void Completion::completeOption() {
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

void Completion::completeWord(StringRef typed) {
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

void Completion::run() {
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
  Completion(words, search, os).run();
}

} // namespace pipec
