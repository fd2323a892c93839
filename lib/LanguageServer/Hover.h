//===- Hover.h - Descriptions of places for an editor -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "LanguageServer/Analysis.h"

namespace pipec::lsp {

/// A text in Markdown about a part of a document.
struct HoverText {
  Span span;
  std::string markdown;
};

/// Describes the text at `offset`: the definition of a name, the steps that a
/// letter creates (with rank, phase, time and cost at the default sizes), or a
/// word of the language. Returns nothing for other text. `analysis` must have
/// been run.
std::optional<HoverText> hover(const Analysis &analysis, size_t offset);

/// The makespan and the bubble of a schedule: `makespan 33, bubble 27.3 %`.
/// Empty if it cannot run.
std::string figuresOf(const ShownSchedule &schedule);

} // namespace pipec::lsp
