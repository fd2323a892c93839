//===- ServeCommand.cpp - The serve command -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Command/DescribeCommand.h"
#include "Command/OpenServer.h"
#include "Compare/Candidates.h"
#include "Driver/Choices.h"
#include "Driver/ScheduleSource.h"
#include "Emit/Emitter.h"
#include "Serve/LiveApi.h"
#include "Serve/LivePage.h"
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

/// Reads the initial contents of the page.
static FailureOr<LiveFacts> readFacts(const CommandRun &run,
                                      LiveSettings &settings) {
  std::string name =
      run.args.words().empty() ? firstProgram.str() : run.args.words().front();
  FailureOr<OpenedInput> input =
      findInput(name, run.search, run.args, run.diags);
  if (failed(input))
    return failure();
  if (input->kind != InputKind::Program)
    return reportUsageError(run.diags, "`" + Twine(shownPath(input->path)) +
                                           "` is not a program");
  if (input->text.size() > maxProgramBytes)
    return reportUsageError(
        run.diags, "`" + Twine(shownPath(input->path)) + "` has " +
                       Twine(input->text.size()) +
                       " bytes, and the page takes programs of at most " +
                       Twine(maxProgramBytes));
  LiveFacts facts;
  facts.name = sys::path::filename(input->path).str();
  facts.program = input->text.str();
  if (input->path != "-")
    settings.folder = absolute(sys::path::parent_path(absolute(input->path)));
  FailureOr<std::vector<LibraryEntry>> library =
      readLibrary(run.search, run.diags);
  if (failed(library))
    return failure();
  for (LibraryEntry &entry : *library) {
    settings.library[entry.name] = std::move(entry.file);
    facts.library.emplace_back(std::move(entry.name), std::move(entry.summary));
  }
  for (const Choice &target : targetChoices()) {
    facts.targets.emplace_back(target.name, target.summary);
    FailureOr<ShippedTarget> shipped =
        makeShippedTarget(target.name, run.diags);
    if (failed(shipped))
      return failure();
    if (shipped->passes.usesCosts())
      facts.timedTargets.push_back(target.name.str());
  }
  for (const Choice &form : backwardChoices())
    facts.backwards.emplace_back(form.name, form.summary);
  return facts;
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

LogicalResult runServe(const CommandRun &run) {
  if (failed(checkInputCount(run.args, run.args.words(), run.diags)) ||
      failed(checkHasServer(run)))
    return failure();
  LiveSettings settings;
  FailureOr<LiveFacts> facts = readFacts(run, settings);
  if (failed(facts))
    return failure();
  FailureOr<std::string> page = livePage(*facts, run.diags);
  if (failed(page))
    return failure();
  settings.page = std::move(*page);
  raw_string_ostream picture(settings.picture);
  if (failed(writeEmptyPage(picture, run.diags)))
    return failure();
  settings.compiler = run.program;
  for (StringRef folder : run.args.list(Opt::Include))
    settings.options.push_back("-I" + absolute(folder));
  settings.options.push_back(
      "--import-root=" +
      absolute(run.args.text(Opt::ImportRoot, settings.folder)));
  ServerFolder temporary;
  if (!temporary.exists())
    return reportUnwritable(run.diags, temporary.path(),
                            std::error_code(errno, std::generic_category()));
  settings.temporary = temporary.path();
  return serve(run, std::move(settings), temporary);
}

} // namespace pipec
