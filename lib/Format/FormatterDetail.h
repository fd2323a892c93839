//===- FormatterDetail.h - The work of the formatter ------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The formatter walks the tree in the order of the text and appends lines.
// Three things come from the text and not from the tree:
//
//   - whether a body was written on one line: it stays there when it fits;
//   - empty lines between statements: one of them stays;
//   - comments. A comment on its own line stands above the statement that
//     follows it; a comment behind a statement stays behind it; of the comments
//     in the middle of a statement the last one moves behind it and the others
//     above it.
//
// Whatever is asked of the text has the same answer for the text that is
// printed; that is why the form is stable.
//
// Files: Formatter.cpp (comments, lists, files), FormatStmt.cpp (statements of
// bodies), FormatFlat.cpp (those that share a line), FormatItem.cpp (what
// stands in a schedule only).
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
  /// No end of a line in the range.
  static bool onOneLine(const char *begin, const char *end);
  static bool onOneLine(llvm::SMRange range) {
    return onOneLine(range.Start.getPointer(), range.End.getPointer());
  }
  static llvm::StringRef spelling(llvm::SMRange range) {
    return {range.Start.getPointer(),
            size_t(range.End.getPointer() - range.Start.getPointer())};
  }
  /// An empty line stands above what begins here.
  bool blankAbove(const char *place) const;
  /// The next character that is neither space nor comment.
  const char *skipSpace(const char *place) const;
  /// Behind the next `wanted` that is in no comment.
  const char *past(const char *place, char wanted) const;

  // Comments
  /// Takes the comments that begin before `place`.
  llvm::ArrayRef<Comment> takeComments(const char *place);
  bool hasComment(llvm::SMRange range) const;
  /// Takes the comment on the rest of the line behind `place`.
  const Comment *takeTrailing(const char *place);
  void addCommentLines(llvm::ArrayRef<Comment> comments, unsigned indent,
                       bool &first);

  // Lines
  /// Appends the lines of a statement (or of its head) that ends at `end` in
  /// the text, with the comments in it and behind it.
  void addCode(std::vector<FormatLine> code, const char *end, bool blank);
  void addDoc(DocRef doc, unsigned indent, const char *end, bool blank);
  /// Appends a closing line such as `}` for the brace that ends at `end`, below
  /// the comments in front of it.
  void addClose(llvm::StringRef text, unsigned indent, const char *end,
                bool first);

  // Statements on one line
  struct Flat {
    llvm::SmallVector<LineHead, 2> heads;
    std::string text;
    /// Nothing but heads was written: the next statement may give one.
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
  /// Ends the head of a statement whose block follows.
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
  /// What stands in front of a statement's block, or the whole statement.
  DocRef headDoc(const Stmt *stmt);
  DocRef stepDoc(const StepRef &step);
  DocRef itemDoc(const Stmt *stmt);
  DocRef parameterNames(llvm::ArrayRef<Argument> args);
  static const Block *blockOf(const Stmt *stmt);

  // What stands in a schedule only
  DocRef entryHead(const SettingEntry &entry);
  DocRef entryDoc(const SettingEntry &entry, bool assigns);
  DocRef entriesDoc(llvm::ArrayRef<SettingEntry> entries, bool assigns);
  DocRef placementHalf(const PlacementStmt *stmt, bool second);
  /// Written on one line, or nothing that could take more.
  bool staysOnLine(const Stmt *stmt) const;
  void addEntries(llvm::ArrayRef<SettingEntry> entries, unsigned indent,
                  bool assigns);
  void addSettings(const SettingsStmt *stmt, unsigned indent, bool blank);
  void addPlacement(const PlacementStmt *stmt, unsigned indent, bool blank);
  DocRef paramDoc(const ParamDecl &param);
  void addSchedule(const ScheduleDecl &schedule, bool blank);

  const Module &module;
  DocBuilder docs;
  std::vector<FormatLine> lines;
  size_t nextComment = 0;
};

} // namespace pipec::ast

#endif // PIPEC_FORMAT_FORMATTERDETAIL_H
