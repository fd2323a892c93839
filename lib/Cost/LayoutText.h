//===- LayoutText.h - The text of a layout ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layouts in the notation of Megatron-LM's `--pipeline-model-parallel-layout`:
// one letter per layer, `|` between stages, `t*4` for `tttt`, and `(tt|)*2` for
// `tt|tt|`. Commas are ignored.
//
// Megatron-LM defines the notation by rewriting the text, not by a grammar:
//
//   1. Commas are removed.
//   2. From left to right, `(TEXT)*N` becomes N copies of TEXT, which is not
//      empty and has no closing parenthesis.
//   3. From left to right, a character and `*N` become N copies of the
//      character.
//
// What remains must be letters and `|`. The same texts are accepted here, with
// the same result, except that digits must be ASCII and that sizes are limited.
// Each character of the result keeps the position that it comes from, for
// messages.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Cost/LayerLayout.h"
#include "Support/DiagEngine.h"

namespace pipec {

/// The maximum number of layers and stages together.
inline constexpr size_t maxLayoutSize = size_t(1) << 20;

/// Reads a layout. `text` must be a file of the engine's `SourceFiles`; an
/// error is reported at its column. Linear in the text and the result.
llvm::FailureOr<LayerLayout> parseLayout(llvm::StringRef text,
                                         DiagEngine &diags);

/// Reads layers without stages in the same notation, such as `E,t*61,m,L`, or a
/// number of decoder layers, such as `61`. Reports `|`, and a text without
/// layers.
llvm::FailureOr<std::string> parseLayers(llvm::StringRef text,
                                         DiagEngine &diags);

} // namespace pipec
