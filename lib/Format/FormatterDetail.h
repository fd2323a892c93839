//===- FormatterDetail.h - The formatter ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The formatter walks over the tree in source order and appends lines. Three
// things are taken from the text instead of the tree:
//
//   - whether a body was written on one line: it stays there if it fits;
//   - empty lines between statements: one of them stays;
//   - comments. A comment on its own line goes above the statement that follows
//     it; a trailing comment stays there; of the comments within a statement,
//     the last one becomes its trailing comment and the others go above it.
//
// The same questions about the formatted text have the same answers, which
// makes formatting idempotent.
//
// A statement has up to two documents (Doc.h): the statement on one line, and
// the part before its braces.
//
// The implementation is in Formatter.cpp (comments, lines, files), Docs.cpp
// (documents) and FormatStmt.cpp (statements).
//
//===----------------------------------------------------------------------===//

#pragma once

#include "AST/Decl.h"
#include "Format/Doc.h"

#include "llvm/ADT/DenseMap.h"

namespace pipec::ast {

class Formatter {
public:
  explicit Formatter(const Module &module) : module(module) {}

  std::vector<FormatLine> format();

private:
  // The text
  /// True if the range contains no line break.
  static bool onOneLine(const char *begin, const char *end);
  static bool onOneLine(llvm::SMRange range) {
    return onOneLine(range.Start.getPointer(), range.End.getPointer());
  }
  /// True if the line above `place` is empty.
  bool blankAbove(const char *place) const;
  /// The next character that is neither blank nor part of a comment.
  const char *skipSpace(const char *place) const;
  /// The position after the next `wanted` outside comments.
  const char *past(const char *place, char wanted) const;

  // Comments
  /// Removes and returns the comments that begin before `place`.
  llvm::ArrayRef<Comment> takeComments(const char *place);
  bool hasComment(llvm::SMRange range) const;
  /// Removes and returns the comment on the rest of the line after `place`.
  const Comment *takeTrailing(const char *place);
  void addCommentLines(llvm::ArrayRef<Comment> comments, unsigned indent,
                       bool &first);

  // Lines
  /// Appends the lines of a statement (or its head) that ends at `end` in the
  /// source, with the comments within and after it.
  void addCode(std::vector<FormatLine> code, const char *end, bool blank);
  void addDoc(DocRef doc, unsigned indent, const char *end, bool blank);
  /// Appends a closing line such as `}` for the brace that ends at `end`, after
  /// the comments that precede it.
  void addClose(llvm::StringRef text, unsigned indent, const char *end,
                bool first);

  /// Adds an item of a list, after the comments above it.
  void addItem(DocRef doc, unsigned indent, const char *start, const char *end,
               bool &first);

  // Documents
  using Parts = DocBuilder::Parts;
  /// An `if`, `else if` or `else` with its block.
  struct Arm {
    const Expr *condition; // null: `else`
    Block block;
  };
  static llvm::SmallVector<Arm, 4> armsOf(const IfStmt *stmt);
  /// The block of a statement that is a head and a block; null for others.
  static const Block *blockOf(const Stmt *stmt);
  /// The part of a statement before its block or braces, or the whole
  /// statement.
  DocRef headDoc(const Stmt *stmt);
  /// The statement on one line; null if it was written on several.
  DocRef lineDoc(const Stmt *stmt);
  DocRef makeLineDoc(const Stmt *stmt);
  DocRef lineDoc(const Block &block);
  DocRef armHead(const Arm &arm, llvm::StringRef before);
  DocRef armLine(const Arm &arm, bool isFirst);
  DocRef parameterNames(llvm::ArrayRef<Argument> args);
  DocRef stepDoc(const StepRef &step);
  DocRef entryHead(const SettingEntry &entry);
  static std::string loopText(const SettingEntry &entry);
  DocRef entryDoc(const SettingEntry &entry, bool assigns);
  DocRef bracesDoc(const Stmt *stmt);
  DocRef entriesDoc(llvm::ArrayRef<SettingEntry> entries, bool assigns);
  DocRef placementHalf(const PlacementStmt *stmt, bool second);
  DocRef sectionDoc(const SectionEntry &entry);
  DocRef bodyStepDoc(const BodyStep &step);
  DocRef edgeDoc(const EdgeEntry &edge);
  DocRef paramDoc(const ParamDecl &param);

  // Statements on lines of their own
  void addList(llvm::ArrayRef<Stmt *> stmts, unsigned indent, bool &first);
  void addStmt(const Stmt *stmt, unsigned indent, bool blank);
  void addBlock(const Block &block, unsigned indent, bool first = true);
  void addIf(const IfStmt *stmt, unsigned indent, bool blank);
  bool addArmLines(llvm::ArrayRef<Arm> arms, unsigned indent, bool blank);
  void addWithBlock(DocRef head, const Block &block, unsigned indent,
                    bool blank);
  /// Adds the line with the opening brace of a statement whose body is not a
  /// block. Returns the position after the brace.
  const char *addOpen(const Stmt *stmt, unsigned indent, bool blank);
  void addFn(const FnDecl *fn, unsigned indent, bool blank);
  void addEntries(llvm::ArrayRef<SettingEntry> entries, unsigned indent,
                  bool assigns);
  void addPlacement(const PlacementStmt *stmt, unsigned indent, bool blank);
  template <typename Entry, typename Doc>
  void addItems(const Stmt *stmt, llvm::ArrayRef<Entry> entries, Doc doc,
                unsigned indent, bool blank);
  void addBody(const OverlapStmt *stmt, unsigned indent, bool blank);
  void addSchedule(const ScheduleDecl &schedule, bool blank);

  const Module &module;
  DocBuilder docs;
  /// The results of `lineDoc`.
  llvm::DenseMap<const Stmt *, DocRef> lineDocs;
  std::vector<FormatLine> lines;
  size_t nextComment = 0;
};

} // namespace pipec::ast
