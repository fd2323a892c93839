//===- PageData.h - The data of --emit=html ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Emit/JsonObject.h"
#include "Emit/Picture.h"
#include "Explain/Report.h"

#include "llvm/ADT/DenseMap.h"

#include <limits>

namespace pipec {

/// Writes the block of JSON of one schedule: columns instead of rows, for each
/// rank a string of kinds and arrays of small numbers, with times as
/// differences in ticks. templates/page-model.js reads it and documents every
/// field. Linear in the steps.
class PageData {
public:
  PageData(const Picture &picture, const SourceFiles &files,
           llvm::raw_ostream &os)
      : picture(picture), schedule(picture.schedule()), facts(picture),
        files(files), os(os) {}

  void write();

private:
  static constexpr uint32_t notShown = std::numeric_limits<uint32_t>::max();
  struct Source {
    std::string place;
    std::string line;
  };

  void numberSteps();
  void writeHeader(JsonObject &page);
  void writeColors(JsonObject &page);
  void writeLane(unsigned rank);
  void writeFsdp(unsigned rank, JsonObject &lane);
  void writeGaps(unsigned rank, JsonObject &lane);
  void writeWaits(unsigned rank, JsonObject &lane);
  void writeTransfers(JsonObject &&all);
  void findCauses();
  void writeCriticalPath(JsonObject &page);
  int sourceOf(Step step);

  const Picture &picture;
  const Schedule &schedule;
  PictureFacts facts;
  const SourceFiles &files;
  llvm::raw_ostream &os;
  std::vector<Source> sources;
  llvm::DenseMap<uint32_t, int> sourceNumbers;
  /// By number of the step: its index in the columns of its lane, `notShown`
  /// for all but compute steps.
  std::vector<uint32_t> columnOf;
  /// Empty if the times were recorded: these have no causes.
  std::optional<Causes> causes;
  bool searchesReady = false;
};

/// Writes a page without schedules, which its script gets later.
llvm::LogicalResult writeEmptyPage(llvm::raw_ostream &os, DiagEngine &diags);

} // namespace pipec
