//===- FindingFormats.h - Findings for other tools --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The findings of `lint` in the formats of continuous integration:
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

#include <string>
#include <vector>

namespace pipec {

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

} // namespace pipec
