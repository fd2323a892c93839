//===- Input.h - The input schedule of a command ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Driver/Grid.h"
#include "Driver/Io.h"
#include "Driver/ScheduleSource.h"
#include "Transforms/Passes.h"
#include "Waiting/Communicators.h"

#include "llvm/Support/JSON.h"

namespace pipec {

/// Reads the options about costs and lowering into `lowering`, except sizes.
/// Reports all invalid values.
llvm::LogicalResult readLowering(const Arguments &args, LowerOptions &lowering,
                                 DiagEngine &diags);
/// The same without layouts, for a command that reads several.
llvm::LogicalResult readLoweringButLayouts(const Arguments &args,
                                           LowerOptions &lowering,
                                           DiagEngine &diags);
/// The same without layouts and `--cost`, for a command that does not merge the
/// values of several `--cost` options.
llvm::LogicalResult readLoweringButCosts(const Arguments &args,
                                         LowerOptions &lowering,
                                         DiagEngine &diags);
/// Reads the costs of each `--cost` option, in order.
llvm::FailureOr<std::vector<CostSettings>> readCosts(const Arguments &args,
                                                     DiagEngine &diags);
/// Reads the layouts of `--layers` without `--split`, which is even, and of
/// each `--split` and `--layout`, in the order of the command line. Without
/// any, returns `ofProfile`, if it is there. Reports texts that are not
/// layouts, at their columns, and numbers of stages that are not a multiple of
/// `ranks`.
llvm::FailureOr<std::vector<LayerLayout>>
readLayouts(const Arguments &args, const std::optional<LayerLayout> &ofProfile,
            unsigned ranks, DiagEngine &diags);

/// The same for a command with at most one layout; reports more.
llvm::FailureOr<std::optional<LayerLayout>>
readLayout(const Arguments &args, const std::optional<LayerLayout> &ofProfile,
           DiagEngine &diags);
/// Reads `--graph` and `--connect`.
GivenGraph readGraph(const Arguments &args);
/// Adds what `--memory-limit` sets to `given`.
llvm::LogicalResult readMemoryLimit(const Arguments &args, GivenSettings &given,
                                    DiagEngine &diags);

/// The value of `--communicators`; nothing without it.
std::optional<CommunicatorForm> readCommunicatorForm(const Arguments &args);
/// The value of `--model`, or the model of `--communicators` or `--target`;
/// nothing if none says one. Reads the file of `--model`.
llvm::FailureOr<std::optional<CommModel>> readModel(const Arguments &args,
                                                    DiagEngine &diags);
/// The standard deviation over the mean of a normal distribution with these
/// quartiles, which are 1.349 deviations apart.
double spreadOfQuartiles(double lower, double upper, double mean);
/// The largest spread of the measured times of steps in a profile, with four
/// digits. Empty if the profile has no spreads.
std::optional<Rational> measuredSpread(const llvm::json::Object &profile);
/// The value of --jitter, with --draws and --seed, in `jitter` if it is given.
/// Reports scopes that are given twice, and a profile without spreads.
llvm::LogicalResult readJitter(const Arguments &args,
                               std::optional<Jitter> &jitter,
                               DiagEngine &diags);
/// Reports a --jitter that varies transfers only, under costs without
/// latencies.
llvm::LogicalResult checkJitterUsed(const Arguments &args,
                                    const std::optional<Jitter> &jitter,
                                    const CostSettings &costs,
                                    DiagEngine &diags);
/// Reports a `--model` option that has no effect because none of `schedules`
/// has transfers.
llvm::LogicalResult checkModelUsed(const Arguments &args,
                                   llvm::ArrayRef<const Schedule *> schedules,
                                   DiagEngine &diags);

/// Reports options about programs if there is no program among the inputs, and
/// options about steps if all inputs are programs.
llvm::LogicalResult checkInputOptions(const Arguments &args, bool hasPrograms,
                                      bool hasSteps, DiagEngine &diags);

/// The ranks of `--ranks-present`, in the order given; empty without the
/// option.
llvm::FailureOr<std::vector<unsigned>> readPresentRanks(const Arguments &args,
                                                        DiagEngine &diags);

/// The uses of costs in a run that shows no times.
struct CostUses {
  /// Start times in an input, which the verifier checks against the costs.
  bool times = false;
  /// A limit in the memory settings.
  bool limit = false;
  /// The layers of the stages, without their costs.
  bool layers = false;
  /// A schedule has a layout, which may come from a profile.
  bool hasLayout = false;

  void add(const Schedule &schedule) {
    times |= !schedule.times.empty();
    limit |= schedule.memory.hasLimit();
    hasLayout |= !schedule.layers.empty();
  }
};
/// Reports the first option about costs that has no effect `where`.
llvm::LogicalResult checkCostsUsed(const Arguments &args, CostUses uses,
                                   const llvm::Twine &where, DiagEngine &diags);

/// One input schedule of a command, and its sizes.
struct InputRequest {
  /// Reads the words and sizes of a command with one input.
  static llvm::FailureOr<InputRequest>
  read(const Arguments &args, const SearchPath &search, DiagEngine &diags);
  /// The same for a command with one or more inputs of these sizes.
  static llvm::FailureOr<std::vector<InputRequest>>
  readAll(const Arguments &args, const SearchPath &search, DiagEngine &diags);
  /// Finds and reads the input; reports if it does not exist.
  llvm::FailureOr<OpenedInput> open(const SearchPath &search,
                                    DiagEngine &diags) const;
  /// Creates the schedule of an input: lowers a program, or reads step IR or
  /// CSV. Reports options without effect on it, unless there is a `first`
  /// schedule, which they affect; then this is another schedule of the model of
  /// `first`, with its sizes and costs (GivenSettings.h).
  llvm::FailureOr<Schedule> makeSchedule(const OpenedInput &input,
                                         const SearchPath &search,
                                         DiagSession &session,
                                         const Schedule *first = nullptr) const;
  /// The same without showing progress.
  llvm::FailureOr<Schedule> makeSchedule(const OpenedInput &input,
                                         const SearchPath &search,
                                         DiagEngine &diags,
                                         const Schedule *first = nullptr) const;
  /// The same for an input that was loaded, with the options of `readLowering`.
  llvm::FailureOr<Schedule> makeSchedule(const ScheduleSource &source,
                                         LowerOptions lowering,
                                         DiagEngine &diags,
                                         const Schedule *first = nullptr) const;
  /// The same for the input of this request, which is opened first.
  llvm::FailureOr<Schedule> makeSchedule(const SearchPath &search,
                                         DiagSession &session) const;

  const Arguments &args;
  std::string path;
  Grid sizes;
};

} // namespace pipec
