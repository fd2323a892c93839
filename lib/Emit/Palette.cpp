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

/// The darkest and the lightest shade of a kind, on light and dark pages.
struct Shades {
  StepKind kind;
  uint32_t onLight[2], onDark[2];
};

// FSDP actions and sums of tied gradients have a separate lane: shades of
// purple, distinguished by lightness, and teal. Copies have lanes of their own:
// sky blue, a dark and a light one. Recomputation and optimizer steps differ
// from all other computes, but not in grayscale.
constexpr Shades palette[] = {
    {StepKind::F, {0x00235a, 0x033988}, {0x267ff8, 0x6d8bdd}},
    {StepKind::B, {0xad491c, 0xa76137}, {0xfea74a, 0xf9b979}},
    {StepKind::I, {0x005832, 0x36644f}, {0x00b17c, 0x62bca6}},
    {StepKind::W, {0xad8200, 0xa5942f}, {0xf8e000, 0xf5f660}},
    {StepKind::ReduceGrad, {0x5e1a4a, 0x5e1a4a}, {0xf0b6e0, 0xf0b6e0}},
    {StepKind::WaitReduceGrad, {0x5e1a4a, 0x5e1a4a}, {0xf0b6e0, 0xf0b6e0}},
    {StepKind::Unshard, {0x9a4a86, 0x9a4a86}, {0xc77bb3, 0xc77bb3}},
    {StepKind::Reshard, {0xb57fa8, 0xb57fa8}, {0x8e5f83, 0x8e5f83}},
    {StepKind::ReduceTied, {0x0f766e, 0x0f766e}, {0x5eead4, 0x5eead4}},
    {StepKind::R, {0x7c2fd0, 0x9750da}, {0xa9b7e2, 0xcfd7ef}},
    {StepKind::Update, {0x26262f, 0x26262f}, {0xffffff, 0xffffff}},
    {StepKind::Offload, {0x0c4a6e, 0x0c4a6e}, {0xbae6fd, 0xbae6fd}},
    {StepKind::WaitOffload, {0x0c4a6e, 0x0c4a6e}, {0xbae6fd, 0xbae6fd}},
    {StepKind::Reload, {0x0284c7, 0x0284c7}, {0x0ea5e9, 0x0ea5e9}}};

constexpr Color white = rgb(0xffffff), ink = rgb(0x111827);

} // namespace

Color fillColor(Scheme scheme, StepKind kind, unsigned shade, unsigned shades) {
  const Shades *found =
      find_if(palette, [&](const Shades &row) { return row.kind == kind; });
  assert(found != std::end(palette) && "a kind that is not drawn as a box");
  const auto &range = scheme == Scheme::Light ? found->onLight : found->onDark;
  Color dark = rgb(range[0]), light = rgb(range[1]);
  // A single shade is the middle one.
  unsigned part = shades == 1 ? 1 : 2 * shade;
  unsigned whole = shades == 1 ? 2 : 2 * (shades - 1);
  auto mix = [&](uint8_t a, uint8_t b) {
    return uint8_t((a * (whole - part) + b * part + whole / 2) / whole);
  };
  return {mix(dark.red, light.red), mix(dark.green, light.green),
          mix(dark.blue, light.blue)};
}

Color textColor(Scheme scheme, StepKind kind) {
  if (scheme == Scheme::Dark)
    return ink;
  return kind == StepKind::W || kind == StepKind::Reshard ? ink : white;
}

Color idleColor(Scheme scheme) { return scheme == Scheme::Light ? white : ink; }

} // namespace pipec
