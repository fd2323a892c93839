//===- BatchWeights.h - The micro-batches of one batch ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Support/DiagEngine.h"
#include "Support/Rational.h"

#include <optional>
#include <vector>

namespace pipec {

/// Weights and sizes of the micro-batches of a batch, as a file gives them.
struct BatchWeights {
  /// Numbers, none of which is negative, and their list in the file.
  struct Row {
    std::vector<Rational> values;
    DiagLoc loc;
  };

  /// One row for all stages, or one per stage. A weight multiplies the times of
  /// the compute steps of its micro-batch.
  std::vector<Row> weights;
  bool perStage = false;
  /// The lists of the rows.
  DiagLoc loc;
  /// A size multiplies what the steps of its micro-batch allocate and free.
  std::optional<Row> sizes;
  /// The limit per rank, and where it is given.
  std::optional<Rational> limit;
  DiagLoc limitLoc;

  /// Reports rows that do not have a value per micro-batch, and weights per
  /// stage of another number of stages.
  llvm::LogicalResult check(unsigned stages, unsigned microbatches,
                            DiagEngine &diags) const;
};

} // namespace pipec
