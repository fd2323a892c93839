//===- FormatterDetail.h - The formatter ------------------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
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
// The implementation is in Formatter.cpp (comments, lists, files),
// FormatStmt.cpp (statements of bodies), FormatFlat.cpp (statements that share
// a line) and FormatItem.cpp (parts of a schedule).
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_FORMAT_FORMATTERDETAIL_H
#define PIPEC_FORMAT_FORMATTERDETAIL_H

#include "AST/Decl.h"
#include "Format/ExprDoc.h"
#include "Format/FormatLines.h"

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
  static llvm::StringRef spelling(llvm::SMRange range) {
    return {range.Start.getPointer(),
            size_t(range.End.getPointer() - range.Start.getPointer())};
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

  // Statements on one line
  struct Flat {
    llvm::SmallVector<LineHead, 2> heads;
    std::string text;
    /// True if only heads were written: the next statement may add one.
    bool atHead = true;
    size_t room;
    size_t width() const;
  };
  bool flatten(const Stmt *stmt, Flat &flat);
  bool flatten(const Block &block, Flat &flat);
  bool flattenIf(const IfStmt *stmt, Flat &flat);
  bool flattenFn(const FnDecl *fn, Flat &flat);
  bool append(Flat &flat, DocRef doc);
  bool append(Flat &flat, llvm::StringRef text) {
    flat.text += text;
    return flat.width() <= flat.room;
  }
  /// Ends the head of a statement that is followed by its block.
  bool endHead(Flat &flat, Stmt::Kind kind);
  FormatLine lineOf(Flat flat, unsigned indent) {
    FormatLine line;
    line.indent = indent;
    line.heads = std::move(flat.heads);
    line.body = std::move(flat.text);
    return line;
  }

  // Statements
  void addList(llvm::ArrayRef<Stmt *> stmts, unsigned indent, bool &first);
  void addStmt(const Stmt *stmt, unsigned indent, bool blank);
  void addBlock(const Block &block, unsigned indent);
  void addIf(const IfStmt *stmt, unsigned indent, bool blank);
  /// An `if`, `else if` or `else` with its block.
  struct Arm {
    const Expr *condition; // null: `else`
    Block block;
  };
  static llvm::SmallVector<Arm, 4> armsOf(const IfStmt *stmt);
  bool flattenArm(const Arm &arm, bool isFirst, Flat &flat);
  DocRef armHead(const Arm &arm, llvm::StringRef before);
  bool addArmLines(llvm::ArrayRef<Arm> arms, unsigned indent, bool blank);
  void addFn(const FnDecl *fn, unsigned indent, bool blank);
  void addWithBlock(DocRef head, const Block &block, unsigned indent,
                    bool blank);
  /// The part of a statement before its block, or the whole statement.
  DocRef headDoc(const Stmt *stmt);
  DocRef stepDoc(const StepRef &step);
  DocRef itemDoc(const Stmt *stmt);
  DocRef parameterNames(llvm::ArrayRef<Argument> args);
  static const Block *blockOf(const Stmt *stmt);

  // Parts of a schedule
  DocRef entryHead(const SettingEntry &entry);
  DocRef entryDoc(const SettingEntry &entry, bool assigns);
  DocRef entriesDoc(llvm::ArrayRef<SettingEntry> entries, bool assigns);
  DocRef placementHalf(const PlacementStmt *stmt, bool second);
  /// True if the statement was written on one line, or cannot take more.
  bool staysOnLine(const Stmt *stmt) const;
  void addEntries(llvm::ArrayRef<SettingEntry> entries, unsigned indent,
                  bool assigns);
  void addSettings(const SettingsStmt *stmt, unsigned indent, bool blank);
  void addPlacement(const PlacementStmt *stmt, unsigned indent, bool blank);
  void addGraph(const EdgesStmt *stmt, unsigned indent, bool blank);
  DocRef edgeDoc(const EdgeEntry &edge);
  DocRef paramDoc(const ParamDecl &param);
  void addSchedule(const ScheduleDecl &schedule, bool blank);

  const Module &module;
  DocBuilder docs;
  std::vector<FormatLine> lines;
  size_t nextComment = 0;
};

} // namespace pipec::ast

#endif // PIPEC_FORMAT_FORMATTERDETAIL_H
