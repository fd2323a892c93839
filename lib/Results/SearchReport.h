//===- SearchReport.h - What is said of a search ----------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_RESULTS_SEARCHREPORT_H
#define PIPEC_RESULTS_SEARCHREPORT_H

#include "Results/LayoutSearch.h"
#include "Results/MemorySearch.h"
#include "Results/PlacementSearch.h"

namespace pipec {

/// `3.1 %`: a share to one decimal, or to three below 1 %.
std::string gapText(Rational share);

/// The report of `pipec search`, as text or as the attributes of an object.
class SearchReport {
public:
  SearchReport(const SearchRequest &request, const FoundSchedule &found)
      : request(request), found(found) {}

  /// The bound that a certificate proves.
  std::optional<Rational> certified;
  /// All placements, where several were searched.
  llvm::ArrayRef<PlacementTrial> placements;
  /// What is known of the layouts, where they were searched.
  std::optional<LayoutSummary> layouts;
  /// What was searched of memory.
  std::optional<MinimalMemory> minimal;
  std::vector<MemoryPoint> frontier;

  void print(llvm::raw_ostream &os) const;
  void print(llvm::json::OStream &json) const;

private:
  void printLibrary(llvm::raw_ostream &os) const;
  void printPeaks(llvm::raw_ostream &os) const;
  void printMemory(llvm::raw_ostream &os) const;
  void printMemory(llvm::json::OStream &json) const;
  void printBlocks(llvm::raw_ostream &os) const;
  void printLayouts(llvm::raw_ostream &os) const;
  void printLayouts(llvm::json::OStream &json) const;
  void printPlacements(llvm::raw_ostream &os) const;
  void printPlacements(llvm::json::OStream &json) const;

  const SearchRequest &request;
  const FoundSchedule &found;
};

} // namespace pipec

#endif // PIPEC_RESULTS_SEARCHREPORT_H
