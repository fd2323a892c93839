//===- Palette.cpp - The colours of steps ---------------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emit/Palette.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Format.h"

using namespace llvm;

namespace pipec {

raw_ostream &operator<<(raw_ostream &os, Color color) {
  return os << format("#%02x%02x%02x", unsigned(color.red),
                      unsigned(color.green), unsigned(color.blue));
}

namespace {

/// The darkest and the lightest shade of a kind.
struct Range {
  Color dark, light;
};

constexpr Color rgb(uint32_t value) {
  return {uint8_t(value >> 16), uint8_t(value >> 8), uint8_t(value)};
}

constexpr Range rangeOf(Scheme scheme, StepKind kind) {
  bool light = scheme == Scheme::Light;
  auto choose = [&](Range onLight, Range onDark) {
    return light ? onLight : onDark;
  };
  switch (kind) {
  case StepKind::F:
    return choose({rgb(0x00235a), rgb(0x033988)},
                  {rgb(0x267ff8), rgb(0x6d8bdd)});
  case StepKind::B:
    return choose({rgb(0xad491c), rgb(0xa76137)},
                  {rgb(0xfea74a), rgb(0xf9b979)});
  case StepKind::I:
    return choose({rgb(0x005832), rgb(0x36644f)},
                  {rgb(0x00b17c), rgb(0x62bca6)});
  case StepKind::W:
    return choose({rgb(0xad8200), rgb(0xa5942f)},
                  {rgb(0xf8e000), rgb(0xf5f660)});
  // FSDP actions have a separate lane: shades of purple, distinguished by
  // lightness.
  case StepKind::ReduceGrad:
  case StepKind::WaitReduceGrad:
    return choose({rgb(0x5e1a4a), rgb(0x5e1a4a)},
                  {rgb(0xf0b6e0), rgb(0xf0b6e0)});
  case StepKind::Unshard:
    return choose({rgb(0x9a4a86), rgb(0x9a4a86)},
                  {rgb(0xc77bb3), rgb(0xc77bb3)});
  case StepKind::Reshard:
    return choose({rgb(0xb57fa8), rgb(0xb57fa8)},
                  {rgb(0x8e5f83), rgb(0x8e5f83)});
  // A sum of tied gradients is on that lane too.
  case StepKind::ReduceTied:
    return choose({rgb(0x0f766e), rgb(0x0f766e)},
                  {rgb(0x5eead4), rgb(0x5eead4)});
  default:
    llvm_unreachable("a kind that is not drawn as a box");
  }
}

constexpr Color white = rgb(0xffffff), ink = rgb(0x111827);

} // namespace

Color fillColor(Scheme scheme, StepKind kind, unsigned shade, unsigned shades) {
  auto [dark, light] = rangeOf(scheme, kind);
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
