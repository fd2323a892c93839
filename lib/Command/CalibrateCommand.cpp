//===- CalibrateCommand.cpp - The calibrate command -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Calibrate/Calibration.h"
#include "Command/CommandRun.h"
#include "Driver/Input.h"
#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Words.h"

using namespace llvm;

namespace pipec {

namespace {

/// One run of the command.
class CalibrateRun : CommandRun {
public:
  explicit CalibrateRun(const CommandRun &run) : CommandRun(run) {}
  LogicalResult run();

private:
  LogicalResult checkOptions();
  LogicalResult checkSchedule(const Recording &recording);

  std::vector<std::string> traces;
  Grid sizes;
};

} // namespace

LogicalResult CalibrateRun::checkOptions() {
  if (failed(store(Grid::read(args, Grid::Values::One, traces, diags), sizes)))
    return failure();
  if (traces.empty())
    return reportMissingInput(diags);
  form = args.text(Opt::Format, "text");
  if (failed(pipec::chooseForm(args, form::Json, /*byOption=*/false, diags)))
    return failure();
  if (args.has(Opt::For))
    return success();
  // Everything about a schedule needs one.
  using namespace optgroup;
  std::string useless = sizes.firstWritten();
  if (auto option = args.firstOf(InputForm | ListForm | Search | Programs |
                                 StageGraphs | Slicing | Lowering | StepSizes))
    useless = args.written(*option);
  if (!useless.empty())
    return diags.report(DiagLoc(), diag::OptionWithoutEffect, useless,
                        "without --for, which names the schedule");
  return success();
}

/// Reads the schedule that --for names, with the sizes of the traces, and
/// compares.
LogicalResult CalibrateRun::checkSchedule(const Recording &recording) {
  if (!args.has(Opt::For))
    return success();
  setSizes(sizes, recording);
  InputRequest request{args, args.text(Opt::For).str(), sizes};
  FailureOr<Schedule> schedule = request.makeSchedule(search, session);
  if (failed(schedule))
    return failure();
  return checkFits(recording, *schedule, diags);
}

LogicalResult CalibrateRun::run() {
  if (failed(checkOptions()))
    return failure();
  FailureOr<Recording> recording = readTraces(args, traces, progress, diags);
  if (failed(recording) || failed(checkSchedule(*recording)))
    return failure();
  progress.phase("measuring");
  Calibration calibration = calibrate(*recording);
  if (failed(write([&](raw_ostream &os) {
        writeCostProfile(calibration, os);
        return success();
      })))
    return failure();
  return print(
      [&](raw_ostream &os) { printCalibration(*recording, calibration, os); },
      [&](json::OStream &json) {
        writeCalibration(*recording, calibration, json);
      });
}

LogicalResult runCalibrate(const CommandRun &run) {
  return CalibrateRun(run).run();
}

} // namespace pipec
