//===- Comparison.h - The table of pipec compare ----------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Candidates in order, as rows: candidates with the same figures and the same
// order of steps are one row, as are candidates of one schedule with the same
// figures.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_RESULTS_COMPARISON_H
#define PIPEC_RESULTS_COMPARISON_H

#include "Results/Candidates.h"

namespace pipec {

/// How the best schedule that a framework runs gets there.
struct FrameworkChoice {
  Framework framework;
  /// `zbv`, `interleaved (chunks = 2)`
  std::string schedule;
  RunsAs how;
  /// The commands that write it, in order; empty for a schedule of the
  /// framework itself.
  std::vector<std::string> commands;
  /// For such a schedule: the settings that choose it.
  std::string settings;
};

class Comparison {
public:
  explicit Comparison(const CandidateOptions &options) : options(options) {}

  void add(Candidate candidate) { candidates.push_back(std::move(candidate)); }
  /// Sorts the candidates by makespan, or by the column `key` unless it is
  /// empty, and makes rows of equal ones.
  void sort(llvm::StringRef key);
  /// Chooses the best schedule for each framework. `costs` are the options of
  /// the command line about costs, without layouts and parts; `limit` is that
  /// about memory.
  void choose(llvm::ArrayRef<std::string> costs, llvm::StringRef limit,
              DiagEngine &diags);
  /// Keeps the first `rows` rows, and nothing else.
  void keepTop(unsigned rows);

  /// True if at least one candidate was simulated; after `sort`.
  bool hasAny() const { return simulated; }

  void print(llvm::raw_ostream &os) const;
  void printCsv(llvm::raw_ostream &os) const;
  /// Writes the attributes of an object.
  void print(llvm::json::OStream &json) const;

private:
  bool hasLayouts() const { return options.given.front().layout.has_value(); }
  bool showsLayout() const { return options.given.size() > 1; }
  void fold();
  void printHeading(llvm::raw_ostream &os) const;
  void printRows(llvm::raw_ostream &os) const;
  void printOthers(llvm::raw_ostream &os, Candidate::Outcome outcome,
                   llvm::StringRef title) const;
  void printChoices(llvm::raw_ostream &os) const;
  std::vector<std::string> figureCells(const Candidate &candidate) const;
  std::vector<std::string> commandsOf(const Candidate &candidate,
                                      llvm::StringRef target,
                                      llvm::ArrayRef<std::string> costs,
                                      llvm::StringRef limit,
                                      DiagEngine &diags) const;

  const CandidateOptions &options;
  /// After `sort`, those of a row are neighbours.
  std::vector<Candidate> candidates;
  std::vector<FrameworkChoice> choices;
  /// The number of candidates that `keepTop` removed.
  size_t numHidden = 0;
  bool simulated = false;
};

} // namespace pipec

#endif // PIPEC_RESULTS_COMPARISON_H
