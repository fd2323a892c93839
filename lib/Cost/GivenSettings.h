//===- GivenSettings.h - Costs from outside a schedule ----------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Costs and sizes that a command line gives, in a profile or in options, for a
// schedule of any origin. They are those of a stage of that schedule, or those
// of one of a number of equal parts of the model, whatever the schedule cuts it
// into (ModelParts.h).
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_COST_GIVENSETTINGS_H
#define PIPEC_COST_GIVENSETTINGS_H

#include "Cost/Settings.h"
#include "Support/DiagEngine.h"

#include <vector>

namespace pipec {

/// What costs and sizes are those of.
enum class CostPer { Stage, Part };

struct GivenSettings {
  /// The later go over the earlier, figure by figure.
  std::vector<CostSettings> costs;
  std::vector<MemorySettings> memory;

  /// What they are those of; nothing when that is not said, which means a stage
  /// in every command but `compare`.
  std::optional<CostPer> per;
  /// The number of parts, from 1 to `maxStages`; nothing means as many as the
  /// schedule has ranks.
  std::optional<unsigned> parts;
  /// With costs per part, leaves the sizes of a schedule as they are where none
  /// are given: closed forms of peaks count the activations of a stage.
  bool keepOwnSizes = false;
  /// Where a profile says what they are those of, or begins; invalid without a
  /// profile.
  llvm::SMRange source;

  /// A key of a profile that names a stage (with costs per part, a part), a
  /// rank, a micro-batch or an end of an edge. Whether a schedule has it is
  /// known only once there is a settings.
  struct Key {
    FigureScope scope;
    unsigned number;
    llvm::SMRange source;
  };
  /// In the order of the profile.
  std::vector<Key> keys;

  bool perPart() const { return per == CostPer::Part; }
  unsigned numParts(unsigned ranks) const { return parts.value_or(ranks); }
  /// All of `costs` (`memory`) as one.
  CostSettings allCosts() const { return merged(costs); }
  MemorySettings allMemory() const { return merged(memory); }

private:
  template <typename Settings>
  static Settings merged(const std::vector<Settings> &layers) {
    Settings all;
    for (const Settings &over : layers)
      all.merge(over);
    return all;
  }
};

/// Reports, at its place, the first key that a schedule of these sizes does not
/// have.
llvm::LogicalResult checkKeys(const GivenSettings &given, ModelSizes sizes,
                              DiagEngine &diags);

/// Puts given costs over those of `settings`; costs per part replace them, and
/// a warning says so. Reports a key that the schedule does not have, and costs
/// that do not fit 64 bits when they are spread over its stages.
llvm::LogicalResult applyCosts(ModelSettings &settings,
                               const GivenSettings &given, DiagEngine &diags);
/// The same for sizes, without the keys.
llvm::LogicalResult applyMemory(ModelSettings &settings,
                                const GivenSettings &given, DiagEngine &diags);

} // namespace pipec

#endif // PIPEC_COST_GIVENSETTINGS_H
