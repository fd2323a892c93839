//===- Command.cpp - The commands of pipec --------------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command/Command.h"

#include "Command/CommandRun.h"
#include "Command/LintCommand.h"
#include "Command/ManPage.h"
#include "Driver/Help.h"
#include "Driver/Information.h"
#include "Driver/Warnings.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

using namespace llvm;

namespace pipec {

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

ArrayRef<CommandInfo> allCommands() {
  using namespace optgroup;
  constexpr Set Common =
      optgroup::Output | Diagnostics | Expectations | General;
  constexpr Set AnyInput = InputForm | Search | Programs | StageGraphs |
                           Lowering | Sizes | ChunkCount | Parameters;
  constexpr Set OneInput = AnyInput | ListForm | StepSizes;
  constexpr Set ManyInputs = AnyInput | Library | Grids;
  static constexpr CommandInfo commands[] = {
#define PIPEC_COMMAND(Name, Run, Groups, Words, Overview, Examples)            \
  {Name,                                                                       \
   Run,                                                                        \
   {Run == runCompile ? "pipec" : "pipec " Name, Words, Overview, Examples,    \
    Groups}},
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
  os << help.overview << "\n\nUSAGE: " << help.command << " [options] "
     << help.words << "\n       pipec COMMAND ...\n\n"
     << "Commands (`pipec help COMMAND` or `pipec COMMAND --help`):\n";
  for (const CommandInfo &command : allCommands())
    printHelpRow(("  " + command.name).str(), command.help.overview, os);
  os << R"(
Examples:
  pipec zb1p ranks=8 microbatches=32
  pipec zb1p ranks=8 microbatches=32 --target=torch -o zb1p.csv
  pipec compare ranks=8 microbatches=32

`pipec --list` lists the schedules of the library. The word `compile` may be
left out; `pipec help compile` describes its options.
)";
}

static void printPage(raw_ostream &os) {
  os << R"(# The command line

<!-- Made by `pipec --doc-commands` from the tables of options and commands. -->

`pipec` compiles, and `pipec COMMAND` runs one of the commands below. The compiler
is the command `compile`, a word that may be left out. `pipec help COMMAND` and
`pipec COMMAND --help` describe the options of a command. `pipec --help` lists the
commands, as does `pipec` alone, to standard error and with status 2.

An option with a value is written `--name=VALUE` or `--name VALUE`, one with a
short name `-oVALUE` or `-o VALUE`. What follows `--` is not an option. An
option that is given twice, or that has no effect on what is asked for, is an
error. The exit status is 0 when all went well, 1 when an error was reported,
and 2 when the command line cannot be used.

)";
  for (const CommandInfo &command : allCommands())
    printHelpPage(command.help, os);
  os << R"(## Inputs

An input is a file, `-` for standard input, or the name of a program in a folder
of `-I` or in the library, or an alias of one of its schedules. Messages and
output call standard input `<stdin>`. A file has the format of its extension, `.pipe`,
`.steps` or `.csv`; without one of these, the first characters tell a CSV and
step IR from a program. `--input=FORMAT` overrides both.

## Sizes

All of these give the schedule `zb1p`, whose number of ranks is its parameter
`p`, 8 ranks:

```
pipec zb1p --ranks=8
pipec zb1p ranks=8
pipec zb1p p=8
pipec zb1p -Dranks=8
pipec zb1p -Dp=8
```

Two that give the same parameter are an error. `check` and `compare` take
several values, `ranks=2,4..8`, also as `--grid ranks=2,4..8`, and a schedule
takes the parameters that it has. Steps and CSV have one size, which `ranks`,
`stages` and `microbatches`, in any of these spellings, must equal: another size
is an error.

## Output files

`-o FILE` writes the output to a file, which exists only when the run succeeded.
Without `--emit` the extension of the file says what is written: `-o zb1p.csv`
writes a CSV and `-o zb1p.svg` a picture. Where a command has `--format`, an
extension `.txt`, `.json` or `.csv` chooses the form in the same way. In every
command, an extension that belongs to another kind of output is an error;
capital and small letters are equal. So is one of a picture that is not written,
such as `.gif` or `.tex`; any other extension says nothing.

## Frameworks

A training framework has one name, such as `deepspeed`, in every option:

- `--target=NAME` makes the lists of the framework, with their transfers.
- `--emit=NAME` writes the first of its outputs, after the passes of its target
  unless `--target` or `--passes` is given: `--emit=torchtitan` is `--emit=csv`
  with `--target=torchtitan`, `--emit=megatron` is `--emit=megatron-config`.
- `pipec lint --for=NAME` checks a schedule for the framework.
- `pipec compare` has a column for it in the table, CSV and JSON, which
  `--sort=NAME` puts first.

[Passes.md](Passes.md#frameworks) lists the names. `--target=pytorch` is the
target of the executors in Python; the target of PyTorch's own runtime is
`torch`, which `--emit=pytorch` uses. Megatron-LM runs orders of its own code
only and has no target.

## Warnings

`-Wno-NAME` switches the warning NAME off and `-WNAME` on, also where it is only
a note or is off. `-Werror=NAME` makes it an error, and `-Wno-error=NAME` a
warning where it would be an error. `--grade=NAME=GRADE,...` says the same, with
`error`, `warning`, `note` or `off` as GRADE. NAME is the flag that ends a
message, `[-WNAME]`, or the name of a kind. The last one counts. `-Wall` undoes
what was switched off; `-Werror` makes errors of all warnings except those that
were graded as warnings. A warning ends in its name ([Messages.md](Messages.md)), and
[Lint.md](Lint.md#options) those that `pipec lint` looks for.

## Completion

`pipec completion SHELL` prints a script with which bash, zsh or fish completes
commands, options, their values, names and aliases of schedules, and their
parameters.
`cmake --install` puts these scripts where the shells look for them, below the
prefix. For a pipec that was not installed, add one of these lines to
`~/.bashrc`, to `~/.zshrc` after `compinit`, or to `~/.config/fish/config.fish`:

```
source <(pipec completion bash)
source <(pipec completion zsh)
pipec completion fish | source
```

## Colors

`--color=auto` uses colors on a terminal. `NO_COLOR` switches them off;
`FORCE_COLOR` and `CLICOLOR_FORCE` switch them on where the output is not a
terminal. `--color=always` and `--color=never` override the environment.
)";
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

/// The forms of the output of a command: the values of its --format option.
static std::vector<StringRef> formsOf(const Arguments &args) {
  std::vector<StringRef> forms;
  for (Opt option : {Opt::TableFormat, Opt::FindingFormat, Opt::Format})
    if (args.takes(option))
      for (const Choice &choice : optionInfo(option).choices())
        forms.push_back(choice.name);
  if (forms.empty())
    forms.push_back("text");
  return forms;
}

/// True if the output of lint is an object of JSON, for which the command line
/// need not be checked yet.
static bool wantsJson(const Arguments &args) {
  if (args.has(Opt::FindingFormat))
    return args.text(Opt::FindingFormat) == "json";
  return args.text(Opt::Output).ends_with_insensitive(".json");
}

/// Reports what does not depend on the command, to `errors` if it is not null.
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
              raw_ostream &err, MakeHttpServer makeServer) {
  SmallVector<const char *> rest(argv + std::min(argc, 1), argv + argc);
  DiagSession session("pipec", err);
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

  Arguments args(rest, command->help.groups);
  session.setForm(args);
  CommandRun run(argc ? argv[0] : "pipec", args, session, out, err);
  run.commandLine = ArrayRef(argv, argc);
  run.makeServer = makeServer;
  std::vector<Diagnostic> errors;
  bool lists = !help && command->function == runLint && wantsJson(args);
  if (failed(checkCommandLine(args, session, lists ? &errors : nullptr)))
    return session.finish(lists ? lintCommandLine(run, errors) : failure());
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
  // Commands that compile or have a second output choose by themselves.
  bool hasForm = !args.takes(Opt::Emit) && !args.takes(Opt::SummaryFormat) &&
                 !args.has(Opt::Against) && !args.takes(Opt::ReportFormat);
  if (hasForm && failed(run.chooseForm(formsOf(args))))
    return session.finish(failure());
  return session.finish(command->function(run));
}

} // namespace pipec
