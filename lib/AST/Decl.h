//===- Decl.h - Schedules and files as written ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "AST/Stmt.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Allocator.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pipec::ast {

/// A string literal; escapes in `value` are resolved.
struct StringLit {
  llvm::SMRange range;
  llvm::StringRef value;
};

/// `require condition, "message with {name}";`
struct RequireStmt : StmtOf<Stmt::Kind::Require> {
  /// A piece of the message: text, or a name that is replaced by its value.
  struct Piece {
    llvm::StringRef text;
    NameExpr *name = nullptr;
  };

  Expr *condition;
  std::optional<StringLit> message;
  llvm::ArrayRef<Piece> pieces;
  /// The dependence of condition and message; set by Sema.
  Dependence dependence = {};
};

/// `placement loop(v);` or `placement { stages n; stage s on rank-of-s; }`
struct PlacementStmt : StmtOf<Stmt::Kind::Placement> {
  /// `loop`, `v`, `wave`, `blocked`, `bidirectional`; empty when spelled out.
  Name name = {};
  Expr *argument = nullptr;
  /// The spelled-out form.
  Expr *stages = nullptr;
  Name stageName = {};
  Expr *rank = nullptr;
  Variable *stageVariable = nullptr; // Sema
};

/// `0 -> 3`, `s -> stages - 1 - s for s in 0..stages / 2`.
struct EdgeEntry {
  llvm::SMRange range;
  Expr *from;
  Expr *to;
  /// The loop; empty and null for a single edge.
  Name loopName;
  Expr *begin = nullptr;
  Expr *end = nullptr;
  Variable *loopVariable = nullptr; // Sema

  bool isLoop() const { return begin; }
};

/// `connect 0 -> 3;` or `graph { 0 -> 2; 1 -> 2; }`, distinguished by the kind.
struct EdgesStmt : Stmt {
  EdgesStmt(Kind kind, llvm::SMRange range,
            llvm::MutableArrayRef<EdgeEntry> edges)
      : Stmt(kind, range), edges(edges) {}
  static bool classof(const Stmt *s) {
    return s->kind == Kind::Connect || s->kind == Kind::Graph;
  }

  llvm::MutableArrayRef<EdgeEntry> edges;
};

/// `tie 0, stages - 1;`
struct TieStmt : StmtOf<Stmt::Kind::Tie> {
  llvm::ArrayRef<Expr *> stages;
};

/// `alias "1f1b", "Interleaved1F1B";`
struct AliasStmt : StmtOf<Stmt::Kind::Alias> {
  llvm::ArrayRef<StringLit> names;
};

/// `attention`, `dispatch on network`.
struct SectionEntry {
  llvm::SMRange range;
  Name name;
  /// Empty for `compute`.
  Name stream;
};

/// `sections(4) { attention; dispatch on network; }`
struct SectionsStmt : StmtOf<Stmt::Kind::Sections> {
  SectionsStmt(llvm::SMRange range, Expr *layers,
               llvm::ArrayRef<SectionEntry> entries)
      : StmtOf(range), layers(layers), entries(entries) {}
  Expr *layers;
  llvm::ArrayRef<SectionEntry> entries;
  Variable *stageVariable = nullptr; // Sema
};

/// `B.combine`, `last W.attention`.
struct BodyStep {
  llvm::SMRange range;
  bool last;
  Letter letter;
  Name section;
};

/// `overlap F & B { B.combine F.attention ... }`
struct OverlapStmt : StmtOf<Stmt::Kind::Overlap> {
  llvm::ArrayRef<Letter> letters;
  llvm::ArrayRef<BodyStep> steps;
};

/// `forward_only;`
struct ForwardOnlyStmt : StmtOf<Stmt::Kind::ForwardOnly> {};

/// `F = 1`, `F & B = 2.5`, `p2p = 0.1`, `limit = p`, `layout "Et|tL"`,
/// `max_active 3`, `stages all`; or a scope with entries of its own:
/// `stage 0 { ... }`, `edge 0 -> 1 { ... }`, `F & B { ... }`.
struct SettingEntry {
  llvm::SMRange range;
  /// The letters on the left; empty if a word is there.
  llvm::ArrayRef<Letter> letters;
  Name word;
  /// One value, the stages of an fsdp block, or the numbers after the word of a
  /// scope; empty if there is a string.
  llvm::ArrayRef<Expr *> values;
  /// The string after the word, as it is written, without its quotes; its data
  /// is null without one.
  llvm::StringRef text;
  bool isScope = false;
  llvm::MutableArrayRef<SettingEntry> entries;
  /// The loop after a scope; empty and null without one.
  Name loopName;
  Expr *begin = nullptr;
  Expr *end = nullptr;
  Variable *loopVariable = nullptr; // Sema

  bool isLoop() const { return begin; }
  bool hasText() const { return text.data() != nullptr; }
  /// True for a stream of `share 2 { out; in }`.
  bool isWord() const { return values.empty() && !isScope && !hasText(); }
  /// The range of the string, with its quotes.
  llvm::SMRange textRange() const {
    return {llvm::SMLoc::getFromPointer(text.begin() - 1),
            llvm::SMLoc::getFromPointer(text.end() + 1)};
  }
};

/// `cost { }`, `memory { }` or `fsdp { }`, distinguished by the kind.
struct SettingsStmt : Stmt {
  SettingsStmt(Kind kind, llvm::SMRange range,
               llvm::MutableArrayRef<SettingEntry> entries)
      : Stmt(kind, range), entries(entries) {}
  static bool classof(const Stmt *s) {
    return s->kind == Kind::Cost || s->kind == Kind::Memory ||
           s->kind == Kind::Fsdp;
  }

  llvm::MutableArrayRef<SettingEntry> entries;
};
/// `cost`, `memory` or `fsdp`.
inline llvm::StringRef blockWord(Stmt::Kind kind) {
  return kind == Stmt::Kind::Cost     ? "cost"
         : kind == Stmt::Kind::Memory ? "memory"
                                      : "fsdp";
}

/// `expect peak(rank) <= p - rank;`, `expect peak(0) == p;`,
/// `expect makespan == 6 * m * F if F == I;`
struct ExpectStmt : StmtOf<Stmt::Kind::Expect> {
  /// True for `peak(rank)`, a clause about every rank.
  bool ofEveryRank() const {
    const auto *name = rank ? llvm::dyn_cast<NameExpr>(rank) : nullptr;
    return name && name->name == "rank";
  }
  /// The rank of a clause about one rank; null for other clauses.
  Expr *rankOfOne() const { return ofEveryRank() ? nullptr : rank; }

  Name metric;
  llvm::SMRange argument; // `(rank)`; invalid if it is not written
  /// The rank; null if none is written, or the name of a metric in its place.
  Expr *rank;
  BinaryOp relation;
  Expr *value;
  /// The condition of the clause; null if it always holds.
  Expr *condition;
};

/// `warmup { }`, `phase drain { }`
struct PhaseStmt : StmtOf<Stmt::Kind::Phase> {
  Name name;
  /// Written as `phase name`.
  bool named;
  Block body;
  bool timed = false; // Sema
};

/// The role of a parameter in the schedule.
enum class Role : uint8_t { None, Ranks, Microbatches, Chunks, Slices };

/// `ranks p = 4`, `group g = p`, `depth = 2`, `microbatches m`
struct ParamDecl {
  Name label; // may be empty
  Name name;
  Expr *defaultValue; // null: the command line must give one
  Role role;
  Variable *variable = nullptr; // Sema

  /// The range of the label, if there is one, and the name.
  llvm::SMRange range() const {
    const Name &first = label.text.empty() ? name : label;
    return {first.range.Start, name.range.End};
  }
};

/// `schedule name(params) { ... }`
struct ScheduleDecl {
  llvm::SMRange range;
  Name name;
  llvm::MutableArrayRef<ParamDecl> params;
  Block body;
  /// The comment directly above the schedule, without comment marks, lines
  /// joined by newlines.
  llvm::StringRef doc;

  /// The names of its `alias` statements, in their order.
  llvm::SmallVector<StringLit, 4> aliases() const {
    llvm::SmallVector<StringLit, 4> names;
    for (const Stmt *item : body.stmts)
      if (const auto *alias = llvm::dyn_cast<AliasStmt>(item))
        names.append(alias->names.begin(), alias->names.end());
    return names;
  }
  bool hasAlias(llvm::StringRef name) const {
    return llvm::any_of(
        aliases(), [&](const StringLit &alias) { return alias.value == name; });
  }
};

/// `import "path";`
struct ImportDecl {
  llvm::SMRange range;
  StringLit path;
  /// Set once the imported file is loaded.
  struct Module *module = nullptr;
};

/// `// text`, in the order of the file.
struct Comment {
  llvm::SMRange range;
  llvm::StringRef text; // with its slashes
};

/// One file.
struct Module {
  llvm::StringRef path;
  llvm::StringRef text;
  llvm::MutableArrayRef<ImportDecl> imports;
  /// Top-level `fn`s and `pattern`s in the order of the file.
  llvm::ArrayRef<Stmt *> decls;
  llvm::ArrayRef<ScheduleDecl *> schedules;
  llvm::ArrayRef<Comment> comments;
};

/// Owns the nodes of all files of one program.
class Context {
public:
  template <typename T, typename... Args> T *make(Args &&...args) {
    static_assert(std::is_trivially_destructible_v<T>,
                  "the arena runs no destructors");
    return new (arena.Allocate<T>()) T{std::forward<Args>(args)...};
  }

  /// Allocates a copy of `list` in the arena.
  template <typename T> llvm::MutableArrayRef<T> copy(llvm::ArrayRef<T> list) {
    static_assert(std::is_trivially_destructible_v<T>);
    T *data = arena.Allocate<T>(list.size());
    std::uninitialized_copy(list.begin(), list.end(), data);
    return {data, list.size()};
  }
  template <typename T>
  llvm::MutableArrayRef<T> copy(const std::vector<T> &list) {
    return copy(llvm::ArrayRef<T>(list));
  }

  llvm::StringRef copy(llvm::StringRef text) { return text.copy(arena); }

private:
  llvm::BumpPtrAllocator arena;
};

} // namespace pipec::ast
