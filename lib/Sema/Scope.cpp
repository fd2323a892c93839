//===- Scope.cpp - Visible names -----===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sema/Scope.h"

using namespace llvm;

namespace pipec {

StringRef Symbol::what() const {
  return variable ? "value" : fn ? "function" : "pattern";
}

const Symbol *Scope::find(StringRef name) const {
  auto it = index.find(name);
  return it == index.end() ? nullptr : &symbols[it->second];
}

const Symbol *Scope::define(Symbol symbol) {
  auto [it, inserted] = index.try_emplace(symbol.name, symbols.size());
  if (!inserted)
    return &symbols[it->second];
  symbols.push_back(symbol);
  return nullptr;
}

void Scope::leave(size_t mark) {
  for (; symbols.size() > mark; symbols.pop_back())
    index.erase(symbols.back().name);
}

std::optional<std::string> Scope::suggest(StringRef name,
                                          bool (*wanted)(const Symbol &),
                                          ArrayRef<StringRef> extra) const {
  std::vector<StringRef> candidates(extra.begin(), extra.end());
  for (const Symbol &symbol : symbols)
    if (wanted(symbol))
      candidates.push_back(symbol.name);
  return closestWord(name, candidates);
}

std::optional<std::string> closestWord(StringRef name,
                                       ArrayRef<StringRef> candidates) {
  // Short names are all close to each other, so they must share a letter.
  unsigned limit = name.size() < 3 ? 1 : (unsigned(name.size()) + 2) / 3;
  std::optional<std::string> best;
  unsigned bestDistance = limit + 1;
  for (StringRef candidate : candidates) {
    unsigned distance = name.edit_distance(candidate, true, limit);
    if (distance >= bestDistance || distance >= name.size())
      continue;
    bestDistance = distance;
    best = candidate.str();
  }
  return best;
}

} // namespace pipec
