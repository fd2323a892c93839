//===- TraceInput.cpp - The traces that a command line names --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Calibrate/Recording.h"

#include "Driver/Grid.h"
#include "Driver/Io.h"
#include "Support/Diagnostics/CalibrateDiags.h"
#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Words.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace pipec {

/// Reports a folder in place of traces, with the pattern of the traces in it.
static LogicalResult reportFolder(StringRef path, DiagEngine &diags) {
  InFlightDiagnostic error =
      diags.report(DiagLoc(), diag::FileUnreadable, path, "is a directory");
  for (StringRef ending : {".json.gz", ".json"}) {
    std::error_code failed;
    for (sys::fs::directory_iterator it(path, failed), end;
         !failed && it != end; it.increment(failed)) {
      if (!StringRef(it->path()).ends_with(ending))
        continue;
      error.note(DiagLoc(), diag::NoteDidYouMean,
                 (path.rtrim('/') + "/*" + ending).str());
      return error;
    }
  }
  return error;
}

FailureOr<Recording> readTraces(const Arguments &args,
                                ArrayRef<std::string> paths, Progress &progress,
                                DiagEngine &diags) {
  RecordingOptions options;
  options.warmup = args.number(Opt::Warmup);
  for (StringRef text : args.list(Opt::RanksOf)) {
    auto [path, number] = text.rsplit('=');
    unsigned rank = 0;
    if (number.getAsInteger(10, rank) || rank >= maxRanks)
      return diags.report(DiagLoc(), diag::OptionValue, shortened(text),
                          "--ranks-of", "FILE=RANK");
    if (!is_contained(paths, path))
      return diags.report(DiagLoc(), diag::OptionValue, shortened(path),
                          "--ranks-of", "one of the traces");
    if (!options.ranks.try_emplace(path.str(), rank).second)
      return diags.report(DiagLoc(), diag::ValueTwice, shortened(path),
                          "--ranks-of");
  }
  for (StringRef path : paths)
    if (path != "-" && sys::fs::is_directory(path))
      return reportFolder(path, diags);
  progress.phase("reading traces");
  return readRecording(paths, options, diags);
}

void setSizes(Grid &sizes, const Recording &recording) {
  int64_t ranks = recording.ranks.size();
  sizes.setDefault("ranks", ranks);
  sizes.setDefault("microbatches", int64_t(recording.numMicrobatches));
  sizes.setDefault("chunks", std::max<int64_t>(recording.numStages / ranks, 1));
}

LogicalResult checkFits(const Recording &recording, const Schedule &schedule,
                        DiagEngine &diags) {
  auto sameSize = [&](size_t traced, size_t has, StringRef one,
                      StringRef plural) -> LogicalResult {
    if (traced == has)
      return success();
    return diags.report(schedule.source, diag::TraceOtherSizes,
                        countText(traced, one, plural), schedule.name, has);
  };
  if (failed(
          sameSize(recording.ranks.size(), schedule.numRanks, "rank", "s")) ||
      failed(sameSize(recording.numStages, schedule.numStages, "stage", "s")) ||
      failed(sameSize(recording.numMicrobatches, schedule.numMicrobatches,
                      "micro-batch", "es")))
    return failure();
  for (auto [number, rank] : enumerate(recording.ranks)) {
    DenseSet<std::pair<uint64_t, unsigned>> traced, due;
    for (const StepSpan &span : rank.steps.front())
      for (Step step : recording.cells[span.cell])
        traced.insert(stepKey(step));
    for (Step step : schedule.ranks[number]) {
      if (!isCompute(step.kind()))
        continue;
      due.insert(stepKey(step));
      if (!traced.contains(stepKey(step)))
        return diags.report(step.source(), diag::TraceStepNotThere,
                            cellText(step), schedule.name, number);
    }
    for (const StepSpan &span : rank.steps.front())
      for (Step step : recording.cells[span.cell])
        if (isCompute(step.kind()) && !due.contains(stepKey(step)))
          return diags.report(schedule.source, diag::TraceStepTooMany, number,
                              cellText(step), schedule.name);
  }
  return success();
}

} // namespace pipec
