//===- UnitColumns.h - Units with figures of their own ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Cost/Settings.h"

#include <vector>

namespace pipec {

/// The columns of a table of figures by unit. Units with the same figures share
/// a column, so that a table is as small as the number of micro-batches and
/// slices that differ.
class UnitColumns {
public:
  /// Those of the costs of F, B, I, W and R.
  static UnitColumns ofCosts(const ModelSettings &model);
  /// Those of the figures of memory.
  static UnitColumns ofMemory(const ModelSettings &model);

  /// One column for all units.
  UnitColumns() : columns(1) {}

  /// What to look up for each column.
  llvm::ArrayRef<UnitPlace> places() const { return columns; }
  size_t size() const { return columns.size(); }
  /// True if all units have the same figures.
  bool isOne() const {
    return columns.size() == 1 && !columns[0].microbatch && !columns[0].slice;
  }
  /// The column of a unit of the lists.
  unsigned of(unsigned unit) const {
    unsigned column =
        ofMicrobatch.empty() ? 0 : ofMicrobatch[unit / numSlices] * ownSlices;
    return ofSlice.empty() ? column : column + ofSlice[unit % numSlices];
  }

private:
  UnitColumns(const FigureSet &figures, const ModelSettings &model,
              Figure last);

  unsigned numSlices = 1;
  /// The number of slices that differ.
  unsigned ownSlices = 1;
  /// By micro-batch of the lists and by slice; empty if none differs.
  std::vector<uint32_t> ofMicrobatch, ofSlice;
  std::vector<UnitPlace> columns;
};

/// True if micro-batches have costs or sizes of their own beside factors for
/// all stages.
bool hasMicrobatchFigures(const ModelSettings &model);
/// Reports such a figure, which `what` refuses; with `takesStages`, not factors
/// of single stages.
llvm::LogicalResult refuseMicrobatchFigures(const ModelSettings &model,
                                            llvm::StringRef what,
                                            DiagEngine &diags,
                                            bool takesStages = false);

} // namespace pipec
