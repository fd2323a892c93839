//===- Words.cpp - Words of messages --------------------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/Words.h"

#include "llvm/ADT/Twine.h"

#include <algorithm>

using namespace llvm;

namespace pipec {

StringRef nearestWord(StringRef word, ArrayRef<StringRef> candidates) {
  // Words of one or two letters are all near to each other.
  unsigned limit = word.size() < 3 ? 1 : unsigned((word.size() + 2) / 3);
  limit = std::min<unsigned>(limit, word.empty() ? 0 : word.size() - 1);
  StringRef best;
  unsigned bestDistance = limit + 1;
  for (StringRef candidate : candidates) {
    unsigned distance = word.edit_distance_insensitive(candidate, true, limit);
    if (distance == 0 && word != candidate)
      return candidate;
    if (distance >= bestDistance)
      continue;
    bestDistance = distance;
    best = candidate;
  }
  return best;
}

std::string shortened(StringRef text) {
  constexpr size_t limit = 80, shown = 60;
  if (text.size() <= limit)
    return text.str();
  size_t end = shown;
  while (end != 0 && (text[end] & 0xC0) == 0x80) // not within a character
    --end;
  return (text.take_front(end) + "...").str();
}

std::string countText(uint64_t number, StringRef noun, StringRef plural) {
  return (Twine(number) + " " + noun + (number == 1 ? "" : plural)).str();
}

} // namespace pipec
