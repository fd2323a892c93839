//===- Position.cpp - Positions in the text of an editor ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LanguageServer/Analysis.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>

using namespace llvm;

namespace pipec::lsp {

/// The number of bytes of the character that begins with `c`; 1 for a byte that
/// begins none.
static size_t bytesOf(unsigned char c) {
  return c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : c >= 0xC0 ? 2 : 1;
}
/// The number of its code units in UTF-16.
static uint32_t unitsOf(unsigned char c) { return c >= 0xF0 ? 2 : 1; }

LineMap::LineMap(StringRef text) : text(text), starts{0} {
  for (size_t i = 0; i != text.size(); ++i)
    if (text[i] == '\n' ||
        (text[i] == '\r' && (i + 1 == text.size() || text[i + 1] != '\n')))
      starts.push_back(i + 1);
}

StringRef LineMap::line(size_t number) const {
  size_t end = number + 1 == starts.size() ? text.size() : starts[number + 1];
  return text.slice(starts[number], end).rtrim("\r\n");
}

Position LineMap::position(size_t offset) const {
  offset = std::min(offset, text.size());
  size_t number = llvm::upper_bound(starts, offset) - starts.begin() - 1;
  Position position{uint32_t(number), 0};
  for (size_t i = starts[number]; i < offset;) {
    size_t length = bytesOf(text[i]);
    if (i + length > offset)
      break;
    position.character += unitsOf(text[i]);
    i += length;
  }
  return position;
}

size_t LineMap::offset(Position position) const {
  if (position.line >= starts.size())
    return text.size();
  StringRef content = line(position.line);
  size_t at = 0;
  for (uint32_t units = 0; at < content.size();) {
    units += unitsOf(content[at]);
    if (units > position.character)
      break;
    at += bytesOf(content[at]);
  }
  return starts[position.line] + std::min(at, content.size());
}

static json::Value toValue(Position position) {
  return json::Object{{"line", position.line},
                      {"character", position.character}};
}

json::Value LineMap::range(Span span) const {
  return json::Object{{"start", toValue(position(span.begin))},
                      {"end", toValue(position(span.end))}};
}

std::optional<Position> positionFrom(const json::Value *value) {
  const json::Object *object = value ? value->getAsObject() : nullptr;
  if (!object)
    return std::nullopt;
  std::optional<int64_t> line = object->getInteger("line");
  std::optional<int64_t> character = object->getInteger("character");
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  if (!line || !character || *line < 0 || *character < 0)
    return std::nullopt;
  return Position{uint32_t(std::min(*line, most)),
                  uint32_t(std::min(*character, most))};
}

} // namespace pipec::lsp
