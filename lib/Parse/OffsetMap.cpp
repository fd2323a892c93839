//===- OffsetMap.cpp - Code points to bytes -------------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Parse/OffsetMap.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

OffsetMap::OffsetMap(StringRef text) : text(text) {
  if (all_of(text, [](char c) { return (c & 0x80) == 0; }))
    return;
  for (size_t i = 0; i != text.size(); ++i)
    if ((text[i] & 0xC0) != 0x80)
      offsets.push_back(i);
  offsets.push_back(text.size());
}

size_t OffsetMap::byteOffset(size_t codePoint) const {
  if (offsets.empty())
    return std::min(codePoint, text.size());
  return offsets[std::min(codePoint, offsets.size() - 1)];
}

} // namespace pipec
