//===- Command.cpp - The commands of pipec --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Command/Command.h"

#include "Command/CommandRun.h"
#include "Driver/Information.h"
#include "Driver/Input.h"
#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdlib>
#include <sys/ioctl.h>
#include <unistd.h>

using namespace llvm;

namespace pipec {

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static constexpr InputSyntax
inputs(unsigned kinds, unsigned least, unsigned most,
       InputSyntax::Sizes sizes = InputSyntax::NoSizes) {
  InputSyntax syntax;
  syntax.kinds = uint8_t(kinds);
  syntax.least = least;
  syntax.most = most;
  syntax.sizes = sizes;
  return syntax;
}

ArrayRef<CommandInfo> allCommands() {
  using namespace optgroup;
  using namespace form;
  using enum InputSyntax::Kind;
  using enum InputSyntax::Sizes;
  constexpr unsigned many = InputSyntax::many;
  constexpr optgroup::Set Common =
      optgroup::Output | Diagnostics | Expectations | General;
  constexpr optgroup::Set AnyInput = InputForm | Search | Programs |
                                     StageGraphs | Slicing | Lowering |
                                     optgroup::Sizes | ChunkCount | Parameters;
  constexpr optgroup::Set OneInput = AnyInput | ListForm | StepSizes;
  constexpr optgroup::Set ManyInputs = AnyInput | Library | Grids;
  static constexpr CommandInfo commands[] = {
#define PIPEC_COMMAND(Name, Run, Groups, Forms, Inputs, Overview, Examples)    \
  {Name,                                                                       \
   Run,                                                                        \
   {Overview,                                                                  \
    Examples,                                                                  \
    {std::string_view(Name) == "compile" ? StringLiteral("pipec")              \
                                         : StringLiteral("pipec " Name),       \
     Groups, Forms, Inputs},                                                   \
    "pipec help warnings"}},
#include "Command/Commands.def"
  };
  return commands;
}

const CommandInfo *findCommand(StringRef name) {
  const auto *it = find_if(allCommands(), [&](const CommandInfo &command) {
    return command.name == name;
  });
  return it == allCommands().end() ? nullptr : it;
}

std::vector<StringRef> commandNames() {
  std::vector<StringRef> names;
  for (const CommandInfo &command : allCommands())
    names.push_back(command.name);
  return names;
}

//===----------------------------------------------------------------------===//
// Help
//===----------------------------------------------------------------------===//

/// What `pipec` and `pipec --help` print.
static void printOverview(raw_ostream &os) {
  const HelpText &help = defaultCommand().help;
  os << help.overview << "\n\nUSAGE: " << help.syntax.command << " "
     << help.usage() << "\n       pipec COMMAND ...\n\n"
     << "Commands (`pipec help COMMAND` or `pipec COMMAND --help`):\n";
  for (const CommandInfo &command : allCommands())
    printHelpRow(("  " + command.name).str(), command.help.overview, os);
  os << R"(
Examples:
  pipec zb1p ranks=8 microbatches=32
  pipec zb1p ranks=8 microbatches=32 --target=torch -o zb1p.csv
  pipec compare ranks=8 microbatches=32

`pipec --list` lists the schedules of the library. The word `compile` may be
left out; `pipec help compile` describes its options, and `pipec help warnings`
the warnings and the options of every command.
)";
}

/// What `pipec help warnings` prints.
static void printWarnings(raw_ostream &os) {
  os << "The options of every command, and the warnings.\n";
  printOptions(defaultCommand().help.syntax, everyCommand, os);
  os << "\nWarnings (`pipec --explain NAME` describes one):\n";
  for (StringRef name : warningNames())
    printHelpRow(("  " + name).str(), warningText(name), os);
}

static constexpr char page[] =
#include "Command/CommandLine.md.inc"
    ;

static void printPage(raw_ostream &os) {
  auto commands = [](raw_ostream &os) {
    for (const CommandInfo &command : allCommands())
      printHelpPage(command.help, os);
  };
  auto common = [](raw_ostream &os) { printOptionNames(everyCommand, os); };
  fillPage(page, {{"commands", commands}, {"common", common}}, os);
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

/// True if the output of lint is an object of JSON, for which the command line
/// need not be checked yet.
static bool wantsJson(const Arguments &args) {
  if (args.has(Opt::Format))
    return args.text(Opt::Format) == "json";
  return args.text(Opt::Output).ends_with_insensitive(".json");
}

/// Reports errors that do not depend on the command, to `errors` if not null.
static LogicalResult checkCommandLine(const Arguments &args,
                                      DiagSession &session,
                                      std::vector<Diagnostic> *errors) {
  auto check = [&] {
    return success(succeeded(args.check(session.engine())) &&
                   succeeded(applyWarnings(args, session.engine())));
  };
  if (!errors)
    return check();
  LogicalResult result = failure();
  session.withHandler(
      [&](const Diagnostic &error) { errors->push_back(error); },
      [&] { result = check(); });
  return result;
}

int pipecMain(int argc, const char *const *argv, raw_ostream &out,
              raw_ostream &err, MakeHttpServer makeServer, Progress *outer) {
  SmallVector<const char *> rest(argv + std::min(argc, 1), argv + argc);
  DiagSession session("pipec", err, outer);
  if (rest.empty()) {
    printOverview(err);
    return 2;
  }
  bool help = StringRef(rest[0]) == "help";
  if (help)
    rest.erase(rest.begin());
  const CommandInfo *command = rest.empty() ? nullptr : findCommand(rest[0]);
  bool named = command;
  if (named)
    rest.erase(rest.begin());
  else
    command = &defaultCommand();

  Arguments args(rest, command->help.syntax);
  session.setForm(args);
  CommandRun run(argc ? argv[0] : "pipec", args, session, out, err);
  run.commandLine = ArrayRef(argv, argc);
  run.makeServer = makeServer;
  std::vector<Diagnostic> errors;
  bool lists = !help && command->function == runLint && wantsJson(args);
  if (failed(checkCommandLine(args, session, lists ? &errors : nullptr)))
    return session.finish(lists ? lintCommandLine(run, errors) : failure());
  if (help && args.words() == ArrayRef<std::string>("warnings"))
    return session.finish(printText(args, out, session, printWarnings));
  if (help && !args.words().empty()) {
    LogicalResult unknown = reportUnknownChoice(
        session.engine(), "command", args.words()[0], commandNames());
    return session.finish(unknown);
  }
  auto printHelp = [&](raw_ostream &os) {
    if (named || !args.words().empty())
      pipec::printHelp(command->help, os);
    else
      printOverview(os);
  };
  if (help)
    return session.finish(printText(args, out, session, printHelp));
  if (auto printed = printInformation(
          args, out, session, printHelp,
          {{Opt::DocCommands, printPage}, {Opt::DocMan, printManPage}}))
    return session.finish(*printed);
  session.setVerify(args.has(Opt::VerifyDiagnostics));
  if (failed(run.checkOutput()))
    return session.finish(failure());
  return session.finish(command->function(run));
}

//===----------------------------------------------------------------------===//
// The environment of a command
//===----------------------------------------------------------------------===//

CommandRun::CommandRun(const char *program, const Arguments &args,
                       DiagSession &session, raw_ostream &out, raw_ostream &err)
    : program(programPath(program)), args(args), session(session),
      diags(session.engine()), progress(session.progress()),
      search(this->program, args.list(Opt::Include),
             args.text(Opt::ImportRoot)),
      err(err), out(out) {
  session.setLibrary(search.libraryFolder());
}

LogicalResult CommandRun::checkOutput() {
  const CommandSyntax &syntax = args.syntax();
  if (syntax.inputs.needsOutput && args.text(Opt::Output, "-") == "-")
    return diags.report(DiagLoc(), diag::OptionNeeds, syntax.command,
                        "an output file: -o FILE");
  return syntax.forms & form::Apart ? success() : chooseForm(syntax.forms);
}

LogicalResult CommandRun::chooseForm(form::Set forms) {
  return store(pipec::chooseForm(args, forms, /*byOption=*/true, diags), form);
}

LogicalResult
CommandRun::write(function_ref<LogicalResult(raw_ostream &)> writer) const {
  return writeOutput(args, out, session, writer);
}

FailureOr<PassRun> CommandRun::makePasses(StringRef otherwise) const {
  if (auto form = readCommunicatorForm(args)) {
    std::optional<std::string> passes =
        passesFor(args.text(Opt::Target), *form);
    if (!passes)
      return args.reportUseless(
          Opt::Communicators,
          "on a target other than torch-search, torch-2.15-search and "
          "torch-2.13-search",
          diags);
    return PassRun::make(args, *passes, err, session);
  }
  StringRef list = args.text(Opt::Target, args.text(Opt::Passes, otherwise));
  return PassRun::make(args, list, err, session);
}

void CommandRun::writeForm(raw_ostream &os,
                           function_ref<void(raw_ostream &)> text,
                           function_ref<void(json::OStream &)> json) const {
  if (!isJson())
    return text(os);
  json::OStream object(os, /*IndentSize=*/2);
  object.object([&] { json(object); });
  os << '\n';
}

LogicalResult
CommandRun::write(function_ref<void(raw_ostream &)> text,
                  function_ref<void(json::OStream &)> json) const {
  return write([&](raw_ostream &os) {
    writeForm(os, text, json);
    return success();
  });
}

LogicalResult
CommandRun::print(function_ref<void(raw_ostream &)> text,
                  function_ref<void(json::OStream &)> json) const {
  progress.end();
  writeForm(out, text, json);
  return success();
}

LogicalResult CommandRun::announce(const Twine &line) const {
  out << line << '\n';
  out.flush();
  if (&out != &outs() || !outs().has_error())
    return success();
  std::error_code error = outs().error();
  outs().clear_error();
  return reportUnwritable(diags, "-", error);
}

unsigned terminalWidth() {
  if (const char *columns = std::getenv("COLUMNS")) {
    unsigned width = 0;
    if (!StringRef(columns).getAsInteger(10, width) && width > 0)
      return width;
  }
  winsize size = {};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

} // namespace pipec
