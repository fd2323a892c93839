//===- Readers.h - Step IR from the files of frameworks ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One function per format. `text` must be a file of the engine's `SourceFiles`;
// the source of each step is its cell or entry there. Sizes and the map are
// inferred if the text does not contain them. Every step that cannot be read is
// reported. Linear.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "IR/GraphBuilder.h"
#include "IR/Schedule.h"

namespace pipec {

/// The meaning of the cells of a CSV.
enum class CsvDialect {
  /// PyTorch 2.6 and newer.
  Current,
  /// PyTorch 2.5 and its previews: `BW` is a whole backward, and `B`
  /// the input half of one if its stage has a `W` or the file a `BW`.
  Torch25,
};

/// Facts that a list of steps does not contain.
struct ListOptions {
  /// The name of the schedule.
  llvm::StringRef name = "csv";
  /// The sizes that the file must have; sizes that are not given are inferred.
  std::optional<unsigned> ranks;
  std::optional<unsigned> stages;
  std::optional<unsigned> microbatches;
  CsvDialect dialect = CsvDialect::Current;
  /// The ranks of the lists, if the file does not have one for every rank;
  /// distinct. Empty: all ranks.
  std::vector<unsigned> present;
  /// The edges of the stage graph. If there are none, a CSV may have them in
  /// its cells; otherwise the stages form a chain.
  GivenGraph graph;
  /// The slices of each micro-batch, which the numbers of a CSV count.
  unsigned slices = 1;
  /// The groups of tied stages, in place of those that follow from the cells of
  /// a CSV.
  std::optional<std::vector<std::vector<int64_t>>> ties;
};

/// Reads a schedule in either of the two CSV formats of
/// torch.distributed.pipelining (docs/Csv.md). Errors name row and column.
llvm::FailureOr<Schedule>
importCsv(llvm::StringRef text, const ListOptions &options, DiagEngine &diags);

/// Reads an execution order of MindSpore HyperParallel (docs/HyperParallel.md),
/// as JSON or as Python prints it. A stage is on the rank in whose list it
/// occurs.
llvm::FailureOr<Schedule> importHyperParallel(llvm::StringRef text,
                                              const ListOptions &options,
                                              DiagEngine &diags);
/// True if a text begins like an order: an object or a list, with which a
/// program cannot begin.
bool looksLikeHyperParallel(llvm::StringRef text);

/// Reads the output of `--emit=te-order` (docs/Megatron.md). The n-th forward
/// and the n-th backward of a chunk are those of micro-batch n; without
/// `stage_to_rank` the stages are in a loop. Backwards are whole if there are
/// no gradients of weights.
llvm::FailureOr<Schedule> importTeOrder(llvm::StringRef text,
                                        const ListOptions &options,
                                        DiagEngine &diags);
/// True if a text begins like such a file.
bool looksLikeTeOrder(llvm::StringRef text);

} // namespace pipec
