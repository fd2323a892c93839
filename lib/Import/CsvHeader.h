//===- CsvHeader.h - Inferring the header of a CSV --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A CSV has no header, so it is inferred:
//
//   ranks          the number of rows
//   stages         one more than the highest stage of any cell
//   micro-batches  one more than the highest micro-batch of any cell
//   map            the row in which each stage occurs
//   forward-only   if no cell is a B, I or W
//
// A stage in two rows is an error, as in PyTorch, unless the whole file is
// bidirectional: there are as many stages as ranks, each stage s is in rows s
// and p-1-s, and the steps of micro-batches below m/2 are in row s, the others
// in row p-1-s. If there are rows of some ranks only, the map is that of a loop
// or a V (`completeMap`).
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Import/OrderLists.h"

#include <vector>

namespace pipec {

/// Collects the sizes of the steps of a CSV, and creates the header of a
/// schedule.
class CsvHeader {
public:
  /// Records a step of a rank. All steps of a rank must come together.
  void note(Step step, uint32_t rank) {
    if (step.stage() >= stages.size()) {
      stages.resize(step.stage() + 1);
      highestStage = step.source();
    }
    RowUse &use = stages[step.stage()];
    if (use.rank != rank)
      noteRank(use, step, rank);
    if (hasMicrobatch(step.kind()) && step.microbatch() >= numMicrobatches) {
      numMicrobatches = step.microbatch() + 1;
      highestMicrobatch = step.source();
    }
    kinds |= 1u << unsigned(step.kind());
  }

  /// Records a REDUCE_TIED.
  void noteTied(Step step) {
    if (step.stage() >= tied.size())
      tied.resize(step.stage() + 1);
    if (!tied[step.stage()].isValid())
      tied[step.stage()] = step.source();
  }

  /// Sets the sizes and the map of `schedule`, which must have only the lists.
  /// Reports sizes that differ from `options`, and stages that are missing or
  /// in the wrong rows, at their cells of `text`.
  llvm::LogicalResult infer(Schedule &schedule, llvm::StringRef text,
                            const ListOptions &options,
                            DiagEngine &diags) const;

private:
  /// The rows that name a stage, and the first cell of each.
  struct RowUse : StageUse {
    uint32_t otherRank = nowhere;
    SourceLoc otherPlace;
    /// True if there is a third row.
    bool furtherRanks = false;
  };

  static void noteRank(RowUse &use, Step step, uint32_t rank);
  llvm::LogicalResult inferMap(Schedule &schedule, llvm::StringRef text,
                               DiagEngine &diags) const;
  llvm::LogicalResult inferPartialMap(Schedule &schedule,
                                      const ListOptions &options,
                                      DiagEngine &diags) const;

  llvm::LogicalResult inferTies(Schedule &schedule, llvm::StringRef text,
                                const ListOptions &options,
                                DiagEngine &diags) const;

  std::vector<RowUse> stages;
  /// By group of tied stages, the first cell that names it.
  std::vector<SourceLoc> tied;
  SourceLoc highestStage;
  SourceLoc highestMicrobatch;
  unsigned numMicrobatches = 0;
  uint32_t kinds = 0; // a bit per kind that occurs
};

} // namespace pipec
