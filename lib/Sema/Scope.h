//===- Scope.h - Visible names ----------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "AST/Decl.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"

#include <vector>

namespace pipec {

/// The meaning of a name: a variable, a function or a pattern.
struct Symbol {
  llvm::StringRef name;
  llvm::SMRange range;
  const ast::Variable *variable = nullptr;
  const ast::FnDecl *fn = nullptr;
  const ast::PatternDecl *pattern = nullptr;
  /// The statement that only defines this name; invalid if there is none.
  llvm::SMRange statement = {};

  /// `value`, `function` or `pattern`.
  llvm::StringRef what() const;
};

/// The names that are visible at one point of a program. Names cannot be
/// shadowed, so one table suffices for all blocks; leaving a block removes its
/// names.
class Scope {
public:
  /// The visible symbol with that name, or null.
  const Symbol *find(llvm::StringRef name) const;
  /// Adds a symbol. If a visible symbol has the name already, adds nothing and
  /// returns that symbol.
  const Symbol *define(Symbol symbol);

  /// Returns a mark for `leave`, which restores the current state.
  size_t enter() const { return symbols.size(); }
  void leave(size_t mark);

  /// The visible name that is most similar to `name`, among the symbols that
  /// `wanted` accepts and `extra`; empty if none is similar enough.
  llvm::StringRef suggest(llvm::StringRef name,
                          llvm::function_ref<bool(const Symbol &)> wanted,
                          llvm::ArrayRef<llvm::StringRef> extra) const;

private:
  std::vector<Symbol> symbols;
  llvm::StringMap<size_t> index;
};

} // namespace pipec
