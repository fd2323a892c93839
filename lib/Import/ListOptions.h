//===- ListOptions.h - What a list of steps does not say --------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_IMPORT_LISTOPTIONS_H
#define PIPEC_IMPORT_LISTOPTIONS_H

#include "IR/GraphBuilder.h"

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <vector>

namespace pipec {

/// The meaning of the cells of a CSV.
enum class CsvDialect {
  /// That of PyTorch 2.6 and newer.
  Current,
  /// That of PyTorch 2.5 and its previews: `BW` is a whole backward, and `B`
  /// the input half of one if its stage has a `W` or the file a `BW`.
  Torch25,
};

/// What a list of steps does not contain itself.
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
  /// The groups of tied stages, in place of those that follow from the cells of
  /// a CSV.
  std::optional<std::vector<std::vector<int64_t>>> ties;
};

} // namespace pipec

#endif // PIPEC_IMPORT_LISTOPTIONS_H
