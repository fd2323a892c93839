//===- VerifyDiagnostics.h - Expected diagnostics in tests ------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With --verify-diagnostics a run succeeds when it gives exactly the
// diagnostics that comments in its input announce:
//
//   F[c]   // expected-error(UnknownName) {{`c`}}
//   // expected-note(NoteDefinedHere)@-3 {{defined here}}
//   // expected-error@+1 {{division by zero}}
//   // expected-error@file {{...}}       a diagnostic without a position
//
// The text in braces must occur in the message; the kind in parentheses, when
// given, must be the message's kind. `@+N` and `@-N` count lines from the
// comment, `@N` is line N of the file.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_SUPPORT_VERIFYDIAGNOSTICS_H
#define PIPEC_SUPPORT_VERIFYDIAGNOSTICS_H

#include "Support/DiagEngine.h"

namespace pipec {

/// Collects the diagnostics of a run and compares them with the comments.
class DiagVerifier {
public:
  explicit DiagVerifier(SourceFiles &files) : files(files) {}

  /// The handler to give to the engine of the run that is checked.
  void operator()(const Diagnostic &diagnostic);

  /// Compares; reports every difference through `out`, success if there is
  /// none.
  llvm::LogicalResult verify(DiagEngine &out) const;

private:
  SourceFiles &files;
  std::vector<Diagnostic> given;
};

} // namespace pipec

#endif // PIPEC_SUPPORT_VERIFYDIAGNOSTICS_H
