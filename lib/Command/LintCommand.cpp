//===- LintCommand.cpp - The lint command ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Command/LintedInput.h"
#include "Lint/Findings.h"
#include "Support/Diagnostics/VerifierDiags.h"
#include "Support/Json.h"
#include "Support/Words.h"

using namespace llvm;

namespace pipec {

static LogicalResult lintText(const CommandRun &run,
                              ArrayRef<InputRequest> requests) {
  if (requests.size() == 1) {
    LintedInput input(run, &requests.front());
    FailureOr<Schedule> schedule = input.load();
    if (failed(schedule))
      return failure();
    return run.write([&](raw_ostream &os) {
      input.printText(os, *schedule);
      return success();
    });
  }
  return run.write([&](raw_ostream &os) {
    for (const InputRequest &request : requests) {
      if (&request != &requests.front())
        os << '\n';
      os << terminalText(shownPath(request.path)) << ":\n";
      LintedInput input(run, &request);
      FailureOr<Schedule> schedule = failure();
      // What cannot be read is a part of the output, in its place.
      run.session.withHandler(run.session.printerTo(os),
                              [&] { schedule = input.load(); });
      if (succeeded(schedule))
        input.printText(os, *schedule);
    }
    return success();
  });
}

static LogicalResult lintJson(const CommandRun &run,
                              ArrayRef<InputRequest> requests) {
  return run.write(
      [](raw_ostream &) {},
      [&](json::OStream &json) {
        if (requests.size() == 1)
          return LintedInput(run, &requests.front()).printJson(json, {});
        writeObjects(json, "files", requests, [&](const auto &request) {
          json.attribute("file", json::fixUTF8(shownPath(request.path)));
          LintedInput(run, &request).printJson(json, {});
        });
      });
}

/// The formats for other tools.
static LogicalResult lintForTools(const CommandRun &run,
                                  ArrayRef<InputRequest> requests) {
  return run.write([&](raw_ostream &os) {
    std::vector<FileFindings> inputs;
    for (const InputRequest &request : requests)
      inputs.push_back(LintedInput(run, &request).collect());
    const SourceFiles &files = run.session.files();
    if (run.form == "sarif")
      writeSarif(os, PIPEC_VERSION, inputs, files);
    else if (run.form == "github")
      writeGithubCommands(os, inputs, files);
    else
      writeJunit(os, inputs, files);
    return success();
  });
}

/// `--fix`: corrects the files, each once.
static LogicalResult correctFiles(const CommandRun &run,
                                  ArrayRef<InputRequest> requests) {
  LintOptions options;
  for (const InputRequest &request : requests) {
    run.progress.phase("correcting");
    FailureOr<CorrectedFindings> counts =
        correctFile(request, options, run.search, run.diags);
    if (failed(counts))
      return failure();
    auto tell = [&](auto kind, size_t count) {
      if (count)
        (void)run.diags.reportAs(Severity::Note, SourceLoc(), kind,
                                 countText(count, "finding"), request.path);
    };
    tell(diag::NoteCorrected, counts->corrected);
    tell(diag::NoteUnsafeFixes, counts->unsafe);
  }
  return success();
}

LogicalResult lintCommandLine(const CommandRun &run,
                              ArrayRef<Diagnostic> errors) {
  CommandRun asJson = run;
  asJson.form = "json";
  (void)asJson.write([](raw_ostream &) {},
                     [&](json::OStream &json) {
                       LintedInput(asJson, nullptr).printJson(json, errors);
                     });
  return failure();
}

LogicalResult runLint(const CommandRun &run) {
  FailureOr<std::vector<InputRequest>> requests = failure();
  auto read = [&] {
    requests = InputRequest::readAll(run.args, run.search, run.diags);
    if (succeeded(requests) && run.args.has(Opt::Fix) &&
        failed(correctFiles(run, *requests)))
      requests = failure();
  };
  std::vector<Diagnostic> errors;
  if (run.isJson())
    run.session.withHandler(
        [&](const Diagnostic &error) { errors.push_back(error); }, read);
  else
    read();
  if (failed(requests))
    return run.isJson() ? lintCommandLine(run, errors) : failure();
  if (requests->size() > 1)
    run.diags.setErrorLimit(0); // a limit for each input does not exist
  if (run.isJson())
    return lintJson(run, *requests);
  return run.form == "text" ? lintText(run, *requests)
                            : lintForTools(run, *requests);
}

} // namespace pipec
