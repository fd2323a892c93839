//===- FuzzSession.h - What all fuzz targets share --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef PIPEC_UNITTESTS_FUZZ_FUZZSESSION_H
#define PIPEC_UNITTESTS_FUZZ_FUZZSESSION_H

#include "Support/DiagPrinter.h"

#include "llvm/Support/MemoryBuffer.h"

/// Ends the program if a property does not hold, also without assertions.
#define PIPEC_CHECK(condition)                                                 \
  do {                                                                         \
    if (!(condition)) {                                                        \
      llvm::errs() << "failed: " #condition "\n";                              \
      abort();                                                                 \
    }                                                                          \
  } while (false)

namespace pipec {

/// The files and messages of one run.
struct FuzzSession {
  FuzzSession() : diags(files, DiagPrinter(llvm::nulls(), files, "fuzz")) {}

  llvm::StringRef add(llvm::StringRef text, llvm::StringRef name) {
    auto added = files.add(llvm::MemoryBuffer::getMemBufferCopy(text, name));
    PIPEC_CHECK(bool(added));
    return *added;
  }
  /// True if `result` is success and no error was reported since the last
  /// call, or failure and one was.
  bool agrees(llvm::LogicalResult result) {
    bool reported = diags.numErrors() != errors;
    errors = diags.numErrors();
    return llvm::succeeded(result) != reported;
  }

  SourceFiles files;
  DiagEngine diags;

private:
  unsigned errors = 0;
};

} // namespace pipec

#endif // PIPEC_UNITTESTS_FUZZ_FUZZSESSION_H
