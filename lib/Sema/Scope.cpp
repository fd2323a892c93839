//===- Scope.cpp - Visible names ------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Sema/Scope.h"

#include "Support/Words.h"

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

StringRef Scope::suggest(StringRef name,
                         function_ref<bool(const Symbol &)> wanted,
                         ArrayRef<StringRef> extra) const {
  std::vector<StringRef> candidates(extra.begin(), extra.end());
  for (const Symbol &symbol : symbols)
    if (wanted(symbol))
      candidates.push_back(symbol.name);
  return nearestWord(name, candidates);
}

} // namespace pipec
