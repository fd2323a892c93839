//===- LiveOutput.cpp - --emit=live ---------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Command/CommandRun.h"
#include "Command/DescribeCommand.h"
#include "Compare/CheckRun.h"
#include "Driver/Input.h"
#include "Support/Diagnostics/AnalysisDiags.h"
#include "Support/Json.h"

using namespace llvm;

namespace pipec {

namespace {

/// The parts of the output that a run got to.
struct LiveParts {
  std::unique_ptr<ScheduleSource> source;
  /// The output of emitLive; empty after an error.
  std::string result;
};

} // namespace

static LogicalResult compile(const CommandRun &run, EmitOptions &emit,
                             LiveParts &parts) {
  DiagEngine &diags = run.diags;
  FailureOr<PassRun> passes = run.makePasses("");
  FailureOr<InputRequest> request =
      InputRequest::read(run.args, run.search, diags);
  LowerOptions lowering;
  if (failed(passes) || failed(request))
    return failure();
  FailureOr<OpenedInput> input = request->open(run.search, diags);
  if (failed(input) || failed(checkIsProgram(*input, diags)))
    return failure();
  auto source = ScheduleSource::parse(*input, run.search, diags);
  if (failed(source))
    return failure();
  parts.source = std::move(*source);
  if (failed(parts.source->check(diags)) ||
      failed(readLowering(run.args, lowering, diags)))
    return failure();
  FailureOr<Schedule> schedule =
      request->makeSchedule(*parts.source, std::move(lowering), diags);
  CheckRun figures({}, diags);
  if (failed(schedule) || failed(figures.check(*schedule)) ||
      failed(passes->run(*schedule, diags)))
    return failure();
  SmallVector<const Schedule *> shown = {&*schedule};
  FailureOr<Schedule> second = failure();
  if (run.args.has(Opt::With)) {
    FailureOr<OpenedInput> with =
        findInput(run.args.text(Opt::With), run.search, run.args, diags);
    if (failed(with))
      return failure();
    second = request->makeSchedule(*with, run.search, diags, &*schedule);
    if (failed(second) || failed(passes->run(*second, diags)))
      return failure();
    shown.push_back(emit.with = &*second);
  }
  if (failed(checkModelUsed(run.args, shown, diags)))
    return failure();
  warnOfCosts(shown, diags);
  raw_string_ostream os(parts.result);
  if (failed(emitLive(*schedule, emit, os, diags))) {
    parts.result.clear();
    return failure();
  }
  DiagEngine::ScopedFilter onlyFailures(
      diags, [](Diagnostic &found) { return found.id == diag::ExpectFailed; });
  (void)figures.finish();
  return success();
}

LogicalResult runLive(const CommandRun &run, EmitOptions emit) {
  LiveParts parts;
  std::vector<Diagnostic> messages;
  WarningLimit limit;
  run.session.withHandler(
      [&](const Diagnostic &found) {
        if (limit.admits(found))
          messages.push_back(found);
      },
      [&] { (void)compile(run, emit, parts); });
  limit.noteMore([&](const Diagnostic &more) { messages.push_back(more); });
  return run.write([&](raw_ostream &os) {
    json::OStream json(os);
    json.object([&] {
      if (parts.source)
        describeSchedules(std::vector<const ast::ScheduleDecl *>(
                              parts.source->module()->schedules.begin(),
                              parts.source->module()->schedules.end()),
                          json);
      else
        json.attribute("schedules", nullptr);
      json.attributeBegin("result");
      json.rawValue(parts.result.empty() ? "null" : parts.result);
      json.attributeEnd();
      writeArray(json, "diagnostics", messages, [&](const auto &message) {
        writeDiagnostic(json, message, run.session.files());
      });
    });
    os << '\n';
    return success();
  });
}

} // namespace pipec
