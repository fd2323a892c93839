//===- MegatronLayout.h - Layouts for Megatron-LM ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "IR/Schedule.h"
#include "Support/DiagEngine.h"

namespace pipec {

/// Warns of the first layer of the layout of `schedule`, if it has one, that
/// Megatron-LM refuses, and of each empty stage; at their places in the text,
/// if there is one. With `addsEnds` a layout of decoder layers alone is right,
/// since the embedding and the loss are added to it.
void checkMegatronLayout(const Schedule &schedule, bool addsEnds,
                         DiagEngine &diags);

} // namespace pipec
