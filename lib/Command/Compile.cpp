//===- Compile.cpp - The compiler -----===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The list of phases, and nothing else: read, parse, check, lower, verify, run
// passes, verify, emit. Each stops the run when it reported an error.
//
//===----------------------------------------------------------------------===//

#include "Command/CommandRun.h"
#include "Command/Describe.h"
#include "Command/PictureFlags.h"

#include "AST/Formatter.h"
#include "AST/Printer.h"
#include "Driver/Input.h"
#include "Driver/Passes.h"
#include "Driver/Program.h"
#include "Emit/Emitter.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace pipec {

/// The part of `--help` on `--emit`.
static std::string emitterHelp() {
  std::string text;
  raw_string_ostream os(text);
  os << "\nOutput kinds of --emit:\n";
  os << formatv("  {0,-12} {1}\n", "ast", "the tree of the program");
  os << formatv("  {0,-12} {1}\n", "source", "the program in canonical form");
  for (const EmitterInfo &info : allEmitters())
    os << formatv("  {0,-12} {1}\n", info.name, info.summary);
  return text;
}

namespace {

struct PipecFlags : CommandFlags {
  PipecFlags() : CommandFlags("pipec options") {}

  InputFlags input{category};
  PassFlags passes{category};
  TargetFlag target{category};
  cl::opt<std::string> emit{"emit", cl::desc("What to write (see below)"),
                            cl::value_desc("KIND"), cl::init("timeline"),
                            cl::cat(category)};
  cl::opt<std::string> cpp{
      "cpp", cl::desc("Form of --emit=cpp: loops or table"),
      cl::value_desc("FORM"), cl::init("loops"), cl::cat(category)};
  ModelFlag model{category};
  FormatFlag format{category, "Form of --emit=report: text (default) or json"};
  PictureFlags pictures{category};
  WarningFlags warnings{category};
  cl::opt<bool> list{"list", cl::desc("List the schedules of the library"),
                     cl::cat(category)};
  cl::opt<bool> describe{"describe",
                         cl::desc("Describe the schedules of the input: "
                                  "parameters, constraints, source"),
                         cl::cat(category)};
  std::string help = commandHelp() + emitterHelp() + passHelp();
  cl::extrahelp extra{help};
};

/// One run of the compiler.
class Compile : CommandRun {
public:
  Compile(const PipecFlags &flags, const CommandRun &run)
      : CommandRun(run), flags(flags) {}

  LogicalResult run();

private:
  LogicalResult checkOptions();
  /// Prints the program itself, or what it says of its schedules.
  LogicalResult showProgram(const OpenedInput &input);

  const PipecFlags &flags;
  const EmitterInfo *emitter = nullptr;
  EmitOptions emit;
  ast::Context context;
};

} // namespace

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

/// The kinds that print the program itself.
static bool printsProgram(StringRef kind) {
  return kind == "ast" || kind == "source";
}

LogicalResult Compile::checkOptions() {
  if (!printsProgram(flags.emit)) {
    emitter = findEmitter(flags.emit);
    if (!emitter) {
      std::vector<StringRef> kinds = {"ast", "source"};
      for (const EmitterInfo &info : allEmitters())
        kinds.push_back(info.name);
      InFlightDiagnostic error =
          unusable(diags, "no output kind `" + flags.emit + "`");
      if (StringRef meant = nearestWord(flags.emit, kinds); !meant.empty())
        error.note(DiagLoc(), diag::NoteDidYouMean, meant);
      return failure();
    }
  }
  if (flags.cpp != "loops" && flags.cpp != "table")
    return unusable(diags, "no form `" + flags.cpp + "` of --emit=cpp");
  emit.cppTable = flags.cpp == "table";
  emit.json = flags.format.isJson();
  if (failed(flags.format.check(diags)) ||
      failed(flags.model.read(emit.model, diags)) ||
      failed(flags.pictures.read(emit, diags)))
    return failure();
  if (flags.pictures.with.getNumOccurrences() && flags.emit != "html")
    return unusable(diags, "--with, which is for --emit=html");
  return flags.warnings.apply(diags);
}

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

LogicalResult Compile::showProgram(const OpenedInput &input) {
  ProgramLoader loader(search, context, diags);
  FailureOr<ast::Module *> module = loader.load(input.path, input.text);
  if (failed(module))
    return failure();
  return write([&](raw_ostream &os) {
    if (flags.describe)
      describeSchedules(**module, flags.input.schedule, os);
    else if (flags.emit == "ast")
      ast::printTree(**module, diags.sourceFiles(), os);
    else
      ast::printCanonical(**module, os);
    return success();
  });
}

LogicalResult Compile::run() {
  if (failed(checkOptions()))
    return failure();
  if (flags.list)
    return write(
        [&](raw_ostream &os) { return listLibrary(search, os, diags); });

  FailureOr<StringRef> list = flags.target.choose(
      flags.passes, emitter ? StringRef(emitter->target) : StringRef(), diags);
  if (failed(list))
    return failure();
  FailureOr<PassRun> passes = PassRun::make(flags.passes, *list, err, session);
  if (failed(passes))
    return failure();

  FailureOr<OpenedInput> input = openInput(flags.input, search, diags);
  if (failed(input))
    return failure();
  if (!emitter || flags.describe) {
    if (input->kind != InputKind::Program)
      return unusable(diags, "`" + input->path + "` is not a program");
    return showProgram(*input);
  }

  auto compile = [&](const OpenedInput &from) -> FailureOr<Schedule> {
    FailureOr<Schedule> schedule =
        makeSchedule(flags.input, from, search, session);
    if (failed(schedule) || failed(passes->run(*schedule, diags)))
      return failure();
    return schedule;
  };
  FailureOr<Schedule> schedule = compile(*input);
  if (failed(schedule))
    return failure();
  FailureOr<Schedule> second = failure();
  if (flags.pictures.with.getNumOccurrences()) {
    FailureOr<OpenedInput> with = findInput(flags.pictures.with, search, diags);
    if (failed(with))
      return failure();
    second = compile(*with);
    if (failed(second))
      return failure();
    emit.with = &*second;
  }

  return write([&](raw_ostream &os) {
    emit.colors = os.has_colors();
    if (!emit.width && flags.output.path == "-" && os.is_displayed())
      emit.width = terminalWidth();
    // With -Werror a warning of the emitter's is an error.
    return success(succeeded(emitter->function(*schedule, emit, os, diags)) &&
                   !diags.hadErrors());
  });
}

int compileMain(const CommandLine &line) {
  PipecFlags flags;
  return runCommand(
      line, flags, "Compiles pipeline-parallel schedules.",
      [&](const CommandRun &run) { return Compile(flags, run).run(); });
}

} // namespace pipec
