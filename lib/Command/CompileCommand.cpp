//===- CompileCommand.cpp - The compiler ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The list of phases: read, parse, check, lower, verify, run passes, verify,
// emit. A phase that reports an error ends the run.
//
//===----------------------------------------------------------------------===//

#include "AST/TreePrinter.h"
#include "Command/CommandRun.h"
#include "Command/DescribeCommand.h"
#include "Driver/Input.h"
#include "Driver/Program.h"
#include "Emit/Emitter.h"
#include "Format/Formatter.h"
#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

#include <functional>

using namespace llvm;

namespace pipec {

namespace {

/// The maximum size of a template, and of a partial.
constexpr uint64_t maxTemplateBytes = uint64_t(1) << 20;

/// One run of the compiler.
class Compile : CommandRun {
public:
  explicit Compile(const CommandRun &run) : CommandRun(run) {}

  LogicalResult run();

private:
  LogicalResult checkOptions();
  LogicalResult checkGroups(optgroup::Set used, const Twine &output);
  LogicalResult checkUses();
  LogicalResult checkCosts(const PassRun &passes, CostUses uses);
  void warnOfUsedCosts(ArrayRef<const Schedule *> shown, const PassRun &passes);
  LogicalResult checkFirstWord();
  LogicalResult readTemplate();
  /// Prints the program itself, or information about its schedules.
  LogicalResult showProgram(const OpenedInput &input);

  const EmitterInfo *emitter = nullptr;
  EmitOptions emit;
  ast::Context context;
};

} // namespace

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

/// Outputs other than a schedule, and the options that affect each of them.
static constexpr struct {
  Opt option;
  optgroup::Set used;
} listings[] = {
    {Opt::List, optgroup::Search | optgroup::Listing},
    {Opt::Describe, optgroup::Search | optgroup::InputForm |
                        optgroup::Programs | optgroup::Describing |
                        optgroup::Format},
};
static constexpr optgroup::Set usedByPrograms =
    optgroup::Search | optgroup::InputForm | optgroup::Emit;

/// Reports the first option that belongs neither to one of these groups nor to
/// those of all commands.
LogicalResult Compile::checkGroups(optgroup::Set used, const Twine &output) {
  std::optional<Opt> unused = args.firstOf(
      ~(used | optgroup::Output | optgroup::Warnings | optgroup::Diagnostics |
        optgroup::Expectations | optgroup::General));
  if (!unused)
    return success();
  return args.reportUseless(*unused, "with " + output, diags);
}

/// The output formats that an option affects.
static std::string usersOf(EmitUse use) {
  SmallVector<StringRef> users;
  for (const EmitterInfo &info : allEmitters())
    if (info.hasUse(use))
      users.push_back(info.name);
  return "--emit=" + join(users, ", ");
}

/// Reports options that do not affect the output.
LogicalResult Compile::checkUses() {
  static constexpr std::pair<Opt, EmitUse> rows[] = {
      {Opt::Model, EmitUse::Model},
      {Opt::Jitter, EmitUse::Jitter},
      {Opt::Format, EmitUse::Format},
#define PIPEC_EMIT_OPTION(Id, Name, Type, CxxType, Field, Default, Help)       \
  {Opt::Id, EmitUse::Id},
#include "Emit/EmitOptions.def"
  };
  for (auto [option, use] : rows)
    if (args.has(option) && !emitter->hasUse(use))
      return args.reportUseless(
          option, "on --emit=" + emitter->name + "; it is for " + usersOf(use),
          diags);
  // Slots have no times.
  for (Opt option : {Opt::Model, Opt::Window})
    if (args.has(option) && args.text(Opt::Timeline) == "down")
      return args.reportUseless(option, "with " + args.written(Opt::Timeline),
                                diags);
  if (emitter->hasUse(EmitUse::Template) && !args.has(Opt::Template))
    return diags.report(DiagLoc(), diag::OptionNeeds, args.written(Opt::Emit),
                        "--template=FILE");
  if (!emitter->printsProgram())
    return success();
  return checkGroups(usedByPrograms, "--emit=" + emitter->name);
}

/// Reports costs that are not used by the output, a pass or a check.
LogicalResult Compile::checkCosts(const PassRun &passes, CostUses uses) {
  bool isDown = args.text(Opt::Timeline) == "down";
  if ((emitter->hasUse(EmitUse::Costs) && !isDown) || passes.usesCosts())
    return success();
  uses.layers = emitter->hasUse(EmitUse::Layers);
  return checkCostsUsed(
      args, uses,
      "on --emit=" + emitter->name + (isDown ? " with --timeline=down" : "") +
          " and these passes; it is for " + usersOf(EmitUse::Costs) +
          ", and for passes that use costs",
      diags);
}

/// Warns of assumed costs where they determine times, and of rounded ones where
/// they are printed.
void Compile::warnOfUsedCosts(ArrayRef<const Schedule *> shown,
                              const PassRun &passes) {
  bool usesTimes = emitter->hasUse(EmitUse::Costs) && emitter->name != "ir" &&
                   args.text(Opt::Timeline) != "down";
  if (usesTimes || passes.usesCosts())
    warnOfCosts(shown, diags);
  else if (emitter->hasUse(EmitUse::Costs))
    warnOfRounding(shown[0]->rounding,
                   diags.sourceFiles().itemAt(shown[0]->source), diags);
}

/// Reads the file given by --template. The partials of a template are files of
/// the same folder.
LogicalResult Compile::readTemplate() {
  if (!args.has(Opt::Template))
    return success();
  std::string path = emit.templateFile;
  if (failed(
          store(openInput(path, diags, maxTemplateBytes), emit.templateText)))
    return failure();
  emit.templatePartial = [this, path](StringRef name, DiagLoc loc) {
    SmallString<128> partial = sys::path::parent_path(path);
    sys::path::append(partial, name + ".mustache");
    return openInput(partial, diags, maxTemplateBytes, loc);
  };
  return success();
}

LogicalResult Compile::checkOptions() {
  for (auto [option, used] : listings)
    if (args.has(option)) {
      if (failed(checkGroups(used, optionInfo(option).spelling())))
        return failure();
      return chooseForm(option == Opt::Describe ? form::Text | form::Json
                                                : form::Text);
    }
  if (failed(store(chooseEmitter(args, diags), emitter)) ||
      failed(checkUses()) ||
      (emitter->hasUse(EmitUse::Format) &&
       failed(chooseForm(form::Text | form::Json))))
    return failure();
#define PIPEC_EMIT_OPTION(Id, Name, Type, CxxType, Field, Default, Help)       \
  args.get(Opt::Id, emit.Field);
#include "Emit/EmitOptions.def"
  emit.json = isJson();
  emit.output = args.text(Opt::Output).str();
  if (failed(store(readModel(args, diags), emit.model)) ||
      failed(readJitter(args, emit.jitter, diags)))
    return failure();
  if (emit.templateFile == "-")
    return diags.report(DiagLoc(), diag::OptionValue, "-", "--template",
                        "a file");
  return success();
}

/// Reports a first word that is not an input but probably a misspelled command,
/// or an option.
LogicalResult Compile::checkFirstWord() {
  ArrayRef<std::string> words = args.words();
  if (words.empty() || search.findInput(words[0]))
    return success();
  StringRef first = words[0];
  if (findCommand(first))
    return reportUsageError(diags,
                            "command `" + first + "` after other arguments");
  for (const OptionInfo &info : allOptions()) {
    if (!info.type.isFlag() || info.name != first || !args.takes(info.id))
      continue;
    InFlightDiagnostic error =
        diags.report(DiagLoc(), diag::UnknownChoice, "command", first);
    error.note(DiagLoc(), diag::NoteDidYouMean, info.spelling());
    error.note(DiagLoc(), diag::NoteChoices, join(commandNames(), "`, `"));
    return error;
  }
  // Two words, one of which is a file: the first may be meant as a command.
  if (words.size() > 1 && !nearestWord(first, commandNames()).empty())
    return reportUnknownChoice(diags, "command", first, commandNames());
  return success();
}

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

LogicalResult Compile::showProgram(const OpenedInput &input) {
  ProgramLoader loader(search, context, diags);
  FailureOr<ast::Module *> module = loader.load(input.path, input.text);
  if (failed(module))
    return failure();
  std::vector<const ast::ScheduleDecl *> schedules((*module)->schedules.begin(),
                                                   (*module)->schedules.end());
  auto isMeant = [&](const ast::ScheduleDecl *schedule) {
    return schedule->hasAlias(input.word);
  };
  if (args.has(Opt::Schedule)) {
    FailureOr<const ast::ScheduleDecl *> chosen =
        findSchedule(schedules, args.text(Opt::Schedule), input.path, diags);
    if (failed(chosen))
      return failure();
    schedules = {*chosen};
  } else if (any_of(schedules, isMeant)) {
    erase_if(schedules, std::not_fn(isMeant));
  }
  if (args.has(Opt::Describe))
    return write(
        [&](raw_ostream &os) { describeSchedules(schedules, os); },
        [&](json::OStream &json) { describeSchedules(schedules, json); });
  return write([&](raw_ostream &os) {
    if (emitter->name == "ast")
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

  if (emitter && emitter->name == "live")
    return runLive(*this, emit);
  bool showsProgram = args.has(Opt::Describe) || emitter->printsProgram();
  FailureOr<PassRun> passes = makePasses(showsProgram ? "" : emitter->target);
  if (failed(passes) || failed(checkFirstWord()))
    return failure();
  FailureOr<InputRequest> request = InputRequest::read(args, search, diags);
  if (failed(request))
    return failure();
  FailureOr<OpenedInput> input = request->open(search, diags);
  if (failed(input))
    return failure();
  if (showsProgram) {
    if (std::string size = request->sizes.firstWritten(); !size.empty())
      return diags.report(DiagLoc(), diag::OptionWithoutEffect, size,
                          emitter ? ("with --emit=" + emitter->name).str()
                                  : "with --describe");
    if (failed(checkIsProgram(*input, diags)))
      return failure();
    return showProgram(*input);
  }

  CostUses uses;
  auto compile = [&](const OpenedInput &from,
                     const Schedule *first) -> FailureOr<Schedule> {
    FailureOr<Schedule> schedule =
        request->makeSchedule(from, search, session, first);
    if (failed(schedule))
      return failure();
    uses.add(*schedule);
    if (failed(passes->run(*schedule, diags)))
      return failure();
    return schedule;
  };
  if (failed(readTemplate()))
    return failure();
  FailureOr<Schedule> schedule = compile(*input, /*first=*/nullptr);
  if (failed(schedule))
    return failure();
  if (emitter->hasUse(EmitUse::NeedsLayers) && schedule->layers.empty())
    return diags.report(DiagLoc(), diag::OptionNeeds, args.written(Opt::Emit),
                        "--layers, --split or --layout: `" +
                            shortened(schedule->name) + "` has no layout");
  SmallVector<const Schedule *> shown = {&*schedule};
  FailureOr<Schedule> second = failure();
  if (args.has(Opt::With)) {
    FailureOr<OpenedInput> with =
        findInput(emit.withInput, search, args, diags);
    if (failed(with))
      return failure();
    second = compile(*with, &*schedule);
    if (failed(second))
      return failure();
    emit.with = &*second;
    shown.push_back(&*second);
  }
  if (failed(checkModelUsed(args, shown, diags)) ||
      failed(checkJitterUsed(args, emit.jitter, schedule->costs, diags)) ||
      failed(checkCosts(*passes, uses)))
    return failure();

  warnOfUsedCosts(shown, *passes);

  return write([&](raw_ostream &os) {
    emit.colors = session.useColors(os);
    if (emitter->hasUse(EmitUse::Timeline) && !emit.width &&
        !args.has(Opt::Output) && os.is_displayed())
      emit.width = terminalWidth();
    // With -Werror a warning of the emitter is an error.
    return success(succeeded(emitter->function(*schedule, emit, os, diags)) &&
                   !diags.hadErrors());
  });
}

LogicalResult runCompile(const CommandRun &run) { return Compile(run).run(); }

} // namespace pipec
