//===- Findings.h - The findings of lint ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The findings of `lint`, one per statement, and in the formats of continuous
// integration:
//
//   sarif    SARIF 2.1.0, for code scanning: one result per finding,
//            its notes as related locations
//   github   workflow commands of GitHub Actions, one line per finding
//   junit    JUnit XML, one test case per file, which fails if it has an error
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Support/DiagEngine.h"

#include "llvm/Support/raw_ostream.h"

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace pipec {

struct InputRequest;
struct LintOptions;
class SearchPath;

/// Collects the findings in a program, whose statements create steps on many
/// ranks. Findings of one kind and severity at one place become one, the first
/// of them, whose message is followed by the ranks. Its size is limited by that
/// of the program.
class FoldedFindings {
public:
  void add(const Diagnostic &finding);
  /// The findings, in the order of the first of each.
  std::vector<Diagnostic> take();

private:
  /// Kind, severity, the place, and the message if it does not name a step.
  using Key =
      std::tuple<diag::Id, Severity, const char *, const char *, std::string>;
  struct Folded {
    Diagnostic first;
    size_t count = 0;
    std::set<unsigned> ranks;
  };

  std::map<Key, size_t> numbers;
  std::vector<Folded> all;
};

/// The findings of one input.
struct FileFindings {
  /// As on the command line.
  std::string path;
  std::vector<Diagnostic> findings;
};

/// `version` is the version of pipec.
void writeSarif(llvm::raw_ostream &os, llvm::StringRef version,
                llvm::ArrayRef<FileFindings> inputs, const SourceFiles &files);
void writeGithubCommands(llvm::raw_ostream &os,
                         llvm::ArrayRef<FileFindings> inputs,
                         const SourceFiles &files);
void writeJunit(llvm::raw_ostream &os, llvm::ArrayRef<FileFindings> inputs,
                const SourceFiles &files);

/// The numbers of findings that were corrected, and that have an unsafe edit
/// which was not applied.
struct CorrectedFindings {
  size_t corrected = 0;
  size_t unsafe = 0;
};

/// Corrects the file that `request` names: applies the edits of the findings in
/// it, of the front end and of lint, until none is left that improves the text.
/// Edits of imported files are not applied. Writes the file only if there was
/// something to correct. Reports an input that is not a file given by its path,
/// and a file that cannot be written; one that cannot be read is left alone.
llvm::FailureOr<CorrectedFindings> correctFile(const InputRequest &request,
                                               const LintOptions &options,
                                               const SearchPath &search,
                                               DiagEngine &diags);

} // namespace pipec
