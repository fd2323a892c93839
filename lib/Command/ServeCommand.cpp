//===- ServeCommand.cpp - The serve command -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Command/DescribeCommand.h"
#include "Command/OpenServer.h"
#include "Command/SavedPage.h"
#include "Compare/Candidates.h"
#include "Driver/Input.h"
#include "Emit/Emitter.h"
#include "Frameworks/FrameworkTargets.h"
#include "Serve/Examples.h"
#include "Serve/LiveApi.h"
#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

#include <cerrno>

using namespace llvm;

namespace pipec {

/// The program that is shown if none is given.
static constexpr StringLiteral firstProgram = "one_f_one_b";

/// The path from the root of the file system.
static std::string absolute(StringRef path) {
  SmallString<256> full(path);
  (void)sys::fs::make_absolute(full);
  return std::string(full);
}

static json::Object namedRow(StringRef name, StringRef summary) {
  return json::Object{{"name", name.str()}, {"summary", summary.str()}};
}

/// The sizes of the command line, by name; all are numbers.
static json::Object givenSizes(const Arguments &args) {
  std::vector<std::string> written(args.words());
  llvm::append_range(written, args.list(Opt::Define));
  for (auto [option, name] : {std::pair(Opt::Ranks, "ranks="),
                              {Opt::Microbatches, "microbatches="},
                              {Opt::Chunks, "chunks="}})
    if (args.has(option))
      written.push_back((name + args.text(option)).str());
  json::Object sizes;
  for (StringRef word : written) {
    auto [name, text] = word.split('=');
    int64_t value = 0;
    if (!name.empty() && to_integer(text, value))
      sizes[name.str()] = value;
  }
  return sizes;
}

/// What the command line says about the program: `sizes`, and the texts `cost`,
/// `profile`, `target` and `schedule`.
static FailureOr<json::Object> readGiven(const CommandRun &run) {
  const Arguments &args = run.args;
  StringRef profile;
  if (args.has(Opt::CostProfile)) {
    FailureOr<StringRef> text =
        openInput(args.text(Opt::CostProfile), run.diags, maxPageProfileBytes);
    if (failed(text))
      return failure();
    profile = *text;
  }
  return json::Object{{"sizes", givenSizes(args)},
                      {"cost", llvm::join(args.list(Opt::Cost), ",")},
                      {"profile", json::fixUTF8(profile)},
                      {"target", args.text(Opt::Target)},
                      {"schedule", args.text(Opt::Schedule)}};
}

static json::Array namedRows(ArrayRef<Choice> choices) {
  json::Array rows;
  for (const Choice &choice : choices)
    rows.push_back(namedRow(choice.name, choice.summary));
  return rows;
}

/// The frameworks, and the arguments that write a file for each.
static json::Array frameworkRows() {
  json::Array rows;
  for (const FrameworkInfo &one : frameworkTable) {
    StringRef ending = one.how == RunsAs::Csv    ? ".csv"
                       : one.how == RunsAs::Json ? ".json"
                                                 : ".txt";
    std::string target =
        one.target.empty() ? "" : "--target=" + one.target.str() + " ";
    rows.push_back(json::Object{{"name", one.key},
                                {"title", one.title},
                                {"command", target + "--emit=" + one.key.str() +
                                                " -o NAME" + ending.str()}});
  }
  return rows;
}

/// The first line of a comment at the beginning of a line of a program, apart
/// from that of the licence.
static StringRef summaryOf(StringRef program) {
  for (StringRef line : split(program, '\n'))
    if (line.consume_front("// ") && !line.starts_with("SPDX"))
      return line;
  return "";
}

/// The programs of the library and those that are shipped with the page.
static FailureOr<json::Array> exampleRows(ArrayRef<LibraryEntry> library,
                                          DiagEngine &diags) {
  std::vector<ExampleProgram> programs;
  for (const LibraryEntry &entry : library) {
    FailureOr<StringRef> text = openInput(entry.file, diags, maxProgramBytes);
    if (failed(text))
      return failure();
    programs.push_back({"Library", entry.name, text->str()});
  }
  llvm::append_range(programs, shippedExamples());
  json::Array rows;
  for (const ExampleProgram &one : programs)
    rows.push_back(json::Object{{"group", one.group},
                                {"name", one.name},
                                {"summary", summaryOf(one.text).str()},
                                {"program", json::fixUTF8(one.text)}});
  return rows;
}

/// Reads the initial contents of the page.
static FailureOr<json::Object> readFacts(const CommandRun &run,
                                         const OpenedInput &input,
                                         LiveSettings &settings) {
  if (input.text.size() > maxProgramBytes)
    return reportUsageError(
        run.diags, "`" + Twine(shownPath(input.path)) + "` has " +
                       Twine(input.text.size()) +
                       " bytes, and the page takes programs of at most " +
                       Twine(maxProgramBytes));
  if (input.path != "-")
    settings.folder = absolute(sys::path::parent_path(absolute(input.path)));
  FailureOr<std::vector<LibraryEntry>> library =
      readLibrary(run.search, run.diags);
  FailureOr<json::Object> given = readGiven(run);
  if (failed(library) || failed(given))
    return failure();
  FailureOr<json::Array> examples = exampleRows(*library, run.diags);
  if (failed(examples))
    return failure();
  json::Array rows, timedTargets;
  for (LibraryEntry &entry : *library) {
    rows.push_back(namedRow(entry.name, entry.summary));
    settings.library[entry.name] = std::move(entry.file);
  }
  for (const Choice &target : targetChoices()) {
    FailureOr<ShippedTarget> shipped =
        makeShippedTarget(target.name, run.diags);
    if (failed(shipped))
      return failure();
    if (shipped->passes.usesCosts())
      timedTargets.push_back(target.name.str());
  }
  return json::Object{{"name", json::fixUTF8(sys::path::filename(input.path))},
                      {"program", json::fixUTF8(input.text)},
                      {"given", std::move(*given)},
                      {"library", std::move(rows)},
                      {"examples", std::move(*examples)},
                      {"frameworks", frameworkRows()},
                      {"consumers", namedRows(planConsumerChoices())},
                      {"targets", namedRows(targetChoices())},
                      {"timedTargets", std::move(timedTargets)},
                      {"backwards", namedRows(backwardChoices())}};
}

/// Serves the page until a signal comes.
static LogicalResult serve(const CommandRun &run, LiveSettings settings,
                           ServerFolder &temporary) {
  SignalWait signals;
  LiveApi api(std::move(settings));
  LocalServer server;
  if (failed(server.start(
          run, [&](const HttpRequest &request) { return api.answer(request); },
          LiveApi::maxBody)))
    return failure();
  signals.wait();
  bool allEnded = server.end();
  temporary.remove();
  if (!allEnded)
    leaveProcess(run);
  return success();
}

/// Writes the page with its answers, and ends.
static LogicalResult exportPage(const CommandRun &run, json::Object facts,
                                const InputRequest &request,
                                const OpenedInput &input,
                                LiveSettings settings) {
  FailureOr<PassRun> passes = run.makePasses("");
  auto source = ScheduleSource::load(input, run.search, run.diags);
  LowerOptions lowering;
  if (failed(passes) || failed(source) ||
      failed(readLowering(run.args, lowering, run.diags)))
    return failure();
  FailureOr<const CheckedSchedule *> checked =
      (*source)->schedule(run.args.text(Opt::Schedule), run.diags);
  if (failed(checked))
    return failure();
  FailureOr<Schedule> schedule =
      request.makeSchedule(**source, std::move(lowering), run.diags);
  if (failed(schedule) || failed(passes->run(*schedule, run.diags)))
    return failure();
  std::vector<std::string> ownSizes;
  for (const ast::ParamDecl &param : (*checked)->decl->params)
    if (ArrayRef<int64_t> values = request.sizes.valuesOf(param.name.text);
        !values.empty() && param.role == ast::Role::None)
      ownSizes.push_back((param.name.text + "=" + Twine(values[0])).str());
  if (failed(addAnswers(facts, std::move(settings), *schedule, ownSizes,
                        run.diags)))
    return failure();
  facts["examples"] = json::Array();
  FailureOr<std::string> page = livePage(std::move(facts), run.diags);
  return failed(page) ? failure() : writeSavedPage(run, *page);
}

LogicalResult runServe(const CommandRun &run) {
  std::vector<std::string> inputs;
  FailureOr<Grid> sizes =
      Grid::read(run.args, Grid::Values::One, inputs, run.diags);
  if (failed(sizes) || failed(checkInputCount(run.args, inputs, run.diags)) ||
      failed(checkHasServer(run)))
    return failure();
  InputRequest request{run.args,
                       inputs.empty() ? firstProgram.str() : inputs[0],
                       std::move(*sizes)};
  FailureOr<OpenedInput> input = request.open(run.search, run.diags);
  if (failed(input) || failed(checkIsProgram(*input, run.diags)))
    return failure();
  LiveSettings settings;
  FailureOr<json::Object> facts = readFacts(run, *input, settings);
  if (failed(facts))
    return failure();
  raw_string_ostream picture(settings.picture);
  if (failed(writeEmptyPage(picture, run.diags)))
    return failure();
  settings.compiler = run.program;
  for (StringRef folder : run.args.list(Opt::Include))
    settings.options.push_back("-I" + absolute(folder));
  std::string root = absolute(run.args.text(Opt::ImportRoot, settings.folder));
  settings.options.push_back("--import-root=" + root);
  settings.search = SearchPath(run.program, run.args.list(Opt::Include), root);
  ServerFolder temporary;
  if (!temporary.exists())
    return reportUnwritable(run.diags, temporary.path(),
                            std::error_code(errno, std::generic_category()));
  settings.temporary = temporary.path();
  if (run.args.has(Opt::Export))
    return exportPage(run, std::move(*facts), request, *input,
                      std::move(settings));
  FailureOr<std::string> page = livePage(std::move(*facts), run.diags);
  if (failed(page))
    return failure();
  settings.page = std::move(*page);
  return serve(run, std::move(settings), temporary);
}

} // namespace pipec
