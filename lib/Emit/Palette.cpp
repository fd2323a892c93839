//===- Palette.cpp - The colours of steps ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Emit/Palette.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"

using namespace llvm;

namespace pipec {

raw_ostream &operator<<(raw_ostream &os, Color color) {
  return os << format("#%02x%02x%02x", unsigned(color.red),
                      unsigned(color.green), unsigned(color.blue));
}

namespace {

constexpr Color rgb(uint32_t value) {
  return {uint8_t(value >> 16), uint8_t(value >> 8), uint8_t(value)};
}

/// The first and the last of the shades of the chunks, and the color where
/// there is one chunk.
struct Shades {
  StepKind kind;
  uint32_t first, last, alone;
};

// On light and dark pages. Neighbouring shades differ by 12 in the lightness L*
// of CIELAB, from 54 to 92, and kinds in their hue for all types of color
// vision (utils/check-colours.py); where there is one chunk, kinds differ in
// lightness too, for print in gray. FSDP actions and sums of tied gradients have
// a separate lane: shades of purple, distinguished by lightness, and teal.
// Copies have lanes of their own: sky blue.
constexpr Shades palette[] = {
    {StepKind::F, 0x5c7ce4, 0xdee8fb, 0x9db2f0},
    {StepKind::B, 0xbb6f39, 0xfde3c7, 0xf3d2b2},
    {StepKind::I, 0x229274, 0xc0f2dd, 0x229274},
    {StepKind::W, 0x838700, 0xe6ef84, 0x9ca121},
    {StepKind::R, 0x9473bb, 0xede5ed, 0x8a73de},
    {StepKind::ReduceGrad, 0xf0b6e0, 0xf0b6e0, 0xf0b6e0},
    {StepKind::WaitReduceGrad, 0xf0b6e0, 0xf0b6e0, 0xf0b6e0},
    {StepKind::Unshard, 0xc77bb3, 0xc77bb3, 0xc77bb3},
    {StepKind::Reshard, 0x9f7096, 0x9f7096, 0x9f7096},
    {StepKind::ReduceTied, 0x5eead4, 0x5eead4, 0x5eead4},
    {StepKind::Offload, 0xbae6fd, 0xbae6fd, 0xbae6fd},
    {StepKind::WaitOffload, 0xbae6fd, 0xbae6fd, 0xbae6fd},
    {StepKind::Reload, 0x0ea5e9, 0x0ea5e9, 0x0ea5e9}};

constexpr Color white = rgb(0xffffff), ink = rgb(0x111827);

} // namespace

Color fillColor(Scheme scheme, StepKind kind, unsigned shade, unsigned shades) {
  // An optimizer step is as dark as text.
  if (kind == StepKind::Update)
    return scheme == Scheme::Light ? rgb(0x26262f) : white;
  const Shades *found =
      find_if(palette, [&](const Shades &row) { return row.kind == kind; });
  assert(found != std::end(palette) && "a kind that is not drawn as a box");
  if (shades == 1)
    return rgb(found->alone);
  // Two shades are two steps apart.
  constexpr unsigned whole = maxShades - 1;
  unsigned part = shades == 2 ? 2 * shade : shade;
  Color first = rgb(found->first), last = rgb(found->last);
  auto mix = [&](uint8_t a, uint8_t b) {
    return uint8_t((a * (whole - part) + b * part + whole / 2) / whole);
  };
  return {mix(first.red, last.red), mix(first.green, last.green),
          mix(first.blue, last.blue)};
}

Color textColor(Scheme scheme, StepKind kind) {
  return scheme == Scheme::Light && kind == StepKind::Update ? white : ink;
}

Color idleColor(Scheme scheme) { return scheme == Scheme::Light ? white : ink; }

} // namespace pipec
