//===- Names.h - Names of a program and their definitions -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "AST/Decl.h"

#include "llvm/ADT/DenseMap.h"

#include <vector>

namespace pipec::lsp {

/// The definition of a name.
struct Definition {
  enum class Kind : uint8_t {
    Schedule,
    Parameter,
    Value,
    Loop,
    Argument,
    Builtin,
    Function,
    Pattern,
    Phase,
    Section,
    Stream,
  };
  Kind kind;
  llvm::StringRef name;
  /// The name where it is defined, possibly in another file. For a builtin such
  /// as `ranks`, the name of the parameter with that role; invalid if there is
  /// none.
  llvm::SMRange place = {};
  /// The statement that defines it; for a schedule, the part before its body.
  llvm::SMRange statement = {};
};

/// `value`, `parameter`, `function`, ...
llvm::StringRef kindName(Definition::Kind kind);

/// A place where a definition is named.
struct Occurrence {
  llvm::SMRange range;
  /// Index into `NameTable::definitions`.
  unsigned definition;
  bool isDefinition = false;
};

/// A step in the text of a program.
struct WrittenStep {
  llvm::SMRange range;
  ast::Letter letter;
};

/// All names of one file, after Sema has bound them.
class NameTable {
public:
  NameTable() = default;
  explicit NameTable(const ast::Module &module);

  llvm::ArrayRef<Definition> definitions() const { return all; }
  const Definition &definitionOf(const Occurrence &place) const {
    return all[place.definition];
  }
  /// In no particular order. A name that is not bound does not occur.
  llvm::ArrayRef<Occurrence> occurrences() const { return places; }
  llvm::ArrayRef<WrittenStep> steps() const { return written; }
  /// The occurrence that contains or touches `loc`; null if there is none.
  const Occurrence *at(llvm::SMLoc loc) const;
  const WrittenStep *stepAt(llvm::SMLoc loc) const;

private:
  friend class NameCollector;

  std::vector<Definition> all;
  std::vector<Occurrence> places;
  std::vector<WrittenStep> written;
};

} // namespace pipec::lsp
