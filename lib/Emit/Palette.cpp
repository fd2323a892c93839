//===- Palette.cpp - The colours of steps ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Emit/Palette.h"

#include "llvm/Support/Format.h"

#include <algorithm>

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

// On light and dark pages. The lightness L* of CIELAB is from 55 to 90, which
// four neighbouring shades share evenly, and kinds differ in their hue for all
// types of color vision (utils/check-colours.py); where there is one chunk,
// kinds differ in lightness too, for print in gray.
constexpr Shades computes[] = {{StepKind::F, 0x5b7fe6, 0xd9e2fa, 0xa8bfff},
                               {StepKind::B, 0xb9743a, 0xffdcbe, 0xf9cba9},
                               {StepKind::I, 0x329569, 0xbfecda, 0x299477},
                               {StepKind::W, 0x728e04, 0xdcea95, 0xa5a92d},
                               {StepKind::R, 0x9d71c7, 0xe7e0e8, 0x987eeb}};

/// The color of a kind on light and on dark pages.
struct Single {
  StepKind kind;
  uint32_t onLight, onDark;
};

// FSDP actions and sums of tied gradients have a separate lane: shades of
// purple, distinguished by lightness, and teal. Copies have lanes of their own:
// sky blue, a dark and a light one. An optimizer step is as dark as text.
constexpr Single singles[] = {{StepKind::ReduceGrad, 0x5e1a4a, 0xf0b6e0},
                              {StepKind::WaitReduceGrad, 0x5e1a4a, 0xf0b6e0},
                              {StepKind::Unshard, 0x9a4a86, 0xc77bb3},
                              {StepKind::Reshard, 0xb57fa8, 0x8e5f83},
                              {StepKind::ReduceTied, 0x0f766e, 0x5eead4},
                              {StepKind::Update, 0x26262f, 0xffffff},
                              {StepKind::Offload, 0x0c4a6e, 0xbae6fd},
                              {StepKind::WaitOffload, 0x0c4a6e, 0xbae6fd},
                              {StepKind::Reload, 0x0284c7, 0x0ea5e9}};

constexpr Color white = rgb(0xffffff), ink = rgb(0x111827);

} // namespace

Color fillColor(Scheme scheme, StepKind kind, unsigned shade, unsigned shades) {
  if (auto single = std::ranges::find(singles, kind, &Single::kind);
      single != std::end(singles))
    return rgb(scheme == Scheme::Light ? single->onLight : single->onDark);
  auto found = std::ranges::find(computes, kind, &Shades::kind);
  assert(found != std::end(computes) && "a kind that is not drawn as a box");
  if (shades == 1)
    return rgb(found->alone);
  // Of six parts, two shades are four apart, three are three, and four are two.
  static_assert(maxShades == 4);
  constexpr unsigned whole = 6;
  unsigned part = shade * (whole - shades);
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
