//===- DiffCommand.cpp - The diff command ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Command/CommandRun.h"
#include "Compare/DiffResult.h"
#include "Driver/Figures.h"
#include "Driver/Input.h"
#include "Support/Words.h"
#include "Verify/Verifier.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

namespace {

/// One run of the command.
class Diff : CommandRun {
public:
  explicit Diff(const CommandRun &run) : CommandRun(run) {}

  LogicalResult run();

private:
  LogicalResult load();
  LogicalResult makeSchedules();
  LogicalResult measure(DiffSide &side);

  Grid sizes;
  DiffResult result;
};

} // namespace

//===----------------------------------------------------------------------===//
// The two schedules
//===----------------------------------------------------------------------===//

LogicalResult Diff::load() {
  std::vector<std::string> inputs;
  if (failed(store(Grid::read(args, Grid::Values::One, inputs, diags), sizes)))
    return failure();
  if (inputs.empty())
    return reportMissingInput(diags);
  for (auto [side, name] : zip_equal(result.sides, inputs)) {
    if (failed(store(ScheduleSource::find(name, search, args, diags),
                     side.source)))
      return failure();
    if (side.source->isProgram() &&
        failed(store(side.source->schedule(args.text(Opt::Schedule), diags),
                     side.checked)))
      return failure();
  }
  return success();
}

LogicalResult Diff::makeSchedules() {
  LowerOptions lowering;
  if (failed(readLowering(args, lowering, diags)))
    return failure();
  // A value applies to the side that has its parameter, or to both.
  std::vector<const ast::ScheduleDecl *> decls;
  for (const DiffSide &side : result.sides)
    if (side.checked)
      decls.push_back(side.checked->decl);
  bool hasSteps = decls.size() != 2;
  if (failed(checkInputOptions(args, !decls.empty(), hasSteps, diags)) ||
      failed(sizes.fit(decls, hasSteps, diags)))
    return failure();
  for (DiffSide &side : result.sides) {
    if (&side != &result.sides[0]) {
      lowering.given.model = &result.sides[0].schedule;
      sizes.setSizesOf(result.sides[0].schedule);
    }
    if (side.checked)
      lowering.params = sizes.point(*side.checked->decl);
    if (failed(
            store(side.checked
                      ? side.source->lower(*side.checked, lowering, diags)
                      : side.source->read(sizes.wanted(args), lowering, diags),
                  side.schedule)))
      return failure();
  }
  return checkModelUsed(
      args, {&result.sides[0].schedule, &result.sides[1].schedule}, diags);
}

LogicalResult Diff::measure(DiffSide &side) {
  if (failed(verify(side.schedule, diags)))
    return failure();
  FailureOr<std::optional<CommModel>> model = readModel(args, diags);
  if (failed(model))
    return failure();
  return store(pipec::measure(side.schedule, *model, diags), side.figures);
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
  auto computesOnly = [](const DiffSide &side) {
    return !side.schedule.hasP2P() && !side.schedule.hasFsdp();
  };
  if (computesOnly(result.sides[0]) != computesOnly(result.sides[1]))
    result.which = CompareSteps::Compute;
  result.divergences = findDivergence(result.sides[0].schedule,
                                      result.sides[1].schedule, result.which);
  warnOfCosts({&result.sides[0].schedule, &result.sides[1].schedule}, diags);
  if (failed(write(
          [&](raw_ostream &os) {
            result.printText(os, session.files(), session.useColors(os));
          },
          [&](json::OStream &json) {
            result.printJson(json, session.files());
          })))
    return failure();
  return success(!args.has(Opt::ExitCode) || result.isSame());
}

LogicalResult runDiff(const CommandRun &run) { return Diff(run).run(); }

} // namespace pipec
