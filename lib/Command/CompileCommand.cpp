//===- CompileCommand.cpp - The compiler -----===//
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
#include "Command/DescribeCommand.h"
#include "Command/PictureOptions.h"

#include "AST/TreePrinter.h"
#include "Driver/Input.h"
#include "Driver/PassFlags.h"
#include "Driver/Program.h"
#include "Emit/Emitter.h"
#include "Format/Formatter.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace pipec {

namespace {

/// One run of the compiler.
class Compile : CommandRun {
public:
  explicit Compile(const CommandRun &run) : CommandRun(run) {}

  LogicalResult run();

private:
  LogicalResult checkOptions();
  LogicalResult chooseEmitter();
  LogicalResult checkUses();
  /// Prints the program itself, or what it says of its schedules.
  LogicalResult showProgram(const OpenedInput &input);

  const EmitterInfo *emitter = nullptr;
  EmitOptions emit;
  ast::Context context;
};

} // namespace

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

/// Chooses what is written: as --emit says, else as the extension of the output
/// file does. Reports when they contradict each other.
LogicalResult Compile::chooseEmitter() {
  StringRef path = args.text(Opt::Output, "-");
  StringRef extension = sys::path::extension(path);
  extension.consume_front(".");
  SmallVector<StringRef, 4> kinds;
  for (const EmitterInfo &info : allEmitters())
    if (!extension.empty() && info.hasExtension(extension))
      kinds.push_back(info.name);
  if (args.has(Opt::Emit)) {
    emitter = findEmitter(args.text(Opt::Emit));
    if (kinds.empty() || is_contained(kinds, emitter->name))
      return success();
    return unusable(diags, "`" + args.written(Opt::Emit) + "` into `" +
                               shortened(path) + "`, whose name is that of " +
                               join(kinds, " or "));
  }
  if (kinds.size() > 1 && !is_contained(kinds, "timeline"))
    return unusable(diags, "`" + shortened(path) +
                               "` has a name that several kinds of output "
                               "have, of which --emit names one: " +
                               join(kinds, ", "));
  emitter = findEmitter(kinds.size() == 1 ? kinds[0] : "timeline");
  return success();
}

/// Reports options that have no effect on what is written.
LogicalResult Compile::checkUses() {
  static constexpr std::pair<Opt, EmitUse> rows[] = {
      {Opt::Cpp, EmitUse::Cpp},       {Opt::Model, EmitUse::Model},
      {Opt::Format, EmitUse::Format}, {Opt::Window, EmitUse::Window},
      {Opt::Width, EmitUse::Width},   {Opt::With, EmitUse::With},
  };
  for (auto [option, use] : rows) {
    if (!args.has(option) || emitter->hasUse(use))
      continue;
    SmallVector<StringRef> users;
    for (const EmitterInfo &info : allEmitters())
      if (info.hasUse(use))
        users.push_back(info.name);
    return diags.report(DiagLoc(), diag::OptionWithoutEffect,
                        args.written(option),
                        ("on --emit=" + emitter->name +
                         "; it is for --emit=" + join(users, ", "))
                            .str());
  }
  return success();
}

LogicalResult Compile::checkOptions() {
  if (failed(chooseEmitter()) || failed(applyWarnings(args, diags)))
    return failure();
  for (Opt listing : {Opt::List, Opt::Describe})
    for (Opt other : {Opt::Emit, Opt::Passes, Opt::Target, Opt::Format,
                      Opt::Model, Opt::Window, Opt::Width, Opt::With, Opt::Cpp})
      if (args.has(listing) && args.has(other))
        return diags.report(DiagLoc(), diag::OptionWithoutEffect,
                            args.written(other),
                            "with " + optionInfo(listing).spelling());
  if (args.has(Opt::List) || args.has(Opt::Describe))
    return success();
  if (failed(checkUses()))
    return failure();
  emit.cppTable = args.text(Opt::Cpp) == "table";
  emit.json = args.text(Opt::Format) == "json";
  emit.model = readModel(args);
  return readPictureOptions(args, emit, diags);
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
    if (args.has(Opt::Describe))
      describeSchedules(**module, args.text(Opt::Schedule), os);
    else if (emitter->name == "ast")
      ast::printTree(**module, diags.sourceFiles(), os);
    else
      ast::printCanonical(**module, os);
    return success();
  });
}

LogicalResult Compile::run() {
  if (failed(checkOptions()))
    return failure();
  if (args.has(Opt::List))
    return write([&](raw_ostream &os) {
      return pipec::listLibrary(search, args.words(), os, diags);
    });

  FailureOr<StringRef> list = choosePasses(args, emitter->target, diags);
  if (failed(list))
    return failure();
  FailureOr<PassRun> passes = PassRun::make(args, *list, err, session);
  if (failed(passes))
    return failure();

  // Two words where one is a file: the first may be meant as a command.
  ArrayRef<std::string> words = args.words();
  if (words.size() > 1 && !search.findInput(words[0]) &&
      !nearestWord(words[0], commandNames()).empty())
    return reportUnknownChoice(diags, "command", words[0], commandNames());
  FailureOr<InputRequest> request = InputRequest::read(args, diags);
  if (failed(request))
    return failure();
  FailureOr<OpenedInput> input = request->open(search, diags);
  if (failed(input))
    return failure();
  if (emitter->printsProgram() || args.has(Opt::Describe)) {
    if (input->kind != InputKind::Program)
      return unusable(diags, "`" + input->path + "` is not a program");
    return showProgram(*input);
  }

  auto compile = [&](const OpenedInput &from) -> FailureOr<Schedule> {
    FailureOr<Schedule> schedule = request->makeSchedule(from, search, session);
    if (failed(schedule) || failed(passes->run(*schedule, diags)))
      return failure();
    return schedule;
  };
  FailureOr<Schedule> schedule = compile(*input);
  if (failed(schedule))
    return failure();
  SmallVector<const Schedule *> shown = {&*schedule};
  FailureOr<Schedule> second = failure();
  if (args.has(Opt::With)) {
    FailureOr<OpenedInput> with =
        findInput(args.text(Opt::With), search, args, diags);
    if (failed(with))
      return failure();
    second = compile(*with);
    if (failed(second))
      return failure();
    emit.with = &*second;
    shown.push_back(&*second);
  }
  if (failed(checkModelUsed(args, shown, diags)))
    return failure();

  return write([&](raw_ostream &os) {
    emit.colors = session.useColors(os);
    if (!emit.width && !args.has(Opt::Output) && os.is_displayed())
      emit.width = terminalWidth();
    // With -Werror a warning of the emitter's is an error.
    return success(succeeded(emitter->function(*schedule, emit, os, diags)) &&
                   !diags.hadErrors());
  });
}

LogicalResult runCompile(const CommandRun &run) { return Compile(run).run(); }

} // namespace pipec
