//===- ModelParts.h - Cutting one model in different ways -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Costs and sizes are given per stage, so they do not apply to a schedule that
// cuts the model into more stages. The functions here interpret them as the
// figures of the model cut into a number of equal parts, and spread them over
// any other number of stages: a stage gets the share of each part that lies in
// it. A model of 8 parts in 16 stages has stages of half a part. Costs of
// single parts go to the stages that the parts are cut into. Transfers between
// stages do not depend on the cut, and keep their size and time.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Cost/Settings.h"

namespace pipec {

/// The costs for a schedule that cuts into `stages` a model of `parts` parts
/// with the given costs (defaults applied). Stage scopes in `costs` are parts;
/// rank scopes are for a part on that rank. The figures are those of whole
/// micro-batches, and those of one of `slices` are divided; figures of slices
/// are not. Empty if a figure does not fit 64 bits.
std::optional<CostSettings> spreadCosts(const CostSettings &costs,
                                        unsigned parts, unsigned stages,
                                        unsigned slices = 1);

/// The same for activations and parameters. The size of a received tensor and
/// the limit do not change.
std::optional<MemorySettings> spreadMemory(const MemorySettings &memory,
                                           unsigned parts, unsigned stages,
                                           unsigned slices = 1);

} // namespace pipec
