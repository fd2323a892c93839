//===- OpenDocument.cpp - A document that is open in the editor -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LanguageServer/OpenDocument.h"

using namespace llvm;

namespace pipec::lsp {

Shift::Shift(StringRef oldText, StringRef newText) {
  size_t shorter = std::min(oldText.size(), newText.size());
  auto [oldEnd, newEnd] = std::mismatch(
      oldText.begin(), oldText.begin() + shorter, newText.begin());
  same = oldEnd - oldText.begin();
  size_t tail = 0;
  while (tail != shorter - same && oldText[oldText.size() - 1 - tail] ==
                                       newText[newText.size() - 1 - tail])
    ++tail;
  oldTail = oldText.size() - tail;
  newTail = newText.size() - tail;
}

/// Moves `offset` with the tail of the text.
static std::optional<size_t> shifted(size_t offset, size_t same, size_t from,
                                     size_t to) {
  if (offset <= same)
    return offset;
  if (offset >= from)
    return offset - from + to;
  return std::nullopt;
}

std::optional<size_t> Shift::toOld(size_t offset) const {
  return shifted(offset, same, newTail, oldTail);
}

std::optional<size_t> Shift::toNew(size_t offset) const {
  return shifted(offset, same, oldTail, newTail);
}

std::optional<Span> Shift::toNew(Span span) const {
  std::optional<size_t> begin = toNew(span.begin), end = toNew(span.end);
  if (!begin || !end || *end < *begin)
    return std::nullopt;
  return Span{*begin, *end};
}

void Server::OpenDocument::setText(StringRef text, int64_t version) {
  document.text = text.str();
  document.version = version;
  lines = LineMap(document.text);
  isChanged = true;
  latest.reset();
}

const Occurrence *Server::Target::name() const {
  if (!analysis || analysis->isSteps())
    return nullptr;
  return analysis->names().at(analysis->loc(offset));
}

std::optional<json::Value> Server::Target::range(Span span) const {
  std::optional<Span> now = shift.toNew(span);
  if (!now)
    return std::nullopt;
  return document->lines.range(*now);
}

} // namespace pipec::lsp
