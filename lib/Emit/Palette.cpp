//===- Palette.cpp - The colours of steps -----*- C++ -*-===//
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

constexpr Range rangeOf(StepKind kind) {
  switch (kind) {
  case StepKind::F:
    return {{0x08, 0x4a, 0x82}, {0x2d, 0x73, 0xae}};
  case StepKind::B:
    return {{0xe8, 0x94, 0x0c}, {0xf6, 0xb2, 0x4d}};
  case StepKind::I:
    return {{0x00, 0x9a, 0x72}, {0x2c, 0xad, 0x88}};
  case StepKind::W:
    return {{0xf0, 0xe0, 0x38}, {0xfb, 0xf5, 0xa6}};
  // FSDP actions have a lane of their own: purple shades, apart by lightness.
  case StepKind::Unshard:
    return {{0xcc, 0x79, 0xa7}, {0xcc, 0x79, 0xa7}};
  case StepKind::Reshard:
    return {{0xe6, 0xc6, 0xd8}, {0xe6, 0xc6, 0xd8}};
  case StepKind::ReduceGrad:
    return {{0x7a, 0x2f, 0x5c}, {0x7a, 0x2f, 0x5c}};
  default:
    llvm_unreachable("a kind that is not drawn as a box");
  }
}

} // namespace

Color fillColor(StepKind kind, unsigned shade, unsigned shades) {
  auto [dark, light] = rangeOf(kind);
  // A single shade is the middle.
  unsigned part = shades == 1 ? 1 : 2 * shade;
  unsigned whole = shades == 1 ? 2 : 2 * (shades - 1);
  auto mix = [&](uint8_t a, uint8_t b) {
    return uint8_t((a * (whole - part) + b * part + whole / 2) / whole);
  };
  return {mix(dark.red, light.red), mix(dark.green, light.green),
          mix(dark.blue, light.blue)};
}

bool takesWhiteText(StepKind kind) {
  return kind == StepKind::F || kind == StepKind::ReduceGrad;
}

} // namespace pipec
