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

#include "Command/Command.h"

#include "AST/Formatter.h"
#include "AST/Printer.h"
#include "Driver/Describe.h"
#include "Driver/Input.h"
#include "Driver/Io.h"
#include "Driver/Passes.h"
#include "Driver/PictureFlags.h"
#include "Driver/Program.h"
#include "Emit/Emitter.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace pipec {

namespace {

struct PipecOptions {
  cl::OptionCategory category{"pipec options"};
  InputFlags input{category};
  PassFlags passes{category};
  DiagFlags diags{category};
  TargetFlag target{category};
  cl::opt<std::string> emit{"emit", cl::desc("What to write (see below)"),
                            cl::value_desc("KIND"), cl::init("timeline"),
                            cl::cat(category)};
  cl::opt<std::string> output{"o", cl::desc("Write the result to FILE"),
                              cl::value_desc("FILE"), cl::init("-"),
                              cl::cat(category)};
  cl::opt<std::string> cpp{
      "cpp", cl::desc("Form of --emit=cpp: loops or table"),
      cl::value_desc("FORM"), cl::init("loops"), cl::cat(category)};
  ModelFlag model{category};
  cl::opt<std::string> format{
      "format", cl::desc("Form of --emit=report: text (default) or json"),
      cl::value_desc("FORMAT"), cl::init("text"), cl::cat(category)};
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
class Run {
public:
  Run(const PipecOptions &options, const SearchPath &search, raw_ostream &out,
      raw_ostream &err, DiagSession &session)
      : options(options), search(search), out(out), err(err),
        diags(session.engine()), progress(session.progress()) {}

  LogicalResult run();

private:
  LogicalResult checkOptions();
  LogicalResult printProgram(const OpenedInput &input);
  LogicalResult describe(const OpenedInput &input);
  LogicalResult write(function_ref<LogicalResult(raw_ostream &)> writer);

  const PipecOptions &options;
  const SearchPath &search;
  raw_ostream &out;
  raw_ostream &err;
  DiagEngine &diags;
  Progress &progress;

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

LogicalResult Run::checkOptions() {
  if (!printsProgram(options.emit)) {
    emitter = findEmitter(options.emit);
    if (!emitter) {
      std::vector<StringRef> kinds = {"ast", "source"};
      for (const EmitterInfo &info : allEmitters())
        kinds.push_back(info.name);
      InFlightDiagnostic error =
          unusable(diags, "no output kind `" + options.emit + "`");
      if (StringRef meant = nearestWord(options.emit, kinds); !meant.empty())
        error.note(DiagLoc(), diag::NoteDidYouMean, meant);
      return failure();
    }
  }
  if (options.cpp != "loops" && options.cpp != "table")
    return unusable(diags, "no form `" + options.cpp + "` of --emit=cpp");
  emit.cppTable = options.cpp == "table";
  if (options.format != "text" && options.format != "json")
    return unusable(diags, "no format `" + options.format + "`");
  emit.json = options.format == "json";
  if (failed(options.model.read(emit.model, diags)) ||
      failed(options.pictures.read(emit, diags)))
    return failure();
  if (options.pictures.with.getNumOccurrences() && options.emit != "html")
    return unusable(diags, "--with, which is for --emit=html");
  return options.warnings.apply(diags);
}

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

LogicalResult Run::write(function_ref<LogicalResult(raw_ostream &)> writer) {
  auto file = OutputFile::open(options.output, out, diags);
  if (failed(file))
    return failure();
  // What goes to the terminal is progress enough.
  if ((*file)->stream().is_displayed())
    progress.end();
  else
    progress.phase("writing");
  // With -Werror a warning of the writer's is an error.
  if (failed(writer((*file)->stream())) || diags.hadErrors())
    return failure();
  return (*file)->commit(diags);
}

LogicalResult Run::printProgram(const OpenedInput &input) {
  ProgramLoader loader(search, context, diags);
  FailureOr<ast::Module *> module = loader.load(input.path, input.text);
  if (failed(module))
    return failure();
  return write([&](raw_ostream &os) {
    if (options.emit == "ast")
      ast::printTree(**module, diags.sourceFiles(), os);
    else
      ast::printCanonical(**module, os);
    return success();
  });
}

LogicalResult Run::describe(const OpenedInput &input) {
  ProgramLoader loader(search, context, diags);
  FailureOr<ast::Module *> module = loader.load(input.path, input.text);
  if (failed(module))
    return failure();
  return write([&](raw_ostream &os) {
    describeSchedules(**module, options.input.schedule, os);
    return success();
  });
}

LogicalResult Run::run() {
  if (failed(checkOptions()))
    return failure();
  if (options.list)
    return write(
        [&](raw_ostream &os) { return listLibrary(search, os, diags); });

  FailureOr<StringRef> list = options.target.choose(
      options.passes, emitter ? StringRef(emitter->target) : StringRef(), diags);
  if (failed(list))
    return failure();
  FailureOr<PassRun> passes = PassRun::make(options.passes, *list, err, diags);
  if (failed(passes))
    return failure();

  FailureOr<OpenedInput> input = openInput(options.input, search, diags);
  if (failed(input))
    return failure();
  if (input->kind != InputKind::Program && (!emitter || options.describe))
    return unusable(diags, "`" + input->path + "` is not a program");
  if (options.describe)
    return describe(*input);
  if (!emitter)
    return printProgram(*input);

  if (options.passes.printAfterAll || options.passes.timePasses)
    progress.end(); // these too go to standard error
  auto compile = [&](const OpenedInput &from) -> FailureOr<Schedule> {
    progress.phase(from.kind == InputKind::Program ? "lowering" : "reading");
    FailureOr<Schedule> schedule =
        makeSchedule(options.input, from, search, diags);
    passes->show(progress);
    if (failed(schedule) || failed(passes->run(*schedule, diags)))
      return failure();
    return schedule;
  };
  FailureOr<Schedule> schedule = compile(*input);
  if (failed(schedule))
    return failure();
  FailureOr<Schedule> second = failure();
  if (options.pictures.with.getNumOccurrences()) {
    FailureOr<OpenedInput> with =
        findInput(options.pictures.with, search, diags);
    if (failed(with))
      return failure();
    second = compile(*with);
    if (failed(second))
      return failure();
    emit.with = &*second;
  }

  return write([&](raw_ostream &os) {
    emit.colors = os.has_colors();
    if (!emit.width && options.output == "-" && os.is_displayed())
      emit.width = terminalWidth();
    return emitter->function(*schedule, emit, os, diags);
  });
}

int compileMain(int argc, const char *const *argv, raw_ostream &out,
                raw_ostream &err) {
  DiagSession session("pipec", err);
  PipecOptions options;
  if (failed(parseCommandLine(argc, argv, options.category,
                              "Compiles pipeline-parallel schedules.",
                              options.diags, session)))
    return session.finish(failure());
  // Any function of this program serves to find the file it runs from.
  std::string program = sys::fs::getMainExecutable(
      argv[0], reinterpret_cast<void *>(&compileMain));
  SearchPath search(program, options.input.includes);
  return session.finish(Run(options, search, out, err, session).run());
}

} // namespace pipec
