//===- Words.cpp - Text of messages, for terminals and references ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Unicode.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace llvm;

namespace pipec {

std::vector<StringRef> nearestWords(StringRef word,
                                    ArrayRef<StringRef> candidates) {
  // All words of one or two letters are similar.
  unsigned limit = word.size() < 3 ? 1 : unsigned((word.size() + 2) / 3);
  limit = std::min<unsigned>(limit, word.empty() ? 0 : word.size() - 1);
  std::vector<StringRef> best;
  unsigned bestDistance = limit + 1;
  for (StringRef candidate : candidates) {
    unsigned distance = word.edit_distance_insensitive(candidate, true, limit);
    if (distance == 0 && word != candidate)
      return {candidate};
    if (distance > limit || distance > bestDistance)
      continue;
    // `zb1p` and `zbp1` are similar, `host` and `port` are not.
    if (2 * distance >= word.size() &&
        !candidate.starts_with_insensitive(word.take_front()))
      continue;
    if (distance < bestDistance)
      best.clear();
    bestDistance = distance;
    best.push_back(candidate);
  }
  return best;
}

StringRef nearestWord(StringRef word, ArrayRef<StringRef> candidates) {
  std::vector<StringRef> best = nearestWords(word, candidates);
  return best.empty() ? StringRef() : best.front();
}

std::string shortened(StringRef text) {
  constexpr size_t limit = 80, shown = 60;
  if (text.size() <= limit)
    return text.str();
  size_t end = shown;
  while (end != 0 && isContinuationByte(text[end])) // not within a character
    --end;
  return (text.take_front(end) + "...").str();
}

std::string shellWord(StringRef word) {
  bool plain = !word.empty() && all_of(word, [](char c) {
    return isAlnum(c) || StringRef("_-+./,:=@%").contains(c);
  });
  if (plain)
    return word.str();
  std::string text = "'";
  for (char c : word)
    text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

std::string countText(uint64_t number, StringRef noun, StringRef plural) {
  return (Twine(number) + " " + noun + (number == 1 ? "" : plural)).str();
}

std::string bytesText(double size) {
  for (auto [unit, name] :
       {std::pair(1U << 30, "GiB"), {1U << 20, "MiB"}, {1U << 10, "KiB"}})
    if (size >= unit)
      return formatv("{0:f2} {1}", size / unit, name);
  return formatv("{0:f0} B", size);
}

std::string listText(ArrayRef<unsigned> numbers) {
  std::string text;
  raw_string_ostream os(text);
  interleaveComma(numbers, os);
  return text;
}

std::string uriOfPath(StringRef path) {
  std::string uri = path.starts_with("/") ? "file://" : "";
  for (char c : path) {
    if (isAlnum(c) || StringRef("/._-~").contains(c))
      uri += c;
    else
      uri += "%" + toHex(StringRef(&c, 1));
  }
  return uri;
}

std::string pathOfUri(StringRef uri) {
  StringRef rest = uri;
  if (!rest.consume_front_insensitive("file://"))
    return uri.str();
  // The name of the host precedes the path.
  rest = rest.drop_until([](char c) { return c == '/'; });
  std::string path;
  for (size_t i = 0; i < rest.size(); ++i) {
    unsigned byte = 0;
    if (rest[i] == '%' && i + 2 < rest.size() &&
        !rest.substr(i + 1, 2).getAsInteger(16, byte)) {
      path += char(byte);
      i += 2;
    } else {
      path += rest[i];
    }
  }
  return path;
}

/// Calls `show` for every character of `text` with its width in columns, which
/// is negative for a character that cannot be shown.
static void
forEachCharacter(StringRef text,
                 function_ref<void(StringRef character, int columns)> show) {
  while (!text.empty()) {
    size_t size = 1;
    while (size != text.size() && isContinuationByte(text[size]))
      ++size;
    StringRef character = text.take_front(size);
    show(character, sys::unicode::columnWidthUTF8(character));
    text = text.drop_front(size);
  }
}

std::string terminalText(StringRef text) {
  std::string shown;
  forEachCharacter(text, [&](StringRef character, int columns) {
    if (character == "\t")
      shown += ' ';
    else if (columns < 0)
      shown += '?';
    else
      shown += character;
  });
  return shown;
}

size_t terminalWidth(StringRef text) {
  size_t width = 0;
  forEachCharacter(text, [&](StringRef, int columns) {
    width += columns > 0 ? columns : 1;
  });
  return width;
}

} // namespace pipec
