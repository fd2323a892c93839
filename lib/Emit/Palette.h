//===- Palette.h - The colours of steps -----*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Blue, orange, green and yellow near those of Okabe and Ito ("Color Universal
// Design", 2008), which people with any kind of colour vision tell apart, and
// moved so that their lightness differs too: from the darkest, F, over I and B
// to the lightest, W, each is at least 4 steps of CIE L* from every shade of
// the others. So they stay apart in grey. The chunks of a rank are shades of
// their kind's colour.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_EMIT_PALETTE_H
#define PIPEC_EMIT_PALETTE_H

#include "IR/Step.h"

#include "llvm/Support/raw_ostream.h"

namespace pipec {

/// An sRGB colour, 8 bits a channel.
struct Color {
  uint8_t red, green, blue;
};

/// Prints `#rrggbb`.
llvm::raw_ostream &operator<<(llvm::raw_ostream &os, Color color);

/// How many shades the chunks of a rank are told apart by, at most; with more
/// chunks neighbours share one.
inline constexpr unsigned maxShades = 4;

/// The number of shades of `chunks` chunks.
inline unsigned numShades(unsigned chunks) {
  return chunks < maxShades ? (chunks ? chunks : 1) : maxShades;
}
/// The shade of a chunk, from 0, the darkest.
inline unsigned shadeOf(unsigned chunk, unsigned chunks) {
  return chunks <= maxShades ? chunk
                             : unsigned(uint64_t(chunk) * maxShades / chunks);
}

/// The colour of a step that computes or is an FSDP action.
Color fillColor(StepKind kind, unsigned shade = 0, unsigned shades = 1);
/// True when white text, and not dark text, reads well on the kind's colours.
bool takesWhiteText(StepKind kind);
/// The dark text.
inline constexpr Color inkColor = {0x11, 0x18, 0x27};

} // namespace pipec

#endif // PIPEC_EMIT_PALETTE_H
