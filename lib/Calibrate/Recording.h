//===- Recording.h - Training steps of all ranks ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The traces of all ranks of a job, divided into training steps.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Calibrate/RankTrace.h"
#include "IR/DataFlow.h"
#include "Support/DiagEngine.h"

#include <map>

namespace pipec {

class Arguments;
class Grid;
class Progress;

/// A step as one rank ran it in one training step. Times are in nanoseconds, of
/// the device where the trace has them, else of the host.
struct StepSpan {
  uint32_t cell = 0;
  int64_t start = 0;
  int64_t end = 0;
  /// The part of the time in which the rank waited, according to traces.
  int64_t waited = 0;
  /// Time from the end of a compute step to the start of the next one in which
  /// the host posts transfers and the like; 0 on a device, which does not wait
  /// for the host.
  int64_t host = 0;
  /// Where the host was, which is where memory is allocated.
  int64_t hostStart = 0;
  int64_t hostEnd = 0;
  bool isDevice = false;

  int64_t work() const { return end - start - waited + host; }
};

/// The spans of one rank, by training step.
struct RecordedRank {
  std::string path;
  std::string host;
  TraceOrigin origin = TraceOrigin::Kineto;
  /// The trace has spans of a device; it tells waits inside of spans.
  bool hasDevice = false;
  bool hasWaits = false;
  /// In the order of their starts.
  std::vector<std::vector<StepSpan>> steps;
  /// Waits for inputs; the cell is that of the compute step, of an UNSHARD, or
  /// in traces of executors of the receive.
  std::vector<std::vector<TraceSpan>> waits;
  std::vector<MemoryEvent> memory;
};

struct RecordingOptions {
  /// Training steps at the beginning that are left out; without a value 1, and
  /// 0 of a trace with a single one.
  std::optional<unsigned> warmup;
  /// Ranks of traces that do not say theirs, by path.
  std::map<std::string, unsigned> ranks;
};

struct Recording {
  TraceCells cells;
  std::vector<RecordedRank> ranks;
  unsigned numStages = 0;
  unsigned numUnits = 0;
  /// The data flow of the stages, whose graph follows from the transfers. It
  /// knows neither ranks nor directions.
  std::optional<DataFlow> flow;
  /// All ranks have the same number of training steps, so that the i-th of one
  /// rank is the i-th of the others.
  bool stepsAgree = true;

  size_t numSteps() const { return ranks.front().steps.size(); }
  /// The datum that a transfer moves or a wait for a send waits for, or the
  /// only input of a compute step. Empty for other steps.
  std::optional<size_t> datumOf(Step step) const;
};

/// Splits the trace of a rank into its training steps, without the first
/// `warmup` and incomplete ones, and combines the spans of host and device.
/// Moves the allocations out of the trace.
llvm::FailureOr<RecordedRank> splitTrace(RankTrace &trace,
                                         const TraceCells &cells,
                                         std::optional<unsigned> warmup,
                                         DiagEngine &diags);

/// Puts traces together that were read with `cells`. Reports traces that are
/// not of one job, ranks and stages without a trace, and traces without a
/// complete training step. Linear but for sorting.
llvm::FailureOr<Recording> makeRecording(std::vector<RankTrace> traces,
                                         TraceCells cells,
                                         const RecordingOptions &options,
                                         DiagEngine &diags);

/// Reads traces, and those in folders, as --warmup and --ranks-of say. Reports
/// folders without traces, options that do not fit, and what `readTrace` and
/// `makeRecording` do.
llvm::FailureOr<Recording> readTraces(const Arguments &args,
                                      llvm::ArrayRef<std::string> inputs,
                                      Progress &progress, DiagEngine &diags);

/// Gives a program the sizes of the traces where the command line gives none.
void setSizes(Grid &sizes, const Recording &recording);

/// Reports the first compute step that is in the schedule and not in the
/// traces, or the other way round, and different sizes.
llvm::LogicalResult checkFits(const Recording &recording,
                              const Schedule &schedule, DiagEngine &diags);

} // namespace pipec
