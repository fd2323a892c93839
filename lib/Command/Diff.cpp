//===- Diff.cpp - The diff command -----===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command/CommandRun.h"
#include "Command/DiffResult.h"
#include "Command/Figures.h"
#include "Command/Grid.h"
#include "Driver/Input.h"
#include "IR/Verifier.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

namespace {

struct DiffFlags : CommandFlags {
  DiffFlags() : CommandFlags("pipec diff options") {}

  cl::list<std::string> inputs{cl::Positional,
                               cl::desc("<file or name> <file or name>"),
                               cl::cat(category)};
  ModelFlag model{category};
  LowerFlags lower{category};
  FormatFlag format{category};
};

/// One run of the command.
class Diff : CommandRun {
public:
  Diff(const DiffFlags &flags, const CommandRun &run)
      : CommandRun(run), flags(flags) {}

  LogicalResult run();

private:
  LogicalResult load();
  LogicalResult makeSchedules();
  LogicalResult measure(DiffSide &side);
  void compare();

  const DiffFlags &flags;
  DiffResult result;
};

} // namespace

//===----------------------------------------------------------------------===//
// The two schedules
//===----------------------------------------------------------------------===//

LogicalResult Diff::load() {
  if (failed(flags.format.check(diags)))
    return failure();
  if (flags.inputs.size() != 2)
    return unusable(diags, countText(flags.inputs.size(), "input") +
                               " where two are compared");
  for (auto [side, name] : zip_equal(result.sides, flags.inputs)) {
    auto source = ScheduleSource::find(name, search, diags);
    if (failed(source))
      return failure();
    side.source = std::move(*source);
    if (!side.source->isProgram())
      continue;
    auto chosen = side.source->schedule(flags.lower.schedule, diags);
    if (failed(chosen))
      return failure();
    side.checked = *chosen;
  }
  return success();
}

LogicalResult Diff::makeSchedules() {
  LowerOptions lowering;
  if (failed(flags.lower.read(lowering, diags)))
    return failure();
  // A value goes to the side that has its parameter, or to both.
  Grid grid;
  std::vector<const ast::ScheduleDecl *> decls;
  if (failed(grid.add(lowering.params, diags)))
    return failure();
  for (const DiffSide &side : result.sides)
    if (side.checked)
      decls.push_back(side.checked->decl);
  if (decls.empty() && !lowering.params.empty())
    return unusable(diags, "-D on inputs that have no parameters");
  if (failed(grid.fit(decls, diags)))
    return failure();
  for (DiffSide &side : result.sides) {
    FailureOr<Schedule> schedule = failure();
    if (side.checked)
      grid.forEachPoint(*side.checked->decl, [&](const ParamValues &params) {
        lowering.params = params;
        schedule = side.source->lower(*side.checked, lowering, diags);
      });
    else
      schedule = side.source->read({}, lowering, diags);
    if (failed(schedule))
      return failure();
    side.schedule = std::move(*schedule);
  }
  return success();
}

LogicalResult Diff::measure(DiffSide &side) {
  if (failed(verify(side.schedule, diags)))
    return failure();
  std::optional<WaitModel> model;
  if (failed(flags.model.read(model, diags)))
    return failure();
  FailureOr<Report> figures = pipec::measure(side.schedule, model, diags);
  if (failed(figures))
    return failure();
  side.figures = std::move(*figures);
  return success();
}

void Diff::compare() {
  auto computesOnly = [](const Schedule &schedule) {
    return !schedule.hasP2P() && !schedule.hasFsdp();
  };
  const Schedule &first = result.sides[0].schedule,
                 &second = result.sides[1].schedule;
  if (computesOnly(first) != computesOnly(second))
    result.which = CompareSteps::Compute;
  result.divergences = findDivergence(first, second, result.which);
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

LogicalResult Diff::run() {
  progress.phase("lowering");
  if (failed(load()) || failed(makeSchedules()))
    return failure();
  progress.phase("comparing");
  if (failed(measure(result.sides[0])) || failed(measure(result.sides[1])))
    return failure();
  compare();
  return write(
      flags.format,
      [&](raw_ostream &os) { result.printText(os, session.files()); },
      [&](json::OStream &json) { result.printJson(json, session.files()); });
}

int diffMain(const CommandLine &line) {
  DiffFlags flags;
  return runCommand(
      line, flags,
      "Shows two schedules side by side, and where their orders part.",
      [&](const CommandRun &run) { return Diff(flags, run).run(); });
}

} // namespace pipec
