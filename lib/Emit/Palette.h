//===- Palette.h - The colours of steps -------------------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Blue, orange, green and yellow, the hues of Okabe and Ito ("Color Universal
// Design", 2008), which people with any kind of colour vision tell apart. Their
// lightness differs too: F is the darkest, then I, B and W. So they stay apart
// in grey, and all of them stay apart from idle time, which has the colour of
// the paper; so light and dark pages have a set each. The chunks of a rank are
// shades of their kind's colour.
//
// unittests/Emit/PaletteTest.cpp measures all of this.
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

/// The page that a picture is on.
enum class Scheme { Light, Dark };

/// The colour of a step that computes or is an FSDP action, or of the mark of a
/// wait for one.
Color fillColor(Scheme scheme, StepKind kind, unsigned shade = 0,
                unsigned shades = 1);
/// The colour of text on a kind's colours.
Color textColor(Scheme scheme, StepKind kind);
/// The colour of idle time: that of the page.
Color idleColor(Scheme scheme);

} // namespace pipec

#endif // PIPEC_EMIT_PALETTE_H
