//===- CsvHeader.h - What the steps of a CSV say of the whole ---*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A CSV has no header. What one would say is inferred:
//
//   ranks          the rows
//   stages         one more than the highest stage of any cell
//   micro-batches  one more than the highest micro-batch of any cell
//   map            a stage belongs to the row in which it occurs
//   forward-only   when no cell is a B, I or W
//
// A stage in two rows is a mistake, as it is for PyTorch, unless the whole file
// is bidirectional: as many stages as ranks, each stage s in rows s and p-1-s,
// and every step of a micro-batch below m/2 in row s, of the others in row
// p-1-s.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_IMPORT_CSVHEADER_H
#define PIPEC_IMPORT_CSVHEADER_H

#include "Import/CsvReader.h"

#include <vector>

namespace pipec {

/// Collects what the steps of a CSV say, and makes the header of a schedule.
class CsvHeader {
public:
  /// Takes note of a step of a row. Rows come in their order.
  void note(Step step, uint32_t rank) {
    if (step.stage() >= stages.size()) {
      stages.resize(step.stage() + 1);
      highestStage = step.source();
    }
    StageUse &use = stages[step.stage()];
    if (use.rank != rank)
      noteRank(use, step, rank);
    if (hasMicrobatch(step.kind()) && step.microbatch() >= numMicrobatches) {
      numMicrobatches = step.microbatch() + 1;
      highestMicrobatch = step.source();
    }
    kinds |= 1u << unsigned(step.kind());
  }

  /// Fills the sizes and the map of `schedule`, which has the lists and no
  /// more. Reports sizes other than those of `options`, and stages that are
  /// nowhere or in rows where they cannot be, at their cells of `text`.
  llvm::LogicalResult infer(Schedule &schedule, llvm::StringRef text,
                            const CsvOptions &options, DiagEngine &diags) const;

private:
  /// Which rows name a stage, and where each first does so.
  struct StageUse {
    static constexpr uint32_t nowhere = ~0u;
    uint32_t rank = nowhere;
    uint32_t otherRank = nowhere;
    SourceLoc place;
    SourceLoc otherPlace;
    /// A third row names it.
    bool furtherRanks = false;
  };

  static void noteRank(StageUse &use, Step step, uint32_t rank);
  llvm::LogicalResult inferMap(Schedule &schedule, llvm::StringRef text,
                               DiagEngine &diags) const;

  std::vector<StageUse> stages;
  SourceLoc highestStage;
  SourceLoc highestMicrobatch;
  unsigned numMicrobatches = 0;
  uint32_t kinds = 0; // a bit a kind that occurs
};

} // namespace pipec

#endif // PIPEC_IMPORT_CSVHEADER_H
