//===- Scope.h - Visible names ----------------------------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_SEMA_SCOPE_H
#define PIPEC_SEMA_SCOPE_H

#include "AST/Decl.h"

#include "llvm/ADT/StringMap.h"

#include <vector>

namespace pipec {

/// What a name stands for: exactly one of the three.
struct Symbol {
  llvm::StringRef name;
  llvm::SMRange range;
  const ast::Variable *variable = nullptr;
  const ast::FnDecl *fn = nullptr;
  const ast::PatternDecl *pattern = nullptr;

  /// `value`, `function` or `pattern`.
  llvm::StringRef what() const;
};

/// The names that are visible at one point of a program. No name hides
/// another, so one table serves all blocks; leaving a block removes the names
/// that it brought.
class Scope {
public:
  /// The visible symbol of that name, or null.
  const Symbol *find(llvm::StringRef name) const;
  /// Adds a symbol; returns the visible one that has the name already, and adds
  /// nothing then.
  const Symbol *define(Symbol symbol);

  /// Marks the current state, to which `leave` returns.
  size_t enter() const { return symbols.size(); }
  void leave(size_t mark);

  /// The visible name that `name` was probably meant to be, of the symbols that
  /// `wanted` accepts and of `extra`; empty when none is near enough.
  llvm::StringRef suggest(llvm::StringRef name, bool (*wanted)(const Symbol &),
                          llvm::ArrayRef<llvm::StringRef> extra) const;

private:
  std::vector<Symbol> symbols;
  llvm::StringMap<size_t> index;
};

} // namespace pipec

#endif // PIPEC_SEMA_SCOPE_H
