//===- PaletteTest.cpp - Tests for the shades of chunks -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Emit/Palette.h"

#include <gtest/gtest.h>

using namespace pipec;

namespace {

TEST(Palette, ShadesAreDealtOutEvenly) {
  for (unsigned chunks = 1; chunks != 20; ++chunks) {
    EXPECT_EQ(shadeOf(0, chunks), 0u);
    EXPECT_EQ(shadeOf(chunks - 1, chunks), numShades(chunks) - 1);
    for (unsigned chunk = 1; chunk != chunks; ++chunk)
      EXPECT_LE(shadeOf(chunk, chunks) - shadeOf(chunk - 1, chunks), 1u);
  }
}

} // namespace
