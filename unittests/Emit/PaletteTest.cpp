//===- PaletteTest.cpp - Tests for the colors of steps --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Emit/Palette.h"

#include "llvm/ADT/ArrayRef.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

using namespace pipec;

namespace {

using Triple = std::array<double, 3>;
using Matrix = std::array<Triple, 3>;

constexpr Scheme schemes[] = {Scheme::Light, Scheme::Dark};
constexpr StepKind computeKinds[] = {StepKind::F, StepKind::B, StepKind::I,
                                     StepKind::W};
constexpr StepKind extraKinds[] = {StepKind::R, StepKind::Update};
constexpr StepKind copyKinds[] = {StepKind::Offload, StepKind::Reload};
constexpr StepKind fsdpKinds[] = {StepKind::Unshard, StepKind::Reshard,
                                  StepKind::ReduceGrad};

// Linear RGB as perceived with normal vision, protanopia, deuteranopia and
// tritanopia (Machado, Oliveira and Fernandes, "A Physiologically-based Model
// for Simulation of Color Vision Deficiency", 2009).
constexpr Matrix visions[] = {
    {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
    {{{0.152286, 1.052583, -0.204868},
      {0.114503, 0.786281, 0.099216},
      {-0.003882, -0.048116, 1.051998}}},
    {{{0.367322, 0.860646, -0.227968},
      {0.280085, 0.672501, 0.047413},
      {-0.011820, 0.042940, 0.968881}}},
    {{{1.255528, -0.076749, -0.178779},
      {-0.078411, 0.930809, 0.147602},
      {0.004733, 0.691367, 0.303900}}},
};

Triple linear(Color color) {
  auto channel = [](uint8_t value) {
    double v = value / 255.0;
    return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
  };
  return {channel(color.red), channel(color.green), channel(color.blue)};
}

double dot(const Triple &a, const Triple &b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

double luminance(const Triple &rgb) {
  return dot({0.2126, 0.7152, 0.0722}, rgb);
}

/// The contrast of WCAG 2, which depends only on luminance: 1 to 21.
double contrast(Color a, Color b) {
  double first = luminance(linear(a)) + 0.05;
  double second = luminance(linear(b)) + 0.05;
  return std::max(first, second) / std::min(first, second);
}

/// CIE L*a*b* under D65.
Triple lab(const Triple &rgb) {
  auto curve = [](double v) {
    v = std::max(v, 0.0);
    return v > 0.008856 ? std::cbrt(v) : 7.787 * v + 16.0 / 116;
  };
  double x = curve(dot({0.4124, 0.3576, 0.1805}, rgb) / 0.9505);
  double y = curve(luminance(rgb));
  double z = curve(dot({0.0193, 0.1192, 0.9505}, rgb) / 1.089);
  return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

Triple seen(Color color, const Matrix &vision) {
  Triple rgb = linear(color);
  return lab({dot(vision[0], rgb), dot(vision[1], rgb), dot(vision[2], rgb)});
}

double lightness(Color color) { return lab(linear(color))[0]; }

/// The difference of CIE 1976; 2.3 is just noticeable.
double difference(Color a, Color b, const Matrix &vision) {
  Triple p = seen(a, vision), q = seen(b, vision);
  return std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
}

/// The least difference over all forms of color vision.
double leastDifference(Color a, Color b) {
  double least = 1000;
  for (const Matrix &vision : visions)
    least = std::min(least, difference(a, b, vision));
  return least;
}

std::string text(Color color) {
  std::string text;
  llvm::raw_string_ostream(text) << color;
  return text;
}

/// All colors of a kind.
std::vector<Color> colorsOf(Scheme scheme, StepKind kind) {
  std::vector<Color> colors;
  unsigned most = isCompute(kind) ? maxShades : 1;
  for (unsigned shades = 1; shades <= most; ++shades)
    for (unsigned shade = 0; shade != shades; ++shade)
      colors.push_back(fillColor(scheme, kind, shade, shades));
  return colors;
}

template <class Visit> void forEachColor(Scheme scheme, Visit visit) {
  for (StepKind kind : computeKinds)
    for (Color color : colorsOf(scheme, kind))
      visit(kind, color);
  auto visitAll = [&](llvm::ArrayRef<StepKind> kinds) {
    for (StepKind kind : kinds)
      for (Color color : colorsOf(scheme, kind))
        visit(kind, color);
  };
  visitAll(extraKinds);
  visitAll(copyKinds);
  visitAll(fsdpKinds);
}

// A picture must show where a rank is idle. WCAG 2.2 requires a contrast of 3:1
// for graphical objects (1.4.11). On light pages computes have dark outlines.
TEST(Palette, EveryStepStandsOutFromIdleTimeInGrey) {
  for (Scheme scheme : schemes)
    forEachColor(scheme, [&](StepKind kind, Color color) {
      if (scheme == Scheme::Light && isCompute(kind))
        return;
      EXPECT_GE(contrast(color, idleColor(scheme)), 3.0)
          << stepKindName(kind).str() << ' ' << text(color);
    });
}

// WCAG 2.2 requires 4.5:1 for text (1.4.3).
TEST(Palette, NumbersAreLegibleOnEveryStep) {
  for (Scheme scheme : schemes)
    for (StepKind kind : computeKinds)
      for (Color color : colorsOf(scheme, kind))
        EXPECT_GE(contrast(color, textColor(scheme, kind)), 4.5)
            << stepKindName(kind).str() << ' ' << text(color);
}

/// Calls `visit` with the colors of two kinds in a picture with `shades`
/// shades.
template <class Visit>
void forEachPair(Scheme scheme, StepKind a, StepKind b, unsigned shades,
                 Visit visit) {
  for (unsigned i = 0; i != shades; ++i)
    for (unsigned j = 0; j != shades; ++j)
      visit(fillColor(scheme, a, i, shades), fillColor(scheme, b, j, shades));
}

// With several chunks, whose shades must differ, kinds differ less, and not in
// lightness.
TEST(Palette, KindsDifferForEveryVisionAndInGrey) {
  for (Scheme scheme : schemes)
    for (StepKind a : computeKinds)
      for (StepKind b : computeKinds) {
        if (a >= b)
          continue;
        for (unsigned shades = 1; shades <= maxShades; ++shades)
          forEachPair(scheme, a, b, shades, [&](Color first, Color second) {
            EXPECT_GE(leastDifference(first, second), shades == 1 ? 15 : 7)
                << text(first) << ' ' << text(second);
            EXPECT_GE(difference(first, second, visions[0]), 10)
                << text(first) << ' ' << text(second);
            if (shades == 1) {
              EXPECT_GE(std::abs(lightness(first) - lightness(second)), 5)
                  << text(first) << ' ' << text(second);
            }
          });
      }
}

TEST(Palette, RecomputationAndOptimizerStepsDifferForEveryVision) {
  for (Scheme scheme : schemes)
    for (StepKind a : extraKinds) {
      for (Color first : colorsOf(scheme, a))
        EXPECT_GE(contrast(first, textColor(scheme, a)), 4.5) << text(first);
      for (StepKind b : computeKinds)
        for (unsigned shades = 1; shades <= maxShades; ++shades)
          forEachPair(scheme, a, b, shades, [&](Color first, Color second) {
            EXPECT_GE(leastDifference(first, second), shades == 1 ? 15 : 5)
                << text(first) << ' ' << text(second);
          });
    }
}

TEST(Palette, CopiesDifferInGrey) {
  for (Scheme scheme : schemes)
    EXPECT_GE(std::abs(lightness(fillColor(scheme, StepKind::Offload)) -
                       lightness(fillColor(scheme, StepKind::Reload))),
              12);
}

TEST(Palette, FsdpActionsDifferInGrey) {
  for (Scheme scheme : schemes)
    for (StepKind a : fsdpKinds)
      for (StepKind b : fsdpKinds)
        if (a < b) {
          EXPECT_GE(std::abs(lightness(fillColor(scheme, a)) -
                             lightness(fillColor(scheme, b))),
                    12);
        }
}

TEST(Palette, NeighbouringChunksOfAKindDiffer) {
  for (Scheme scheme : schemes)
    for (StepKind kind : computeKinds)
      for (unsigned shades = 2; shades <= maxShades; ++shades)
        for (unsigned shade = 1; shade != shades; ++shade) {
          Color first = fillColor(scheme, kind, shade - 1, shades);
          Color second = fillColor(scheme, kind, shade, shades);
          EXPECT_GE(lightness(second) - lightness(first), 12) << text(first);
          EXPECT_GE(leastDifference(first, second), 10) << text(first);
        }
}

TEST(Palette, ShadesAreDealtOutEvenly) {
  for (unsigned chunks = 1; chunks != 20; ++chunks) {
    EXPECT_EQ(shadeOf(0, chunks), 0u);
    EXPECT_EQ(shadeOf(chunks - 1, chunks), numShades(chunks) - 1);
    for (unsigned chunk = 1; chunk != chunks; ++chunk)
      EXPECT_LE(shadeOf(chunk, chunks) - shadeOf(chunk - 1, chunks), 1u);
  }
}

} // namespace
