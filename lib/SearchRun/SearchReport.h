//===- SearchReport.h - The report of a search ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "SearchRun/EveryM.h"
#include "SearchRun/PlacementSearch.h"
#include "Support/Decimal.h"

namespace pipec {

/// `3.1 %`: a share to one decimal, or to three below 1 %.
std::string gapText(Rational share);

/// A column of `--frontier`, in text and JSON.
struct FrontierColumn {
  llvm::StringLiteral name;
  Rational (*of)(const MemoryPoint &);
  std::string (*text)(Rational) = decimalText;
};
inline constexpr FrontierColumn frontierColumns[] = {
    {"limit", [](const MemoryPoint &point) { return point.limit; }},
    {"makespan", [](const MemoryPoint &point) { return point.makespan; }},
    {"bound", [](const MemoryPoint &point) { return point.bound; }},
    {"gap", [](const MemoryPoint &point) { return point.gap(); }, gapText},
    {"peak", [](const MemoryPoint &point) { return point.peak; }},
};

/// The report of `pipec search`, as text or as the attributes of an object.
class SearchReport {
public:
  explicit SearchReport(const PlacementResult &result)
      : result(result), request(result.problem.request), found(result.found) {}

  /// The costs that were not given, of all forms that the bound is about.
  AssumedCosts assumed() const;
  /// makespan / bound - 1, of the bound that is reported; 0 without one.
  Rational gap() const;

  /// The bound that a certificate proves.
  std::optional<Rational> certified;
  /// The same of all placements and forms, if there are several.
  std::optional<Rational> certifiedAll;
  /// The option that asks for words alone; empty if none does.
  std::string wordsFor;
  /// Recomputation and copies were tried.
  bool savesMemory = false;
  /// Result of `--layouts`, if given.
  std::optional<LayoutSummary> layouts;
  /// Result of `--every-m`, if given; and whether its proof was written.
  std::optional<EveryM> everyM;
  bool everyIsCertified = false;
  /// Results of `--minimize` and `--frontier`.
  std::optional<MinimalMemory> minimal;
  std::vector<MemoryPoint> frontier;

  void print(llvm::raw_ostream &os) const;
  void print(llvm::json::OStream &json) const;

private:
  bool isOptimal() const { return found.makespan == result.bound().bound; }
  /// The bound is only known to hold without recomputation and copies.
  bool boundIsPlain() const {
    return found.memoryBy.empty() && !result.coversSaved &&
           found.model.header.memory.hasLimit();
  }
  bool hasPlacements() const;
  bool isOfBest(const PlacementTrial &trial) const {
    return trial.chunks == request.chunks && trial.isV == request.isV;
  }
  /// By stage, the recomputed micro-batches; empty without any.
  std::vector<unsigned> recomputed() const;
  /// The number of overlaps of the result.
  unsigned overlaps() const;
  std::string placementText(bool isV, unsigned chunks) const;
  std::string nameOfTrial(const PlacementTrial &trial) const;
  void printBound(llvm::raw_ostream &os) const;
  void printTrial(llvm::json::OStream &json, const PlacementTrial &trial) const;
  void printLibrary(llvm::raw_ostream &os) const;
  void printNotTaken(llvm::raw_ostream &os) const;
  void printForms(llvm::json::OStream &json) const;
  void printPeaks(llvm::raw_ostream &os) const;
  void printMemory(llvm::raw_ostream &os) const;
  void printMemory(llvm::json::OStream &json) const;
  void printMemoryBy(llvm::raw_ostream &os) const;
  void printMemoryBy(llvm::json::OStream &json) const;
  void printBlocks(llvm::raw_ostream &os) const;
  void printEveryM(llvm::raw_ostream &os) const;
  void printEveryM(llvm::json::OStream &json) const;
  void printLayouts(llvm::raw_ostream &os) const;
  void printLayouts(llvm::json::OStream &json) const;
  void printPlacements(llvm::raw_ostream &os) const;
  void printPlacements(llvm::json::OStream &json) const;
  Rational boundOfAll() const;
  void printAll(llvm::raw_ostream &os) const;
  void printAll(llvm::json::OStream &json) const;

  const PlacementResult &result;
  const SearchRequest &request;
  const FoundSchedule &found;
};

} // namespace pipec
