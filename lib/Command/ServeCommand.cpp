//===- ServeCommand.cpp - The serve command -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Command/DescribeCommand.h"
#include "Command/OpenServer.h"
#include "Compare/Candidates.h"
#include "Driver/ScheduleSource.h"
#include "Emit/Emitter.h"
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

/// Reads the initial contents of the page.
static FailureOr<json::Object> readFacts(const CommandRun &run,
                                         LiveSettings &settings) {
  std::string name =
      run.args.words().empty() ? firstProgram.str() : run.args.words().front();
  FailureOr<OpenedInput> input =
      findInput(name, run.search, run.args, run.diags);
  if (failed(input) || failed(checkIsProgram(*input, run.diags)))
    return failure();
  if (input->text.size() > maxProgramBytes)
    return reportUsageError(
        run.diags, "`" + Twine(shownPath(input->path)) + "` has " +
                       Twine(input->text.size()) +
                       " bytes, and the page takes programs of at most " +
                       Twine(maxProgramBytes));
  if (input->path != "-")
    settings.folder = absolute(sys::path::parent_path(absolute(input->path)));
  FailureOr<std::vector<LibraryEntry>> library =
      readLibrary(run.search, run.diags);
  if (failed(library))
    return failure();
  json::Array rows, targets, timedTargets, backwards;
  for (LibraryEntry &entry : *library) {
    rows.push_back(namedRow(entry.name, entry.summary));
    settings.library[entry.name] = std::move(entry.file);
  }
  for (const Choice &target : targetChoices()) {
    targets.push_back(namedRow(target.name, target.summary));
    FailureOr<ShippedTarget> shipped =
        makeShippedTarget(target.name, run.diags);
    if (failed(shipped))
      return failure();
    if (shipped->passes.usesCosts())
      timedTargets.push_back(target.name.str());
  }
  for (const Choice &form : backwardChoices())
    backwards.push_back(namedRow(form.name, form.summary));
  return json::Object{{"name", json::fixUTF8(sys::path::filename(input->path))},
                      {"program", json::fixUTF8(input->text)},
                      {"library", std::move(rows)},
                      {"targets", std::move(targets)},
                      {"timedTargets", std::move(timedTargets)},
                      {"backwards", std::move(backwards)}};
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
  FailureOr<json::Object> facts = readFacts(run, settings);
  if (failed(facts))
    return failure();
  FailureOr<std::string> page = livePage(std::move(*facts), run.diags);
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
