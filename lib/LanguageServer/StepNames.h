//===- StepNames.h - Names in the text of step IR ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "LanguageServer/Analysis.h"

namespace pipec::lsp {

/// A place in step IR that names something which has other places.
struct StepName {
  enum class Kind : uint8_t {
    Schedule,
    Phase,
    Stream,
    Section,
    /// Not a name, but a step: those of its stage and micro-batch belong
    /// together.
    Step,
  };
  Kind kind;
  /// The name without quotes, or `s0 m3`.
  std::string key;
  Span span;
  /// The first label of a phase, the entry of a stream or a section, and the
  /// forward of a stage and a micro-batch.
  bool isDefinition = false;

  bool isSame(const StepName &other) const {
    return kind == other.kind && key == other.key;
  }
};

/// The size of the quoted text at the beginning of `text`, up to the end of it
/// if the quote is not closed.
size_t quotedSize(llvm::StringRef text);
/// All names, in the order of the text, which can be read.
std::vector<StepName> stepNames(llvm::StringRef text);
/// The name that contains or touches `offset`, or null.
const StepName *nameAt(llvm::ArrayRef<StepName> names, size_t offset);

} // namespace pipec::lsp
