//===- Comparison.h - The table of pipec compare ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Candidates in order, as rows: candidates with the same figures and the same
// order of steps are one row, as are candidates of one schedule with the same
// figures.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Compare/Candidates.h"

#include <array>

namespace pipec {

/// How the best schedule that a framework runs gets there.
struct FrameworkChoice {
  Framework framework;
  /// The title of the candidate.
  std::string schedule;
  /// The layout that makes it the best one; empty without layouts.
  std::string layout;
  RunsAs how;
  /// The commands that write it, in order; empty for a schedule of the
  /// framework itself.
  std::vector<std::string> commands;
  /// For such a schedule: the settings that choose it.
  std::string settings;
};

/// The options of the command line that the printed commands repeat.
struct CommandCosts {
  /// Those about costs, without layouts and parts.
  std::vector<std::string> options;
  /// The value of that about memory; empty without.
  std::string limit;
};

/// A search command for the model of `options`; `more` are its last words.
/// Without a layout, costs are per part.
std::string searchCommand(const SearchRequest &request,
                          llvm::StringRef placement, llvm::StringRef layout,
                          const CommandCosts &costs,
                          const CandidateOptions &options,
                          llvm::ArrayRef<std::string> more);

/// Chooses for each framework the first of `candidates` in a row that runs
/// there. If one that only pipec's executor runs comes before it, that one is a
/// further choice for the framework.
std::vector<FrameworkChoice>
chooseForFrameworks(llvm::ArrayRef<Candidate> candidates,
                    const CandidateOptions &options, const CommandCosts &costs,
                    DiagEngine &diags);

/// A figure of every candidate that was simulated.
struct FigureColumn {
  llvm::StringLiteral key;
  /// A fraction of time.
  bool isRate;
  Rational (*of)(const Candidate &candidate);
};
extern const llvm::ArrayRef<FigureColumn> figureColumns;

class Comparison {
public:
  explicit Comparison(const CandidateOptions &options) : options(options) {}

  void add(Candidate candidate) { candidates.push_back(std::move(candidate)); }
  /// Sorts the candidates by makespan, or by the column `key` unless it is
  /// empty, and makes rows of equal ones.
  void sort(llvm::StringRef key);
  /// Chooses the best schedule for each framework; after `sort`.
  void choose(const CommandCosts &costs, DiagEngine &diags) {
    choices = chooseForFrameworks(candidates, options, costs, diags);
  }
  /// Keeps the first `rows` rows. The text then has no other schedules but the
  /// names of those that do not fit, unless nothing fits.
  void keepTop(unsigned rows);
  /// For the text, if nothing fits: a command that finds a schedule.
  void setFinder(std::string command) { finder = std::move(command); }

  /// True if at least one candidate was simulated; after `sort`.
  bool hasAny() const { return simulated; }
  /// True if at least one candidate fits; after `sort`.
  bool hasFitting() const { return anyFits; }
  /// Warns of costs that were assumed or rounded, once for all candidates;
  /// after `sort`.
  void warnOfCosts(DiagEngine &diags) const;

  /// Prints a table without the less important columns that a line of `width`
  /// characters has no place for, and their names; with 0, with all columns.
  void print(llvm::raw_ostream &os, size_t width = 0) const;
  void printCsv(llvm::raw_ostream &os) const;
  /// Writes the attributes of an object.
  void print(llvm::json::OStream &json) const;

private:
  bool hasLayouts() const { return options.given.front().layout.has_value(); }
  bool showsLayout() const { return options.given.size() > 1; }
  void fold();
  std::string costs() const;
  void printHeading(llvm::raw_ostream &os) const;
  void printRows(llvm::raw_ostream &os, size_t width) const;
  void printHidden(llvm::raw_ostream &os) const;
  void printNothingFits(llvm::raw_ostream &os) const;
  void printOthers(llvm::raw_ostream &os, Candidate::Outcome outcome,
                   llvm::StringRef title) const;
  void printChoices(llvm::raw_ostream &os) const;

  const CandidateOptions &options;
  /// After `sort`, the candidates of a row are neighbours.
  std::vector<Candidate> candidates;
  std::vector<FrameworkChoice> choices;
  /// The column of `sort`, or empty.
  std::string sortKey;
  /// The number of candidates that `keepTop` removed, by outcome.
  std::array<size_t, Candidate::numOutcomes> numHidden = {};
  /// The search that finds a schedule where none fits; empty if there is none.
  std::string finder;
  bool simulated = false;
  bool anyFits = false;
  /// The compute kinds and the assumed costs of all candidates, and how the
  /// costs were rounded; after `sort`.
  uint8_t kinds = 0;
  AssumedCosts assumed;
  CostRounding rounding;
};

} // namespace pipec
