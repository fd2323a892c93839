//===- ModelParts.h - One model, cut in different ways ----------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Costs and sizes belong to a stage, so they say nothing about a schedule that
// cuts the model into more stages. Here they are taken as those of the model
// cut into a number of equal parts, and spread over any other number of stages:
// a stage has of each part what lies in it. A model of 8 parts in 16 stages has
// stages of half a part; costs of single parts go to the stages that they
// became. What goes from stage to stage is the same however the model is cut,
// and keeps its size and its time.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_COST_MODELPARTS_H
#define PIPEC_COST_MODELPARTS_H

#include "Cost/Settings.h"

namespace pipec {

/// The costs of a model of `parts` parts, whose costs are `costs` (defaults
/// applied), for a schedule that cuts it into `stages`. The overrides of stages
/// in `costs` are of parts, those of ranks are for a part on that rank. Nothing
/// when a figure does not fit 64 bits.
std::optional<CostSettings> spreadCosts(const CostSettings &costs,
                                        unsigned parts, unsigned stages);

/// The same for activations and parameters. The size of a received tensor and
/// the limit stay.
std::optional<MemorySettings> spreadMemory(const MemorySettings &memory,
                                           unsigned parts, unsigned stages);

} // namespace pipec

#endif // PIPEC_COST_MODELPARTS_H
