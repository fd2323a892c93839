//===- ExplainAgainst.cpp - explain --against -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Command/CommandRun.h"

#include "Calibrate/Against.h"
#include "Driver/Input.h"
#include "Plan/PlanFolder.h"
#include "Support/Diagnostics/CommandDiags.h"

#include "llvm/Support/Path.h"

using namespace llvm;

namespace pipec {

namespace {

/// The schedule, the traces and the output of the command line.
struct AgainstRequest {
  InputRequest input;
  std::vector<std::string> traces;
  /// Null for text.
  EmitFunction emitter = nullptr;
};

} // namespace

/// The emitter that the name of the output file calls for.
static FailureOr<EmitFunction> chooseOutput(const Arguments &args,
                                            DiagEngine &diags) {
  std::string extension = sys::path::extension(args.text(Opt::Output)).lower();
  if (extension == ".html")
    return EmitFunction(emitHtml);
  if (extension == ".json")
    return EmitFunction(emitTrace);
  if (failed(chooseForm(args, form::Text, /*byOption=*/false, diags)))
    return failure();
  return EmitFunction(nullptr);
}

static FailureOr<AgainstRequest> readRequest(const CommandRun &run) {
  const Arguments &args = run.args;
  DiagEngine &diags = run.diags;
  std::vector<std::string> words;
  FailureOr<Grid> sizes = Grid::read(args, Grid::Values::One, words, diags);
  if (failed(sizes))
    return failure();
  if (words.empty())
    return reportMissingInput(diags);
  FailureOr<EmitFunction> emitter = chooseOutput(args, diags);
  if (failed(emitter))
    return failure();
  AgainstRequest request{{args, words[0], std::move(*sizes)}, {}, *emitter};
  for (StringRef trace : args.list(Opt::Against))
    request.traces.push_back(trace.str());
  request.traces.insert(request.traces.end(), words.begin() + 1, words.end());
  return request;
}

LogicalResult explainAgainst(const CommandRun &run) {
  DiagEngine &diags = run.diags;
  FailureOr<AgainstRequest> request = readRequest(run);
  if (failed(request))
    return failure();
  FailureOr<PassRun> passes = run.makePasses("");
  if (failed(passes))
    return failure();

  FailureOr<Recording> recording =
      readTraces(run.args, request->traces, run.progress, diags);
  if (failed(recording))
    return failure();
  setSizes(request->input.sizes, *recording);
  FailureOr<Schedule> schedule =
      request->input.makeSchedule(run.search, run.session);
  if (failed(schedule) || failed(passes->run(*schedule, diags)) ||
      failed(checkModelUsed(run.args, &*schedule, diags)) ||
      failed(checkFits(*recording, *schedule, diags)))
    return failure();

  run.progress.phase("measuring");
  Calibration calibration = calibrate(*recording);
  if (!run.args.has(Opt::Cost) && !run.args.has(Opt::CostProfile)) {
    if (run.args.has(Opt::Parts))
      return run.args.reportUseless(Opt::Parts,
                                    "without --cost or --cost-profile", diags);
    // A plan is compared with what it promised. Costs of others that are not in
    // milliseconds have nothing to do with the traces.
    if (filesOfPlan(request->input.path).empty()) {
      schedule->costs = calibration.costs;
      schedule->costParts = 0;
      if (!calibration.memory.empty())
        schedule->memory = calibration.memory;
    }
  }
  warnOfCosts(&*schedule, diags);
  FailureOr<std::optional<CommModel>> model = readModel(run.args, diags);
  if (failed(model))
    return failure();
  FailureOr<Against> against =
      Against::make(*schedule, *recording, calibration, *model, diags);
  if (failed(against))
    return failure();
  return run.write([&](raw_ostream &os) -> LogicalResult {
    if (request->emitter)
      return against->emit(request->emitter, os, diags);
    against->print(os);
    return success();
  });
}

} // namespace pipec
