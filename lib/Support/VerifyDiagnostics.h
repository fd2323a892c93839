//===- VerifyDiagnostics.h - Expected diagnostics in tests ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With --verify-diagnostics, a run succeeds if it emits exactly the diagnostics
// that comments in its input announce:
//
//   F[c]   // expected-error(UnknownName) {{`c`}}
//   // expected-note(NoteDefinedHere)@-3 {{defined here}}
//   // expected-error@+1 {{division by zero}}
//   // expected-error@file {{...}}       a diagnostic without a position
//
// The text in braces must occur in the message. A kind in parentheses is
// optional and must equal the kind of the message. `@+N` and `@-N` count lines
// from the comment, `@N` is line N of the file.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Support/DiagEngine.h"

namespace pipec {

/// Collects the diagnostics of a run and compares them with the comments.
class DiagVerifier {
public:
  explicit DiagVerifier(SourceFiles &files) : files(files) {}

  /// The handler for the engine of the run that is checked.
  void operator()(const Diagnostic &diagnostic);

  /// Reports every difference through `out`. Succeeds if there is none.
  llvm::LogicalResult verify(DiagEngine &out) const;

private:
  SourceFiles &files;
  std::vector<Diagnostic> given;
};

} // namespace pipec
