//===- StageUse.h - The placement of partial lists --------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_IMPORT_STAGEUSE_H
#define PIPEC_IMPORT_STAGEUSE_H

#include "Support/DiagEngine.h"

#include "llvm/ADT/ArrayRef.h"

#include <optional>
#include <vector>

namespace pipec {

/// The list in which a stage occurs first.
struct StageUse {
  static constexpr uint32_t nowhere = ~0u;
  uint32_t rank = nowhere;
  SourceLoc place;
};

/// The rank of each stage of a schedule of which only some lists are known:
/// that of a loop or a V over `numRanks` ranks, whichever fits what `uses` says
/// by stage. Without `numStages` there are as many as complete the last round.
/// Reports a stage that fits neither.
llvm::FailureOr<std::vector<uint32_t>>
completeMap(llvm::ArrayRef<StageUse> uses, unsigned numRanks,
            std::optional<unsigned> numStages, DiagEngine &diags);

} // namespace pipec

#endif // PIPEC_IMPORT_STAGEUSE_H
