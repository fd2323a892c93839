//===- PlanCommand.cpp - The plan command ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Command/CommandRun.h"
#include "Plan/Plan.h"

using namespace llvm;

namespace pipec {

LogicalResult runPlan(const CommandRun &given) {
  CommandRun run = given;
  run.form = run.args.text(Opt::Format, "text");
  auto main = [&](ArrayRef<const char *> words, raw_ostream &out,
                  raw_ostream &messages) {
    return pipecMain(int(words.size()), words.data(), out, messages,
                     /*makeServer=*/nullptr, &run.progress);
  };
  InnerRuns inner(run.program, main, run.err,
                  run.args.text(Opt::DiagnosticsFormat) == "json");
  if (run.args.has(Opt::CheckPlan)) {
    StringRef folder = run.args.text(Opt::CheckPlan);
    FailureOr<std::string> makespan = checkPlan(inner, folder, run.diags);
    if (failed(makespan))
      return failure();
    return run.isJson() ? success()
                        : run.announce(folder + ": makespan " + *makespan +
                                       ", as planned; its files are those of " +
                                       planSchedule);
  }
  FailureOr<PlanRequest> request = PlanRequest::read(run.args, run.diags);
  if (failed(request))
    return failure();
  FailureOr<Plan> plan =
      makePlan(*request, inner, run.progress, run.standardOutput(), run.diags);
  if (failed(plan))
    return failure();
  return run.print([&](raw_ostream &os) { plan->printText(*request, os); },
                   [&](json::OStream &json) { plan->print(*request, json); });
}

} // namespace pipec
