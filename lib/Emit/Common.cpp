//===- Common.cpp - Shared parts of output formats ------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emit/Common.h"

#include "Support/Words.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec {

std::string sizesText(const Schedule &schedule) {
  return countText(schedule.numRanks, "rank") + ", " +
         countText(schedule.numStages, "stage") + ", " +
         countText(schedule.numMicrobatches, "micro-batch", "es");
}

std::string markupText(StringRef text) {
  constexpr StringLiteral replacement = "\xEF\xBF\xBD";
  std::string valid = json::fixUTF8(text), result;
  for (StringRef rest = valid; !rest.empty();) {
    size_t size = 1;
    bool allowed = uint8_t(rest[0]) >= 0x20 || isSpace(rest[0]);
    if (rest.starts_with("\xEF\xBF\xBE") || rest.starts_with("\xEF\xBF\xBF")) {
      size = 3;
      allowed = false;
    }
    // XML does not allow these two white space characters.
    allowed = allowed && rest[0] != '\v' && rest[0] != '\f';
    result += allowed ? rest.take_front(size) : StringRef(replacement);
    rest = rest.drop_front(size);
  }
  return result;
}

} // namespace pipec
