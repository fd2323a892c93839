//===- TreeBuilder.h - Parse tree to syntax tree ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The builder has a typed function for each rule of the grammar, except for
// short statements, which are built with their list. It runs only if the parser
// reported no error, so all children that the grammar requires exist. The
// implementation is in StmtBuilder.cpp and DeclBuilder.cpp.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "AST/Decl.h"

// Last: ANTLR's headers undefine EOF.
#include "Parse/Tokens.h"
#include "PipeParser.h"

namespace pipec {

class TreeBuilder {
public:
  using P = grammar::PipeParser;

  TreeBuilder(const OffsetMap &offsets, llvm::StringRef text,
              ast::Context &context, DiagEngine &diags)
      : offsets(offsets), text(text), context(context), diags(diags) {}

  ast::Module *build(P::FileContext *file, llvm::StringRef path,
                     antlr4::CommonTokenStream &tokens);

private:
  // Positions
  llvm::SMRange range(antlr4::ParserRuleContext *rule) const {
    return offsets.range(rule->getStart(), rule->getStop());
  }
  llvm::SMRange range(antlr4::tree::TerminalNode *node) const {
    return offsets.range(node->getSymbol());
  }
  ast::Name name(antlr4::tree::TerminalNode *node) const {
    llvm::SMRange r = range(node);
    return {ast::sourceText(r), r};
  }
  ast::Name name(P::NameContext *rule) const { return name(rule->ID()); }
  void expectWord(antlr4::tree::TerminalNode *node, llvm::StringRef word);

  /// The nodes of a list of rules.
  template <typename Rule> auto buildAll(const std::vector<Rule *> &rules) {
    std::vector<decltype(build(rules[0]))> nodes;
    nodes.reserve(rules.size());
    for (Rule *rule : rules)
      nodes.push_back(build(rule));
    return context.copy(nodes);
  }
  /// The statement of the only rule that is not null.
  template <typename... Rules> ast::Stmt *buildOneOf(Rules *...rules) {
    ast::Stmt *stmt = nullptr;
    (void)((rules && (stmt = build(rules))) || ...);
    return stmt;
  }

  // Expressions
  ast::Expr *build(P::ExprContext *rule);
  /// Folds `operand (operator operand)*` to the left. The operands of a rule
  /// are the rule of the next precedence; the last one is `unary`.
  ast::Expr *buildChain(antlr4::ParserRuleContext *rule);
  ast::Expr *build(P::PrimaryContext *rule);
  ast::Expr *build(P::NameUseContext *rule);
  ast::Letter build(P::LetterContext *rule);

  // Statements
  ast::Block build(P::BlockContext *rule);
  ast::Stmt *build(P::StmtContext *rule);
  ast::LetStmt *build(P::LetStmtContext *rule);
  ast::FnDecl *build(P::FnDeclContext *rule);
  ast::PatternDecl *build(P::PatternDeclContext *rule);
  ast::Argument build(P::NameContext *rule);
  ast::IfStmt *build(P::IfStmtContext *rule);
  ast::StepRef build(P::StepContext *rule);
  ast::Stmt *build(P::IdleContext *rule);
  ast::Stmt *build(P::PhaseContext *rule);

  // Schedules and files
  ast::ScheduleDecl *build(P::ScheduleDeclContext *rule);
  ast::ParamDecl build(P::ParamContext *rule);
  ast::Stmt *build(P::ScheduleItemContext *rule);
  ast::Stmt *build(P::PlacementContext *rule);
  ast::EdgeEntry build(P::EdgeContext *rule);
  ast::SectionEntry build(P::SectionContext *rule);
  ast::BodyStep build(P::BodyStepContext *rule);
  ast::Stmt *build(P::RequireContext *rule);
  ast::Stmt *build(P::ExpectContext *rule);
  llvm::MutableArrayRef<ast::SettingEntry> build(P::SettingsContext *rule);
  ast::SettingEntry build(P::SettingContext *rule);
  ast::SettingEntry build(P::FsdpEntryContext *rule);
  ast::StringLit build(antlr4::tree::TerminalNode *node);
  llvm::ArrayRef<ast::RequireStmt::Piece>
  buildMessage(antlr4::tree::TerminalNode *node);
  llvm::StringRef docCommentAbove(llvm::SMLoc schedule) const;

  const OffsetMap &offsets;
  llvm::StringRef text;
  ast::Context &context;
  DiagEngine &diags;
};

} // namespace pipec
