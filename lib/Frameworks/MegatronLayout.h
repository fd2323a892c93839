//===- MegatronLayout.h - Layouts for Megatron-LM ---------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_FRAMEWORKS_MEGATRONLAYOUT_H
#define PIPEC_FRAMEWORKS_MEGATRONLAYOUT_H

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

#endif // PIPEC_FRAMEWORKS_MEGATRONLAYOUT_H
