//===- Corrections.h - Correcting an input in place -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Driver/Input.h"
#include "Lint/Lint.h"

#include <string>

namespace pipec {

/// The text of an input after the corrections that its findings propose.
struct CorrectedText {
  std::string text;
  /// The number of findings that were corrected.
  size_t count = 0;
};

/// Applies the edits of the findings in `input`, of the front end and of lint,
/// until none is left that improves the text: findings of an earlier phase
/// disappear, or there are fewer errors, or as many and fewer warnings, or as
/// many of both in a shorter text. So the result is the same for its own text.
/// Edits of imported files are not applied. Reports nothing.
CorrectedText correctText(const OpenedInput &input, const InputRequest &request,
                          const LintOptions &options, const SearchPath &search);

/// Corrects the file that `request` names, and writes it only if there was
/// something to correct. Returns the number of corrected findings. Reports an
/// input that is not a file given by its path, and a file that cannot be
/// written; one that cannot be read is left alone.
llvm::FailureOr<size_t> correctFile(const InputRequest &request,
                                    const LintOptions &options,
                                    const SearchPath &search,
                                    DiagEngine &diags);

} // namespace pipec
