//===- PlanRequest.h - The inputs of a plan ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Driver/Arguments.h"
#include "Plan/PlanFolder.h"

namespace pipec {

/// The command line of `pipec plan`, and facts of its profile.
struct PlanRequest {
  explicit PlanRequest(const Arguments &args) : args(args) {}

  /// Reads both. Reports all errors of the command line; the commands that make
  /// the plan report errors in the profile.
  static llvm::FailureOr<PlanRequest> read(const Arguments &args,
                                           DiagEngine &diags);

  /// The memory of a row of the plan or of `compare`, in GiB, MiB or KiB if
  /// sizes are bytes.
  std::string memoryText(const llvm::json::Object &row) const;
  /// The words that all commands have: sizes, costs, and how the model is cut.
  /// With `isFixed` the layout is among the others.
  CommandWords words(bool isFixed) const;
  /// Rows are also simulated with the transfers that the framework runs.
  bool isPlaced() const {
    return hasLatency && !hasPorts && !consumer->places.empty();
  }
  std::string inFolder(llvm::StringRef name) const {
    return pathIn(folder, name);
  }

  const Arguments &args;
  std::string profile, folder, now = "one_f_one_b";
  const PlanConsumer *consumer = nullptr;
  unsigned ranks = 0, microbatches = 0, chunks = 2;
  /// The profile has costs of layers, so layouts are searched.
  bool hasLayers = false;
  /// A cost of transfers is given, and one of ports, which have no meaning with
  /// one queue of transfers per rank.
  bool hasLatency = false, hasPorts = false;
  /// Sizes are in bytes.
  bool inBytes = false;
  /// The profile says what a forward keeps that is run again.
  bool hasStash = false;
  /// The groups of layers of the profile that share parameters.
  std::vector<std::vector<size_t>> ties;
  /// The layers of the profile of which the second gets an output of the first,
  /// handed on by those in between.
  std::vector<std::pair<size_t, size_t>> skips;
  /// The largest spread of a measured cost, if one has any.
  std::optional<Rational> spread;
  /// Facts that were neither measured nor given.
  std::vector<std::string> assumptions;

private:
  llvm::LogicalResult readOptions(DiagEngine &diags);
  llvm::LogicalResult readProfile(DiagEngine &diags);
  void noteDefaults(const llvm::json::Object &profile);
  void readMeasured(const llvm::json::Object &profile,
                    const llvm::json::Object &measured);
};

} // namespace pipec
