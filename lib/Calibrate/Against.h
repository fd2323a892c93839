//===- Against.h - A prediction against a real run --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Calibrate/Calibration.h"
#include "Emit/Emitter.h"
#include "Explain/Report.h"
#include "IR/DataFlow.h"
#include "Simulation/Simulate.h"

namespace pipec {

/// How a rank spends the time of a training step, in milliseconds. The
/// parts of its idle time add up to that.
struct TimeUse {
  Rational work;
  Rational idle;
  WaitingTime waiting;
  /// Of a real run: what none of the causes explains.
  Rational other;
  /// After its last step.
  Rational done;
};

/// A compute step or an overlap, in milliseconds from the start of the
/// schedule.
struct StepDeviation {
  StepRef step;
  Rational predictedTime, measuredTime;
  Rational predictedStart, measuredStart;
  Rational difference() const {
    return *Rational::sub(measuredTime, predictedTime);
  }
};

/// A schedule as it was simulated and as it ran. The schedule and the
/// recording must outlive it.
class Against {
public:
  /// Simulates `schedule`, whose costs are in milliseconds, and finds its steps
  /// in the recording, which it must fit (`checkFits`). Reports what `simulate`
  /// does, and a recording without a clock that all ranks share.
  static llvm::FailureOr<Against> make(const Schedule &schedule,
                                       const Recording &recording,
                                       const Calibration &calibration,
                                       std::optional<CommModel> model,
                                       DiagEngine &diags);

  /// Prints the times of the ranks and the steps that deviate most.
  void print(llvm::raw_ostream &os) const;
  /// Writes a page (`html`) or a trace (`trace`) that shows both runs.
  llvm::LogicalResult emit(EmitFunction emitter, llvm::raw_ostream &os,
                           DiagEngine &diags) const;

private:
  Against(const Schedule &schedule, const Recording &recording,
          const Calibration &calibration)
      : schedule(&schedule), recording(&recording), calibration(&calibration) {}

  class Finder;

  void measureRank(unsigned rank, const Finder &finder);
  void findDeviations(const Simulation &run, const DataFlow &flow);
  void makeMeasured(const Finder &finder);

  const Schedule *schedule;
  const Recording *recording;
  const Calibration *calibration;
  std::optional<CommModel> model;

  /// The training step whose time is the median.
  size_t typical = 0;
  int64_t begin = 0;
  int64_t end = 0;
  Rational predictedMakespan;
  std::vector<TimeUse> predicted, measured;
  /// The largest differences first.
  std::vector<StepDeviation> deviations;
  size_t numGroups = 0;
  /// The schedule without transfers, as it ran, and its times.
  Schedule ran;
  std::vector<std::vector<RecordedTime>> times;
};

} // namespace pipec
