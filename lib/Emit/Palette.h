//===- Palette.h - The colours of steps -------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blue, orange, green and yellow, the hues of Okabe and Ito ("Color Universal
// Design", 2008), which are distinguishable with all forms of color vision.
// Where ranks have one chunk, they also differ in lightness, in the order I
// (darkest), W, F, B, so they can be told apart in grayscale. Idle time has the
// color of the page. The chunks of a rank are shades of the color of their kind.
//
// utils/check-colours.py measures these properties.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "IR/Step.h"

#include "llvm/Support/raw_ostream.h"

namespace pipec {

/// An sRGB color, 8 bits per channel.
struct Color {
  uint8_t red, green, blue;
};

/// Prints `#rrggbb`.
llvm::raw_ostream &operator<<(llvm::raw_ostream &os, Color color);

/// The maximum number of shades for the chunks of a rank; with more chunks,
/// adjacent ones share a shade.
inline constexpr unsigned maxShades = 4;

/// The number of shades of `chunks` chunks.
inline unsigned numShades(unsigned chunks) {
  return chunks < maxShades ? (chunks ? chunks : 1) : maxShades;
}
/// The shade of a chunk; 0 is the darkest.
inline unsigned shadeOf(unsigned chunk, unsigned chunks) {
  return chunks <= maxShades ? chunk
                             : unsigned(uint64_t(chunk) * maxShades / chunks);
}

/// The background of a picture.
enum class Scheme { Light, Dark };

/// The color of a compute step or an FSDP action, or of the mark of a wait for
/// one.
Color fillColor(Scheme scheme, StepKind kind, unsigned shade = 0,
                unsigned shades = 1);
/// The color of text on the colors of a kind.
Color textColor(Scheme scheme, StepKind kind);
/// The color of idle time and of the page.
Color idleColor(Scheme scheme);

} // namespace pipec
