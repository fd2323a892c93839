//===- DeclBuilder.cpp - Schedules and files from the parse tree ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Parse/TreeBuilder.h"

#include "Support/Diagnostics/SyntaxDiags.h"
#include "Support/Words.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace pipec::ast;
using antlr4::tree::TerminalNode;
using pipec::grammar::PipeLexer;

namespace pipec {

// These words are not reserved, so the grammar accepts any identifier in their
// place; this function checks them.
void TreeBuilder::expectWord(TerminalNode *node, StringRef word) {
  if (Name found = name(node); found.text != word)
    (void)diags.report(found.range, diag::UnexpectedWord, found.text, word);
}

//===----------------------------------------------------------------------===//
// Strings and comments
//===----------------------------------------------------------------------===//

StringLit TreeBuilder::build(TerminalNode *node) {
  SMRange where = range(node);
  StringRef body = sourceText(where).drop_front().drop_back();
  std::string value;
  for (size_t i = 0; i != body.size(); ++i) {
    if (body[i] != '\\') {
      value += body[i];
      continue;
    }
    ++i;
    if (body[i] == '\\' || body[i] == '"' || body[i] == '{')
      value += body[i];
    else
      (void)diags.report(SMLoc::getFromPointer(body.data() + i - 1),
                         diag::BadEscape, body.substr(i, 1));
  }
  return {where, context.copy(StringRef(value))};
}

ArrayRef<RequireStmt::Piece> TreeBuilder::buildMessage(TerminalNode *node) {
  StringRef body = sourceText(range(node)).drop_front().drop_back();
  std::vector<RequireStmt::Piece> pieces;
  std::string literal;
  auto endLiteral = [&] {
    if (!literal.empty())
      pieces.push_back({context.copy(StringRef(literal))});
    literal.clear();
  };
  for (size_t i = 0; i != body.size(); ++i) {
    if (body[i] == '\\') {
      literal += body[++i];
      continue;
    }
    if (body[i] != '{') {
      literal += body[i];
      continue;
    }
    StringRef word = body.drop_front(i + 1).take_while(isWordByte);
    size_t end = i + 1 + word.size();
    SMRange hole = {SMLoc::getFromPointer(body.data() + i),
                    SMLoc::getFromPointer(body.data() + end)};
    if (word.empty() || isDigit(word[0]) || end == body.size() ||
        body[end] != '}') {
      (void)diags.report(hole, diag::BadPlaceholder, sourceText(hole));
      continue;
    }
    endLiteral();
    SMRange wordRange = {SMLoc::getFromPointer(word.begin()),
                         SMLoc::getFromPointer(word.end())};
    pieces.push_back({{}, context.make<NameExpr>(wordRange, word)});
    i = end;
  }
  endLiteral();
  return context.copy(pieces);
}

/// The `//` lines directly above a schedule.
StringRef TreeBuilder::docCommentAbove(SMLoc schedule) const {
  StringRef above = text.take_front(schedule.getPointer() - text.data());
  // Text before the keyword on the same line is not a comment.
  size_t lineStart = above.rfind('\n');
  if (lineStart == StringRef::npos ||
      !above.drop_front(lineStart).trim().empty())
    return {};
  std::vector<StringRef> lines;
  for (above = above.take_front(lineStart);;) {
    size_t start = above.rfind('\n');
    StringRef line =
        start == StringRef::npos ? above : above.drop_front(start + 1);
    line = line.trim();
    if (!line.consume_front("//"))
      break;
    line.consume_front(" ");
    lines.push_back(line.rtrim());
    if (start == StringRef::npos)
      break;
    above = above.take_front(start);
  }
  std::string doc;
  for (StringRef line : llvm::reverse(lines))
    doc += (doc.empty() ? "" : "\n") + line.str();
  return context.copy(StringRef(doc));
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

ParamDecl TreeBuilder::build(P::ParamContext *rule) {
  ParamDecl param{};
  param.name = name(rule->name());
  if (P::LabelContext *label = rule->label()) {
    param.label = {sourceText(range(label)), range(label)};
    param.role = label->RANKS()                 ? Role::Ranks
                 : label->MICROBATCHES()        ? Role::Microbatches
                 : label->CHUNKS()              ? Role::Chunks
                 : param.label.text == "slices" ? Role::Slices
                                                : Role::None;
  }
  param.defaultValue = rule->expr() ? build(rule->expr()) : nullptr;
  return param;
}

ScheduleDecl *TreeBuilder::build(P::ScheduleDeclContext *rule) {
  SMRange where = range(rule);
  SMRange body = {range(rule->LBRACE()).Start, range(rule->RBRACE()).End};
  return context.make<ScheduleDecl>(
      ScheduleDecl{where, name(rule->name()), buildAll(rule->param()),
                   Block{body, buildAll(rule->scheduleItem())},
                   docCommentAbove(where.Start)});
}

Stmt *TreeBuilder::build(P::ScheduleItemContext *rule) {
  SMRange where = range(rule);
  if (auto *connect = rule->connect())
    return context.make<EdgesStmt>(
        Stmt::Kind::Connect, where,
        context.copy(ArrayRef(build(connect->edge()))));
  if (auto *graph = rule->graph())
    return context.make<EdgesStmt>(Stmt::Kind::Graph, where,
                                   buildAll(graph->edge()));
  if (auto *tie = rule->tie())
    return context.make<TieStmt>(where, buildAll(tie->expr()));
  if (auto *alias = rule->alias())
    return context.make<AliasStmt>(where, buildAll(alias->STRING()));
  if (auto *sections = rule->sections())
    return context.make<SectionsStmt>(where, build(sections->expr()),
                                      buildAll(sections->section()));
  if (auto *overlap = rule->overlap())
    return context.make<OverlapStmt>(where,
                                     buildAll(overlap->letters()->letter()),
                                     buildAll(overlap->bodyStep()));
  if (rule->forwardOnly())
    return context.make<ForwardOnlyStmt>(where);
  if (auto *cost = rule->costBlock())
    return context.make<SettingsStmt>(Stmt::Kind::Cost, where,
                                      build(cost->settings()));
  if (auto *memory = rule->memoryBlock())
    return context.make<SettingsStmt>(Stmt::Kind::Memory, where,
                                      build(memory->settings()));
  if (auto *fsdp = rule->fsdpBlock())
    return context.make<SettingsStmt>(Stmt::Kind::Fsdp, where,
                                      buildAll(fsdp->fsdpEntry()));
  return buildOneOf(rule->placement(), rule->require(), rule->expect(),
                    rule->letStmt(), rule->fnDecl(), rule->patternDecl(),
                    rule->phase());
}

Stmt *TreeBuilder::build(P::PlacementContext *rule) {
  auto *placement = context.make<PlacementStmt>(range(rule));
  if (!rule->LBRACE()) {
    placement->name = name(rule->ID(0));
    if (rule->LPAREN())
      placement->argument = build(rule->expr(0));
    return placement;
  }
  expectWord(rule->ID(0), "stage");
  expectWord(rule->ID(1), "on");
  placement->stages = build(rule->expr(0));
  placement->stageName = name(rule->name());
  placement->rank = build(rule->expr(1));
  return placement;
}

EdgeEntry TreeBuilder::build(P::EdgeContext *rule) {
  EdgeEntry edge;
  edge.range = range(rule);
  edge.from = build(rule->expr(0));
  edge.to = build(rule->expr(1));
  if (rule->FOR()) {
    edge.loopName = name(rule->name());
    edge.begin = build(rule->expr(2));
    edge.end = build(rule->expr(3));
  }
  return edge;
}

SectionEntry TreeBuilder::build(P::SectionContext *rule) {
  SectionEntry entry;
  entry.range = range(rule);
  entry.name = name(rule->name(0));
  if (rule->ID()) {
    expectWord(rule->ID(), "on");
    entry.stream = name(rule->name(1));
  }
  return entry;
}

BodyStep TreeBuilder::build(P::BodyStepContext *rule) {
  if (rule->ID())
    expectWord(rule->ID(), "last");
  return {range(rule), rule->ID() != nullptr, build(rule->letter()),
          name(rule->name())};
}

Stmt *TreeBuilder::build(P::RequireContext *rule) {
  std::optional<StringLit> message;
  ArrayRef<RequireStmt::Piece> pieces;
  if (TerminalNode *string = rule->STRING()) {
    message = build(string);
    pieces = buildMessage(string);
  }
  return context.make<RequireStmt>(range(rule), build(rule->expr()), message,
                                   pieces);
}

Stmt *TreeBuilder::build(P::ExpectContext *rule) {
  P::MetricContext *metric = rule->metric();
  BinaryOp op = *binaryOperator(rule->relation()->getStart()->getType());
  SMRange argument;
  if (metric->LPAREN())
    argument = {range(metric->LPAREN()).Start, range(metric).End};
  return context.make<ExpectStmt>(
      range(rule), name(metric->ID() ? metric->ID() : metric->IDLE(0)),
      argument, metric->expr() ? build(metric->expr()) : nullptr, op,
      build(rule->expr(0)), rule->IF() ? build(rule->expr(1)) : nullptr);
}

//===----------------------------------------------------------------------===//
// Settings
//===----------------------------------------------------------------------===//

MutableArrayRef<SettingEntry> TreeBuilder::build(P::SettingsContext *rule) {
  if (!rule)
    return {};
  return buildAll(rule->setting());
}

SettingEntry TreeBuilder::build(P::SettingContext *rule) {
  SettingEntry entry;
  entry.range = range(rule);
  if (rule->letters())
    entry.letters = buildAll(rule->letters()->letter());
  else
    entry.word = name(rule->ID()     ? rule->ID()
                      : rule->RANK() ? rule->RANK()
                                     : rule->IN());
  MutableArrayRef<Expr *> values = buildAll(rule->expr());
  if (rule->FOR()) {
    entry.loopName = name(rule->name());
    entry.begin = values[values.size() - 2];
    entry.end = values.back();
    values = values.drop_back(2);
  }
  entry.values = values;
  if (TerminalNode *string = rule->STRING()) {
    expectWord(rule->ID(), "layout");
    entry.text = sourceText(range(string)).drop_front().drop_back();
  }
  entry.isScope = rule->settings() != nullptr;
  entry.entries = build(rule->settings());
  return entry;
}

SettingEntry TreeBuilder::build(P::FsdpEntryContext *rule) {
  SettingEntry entry;
  entry.range = range(rule);
  entry.word = name(rule->STAGES() ? rule->STAGES() : rule->ID());
  entry.values = buildAll(rule->expr());
  return entry;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

Module *TreeBuilder::build(P::FileContext *file, StringRef path,
                           antlr4::CommonTokenStream &tokens) {
  std::vector<ImportDecl> imports;
  std::vector<Stmt *> decls;
  std::vector<ScheduleDecl *> schedules;
  for (P::TopLevelContext *item : file->topLevel()) {
    if (auto *import = item->importDecl())
      imports.push_back({range(import), build(import->STRING())});
    else if (auto *fn = item->fnDecl())
      decls.push_back(build(fn));
    else if (auto *pattern = item->patternDecl())
      decls.push_back(build(pattern));
    else
      schedules.push_back(build(item->scheduleDecl()));
  }
  std::vector<Comment> comments;
  for (antlr4::Token *token : tokens.getTokens()) {
    if (token->getType() != PipeLexer::COMMENT)
      continue;
    SMRange where = offsets.range(token);
    comments.push_back({where, sourceText(where).rtrim()});
  }
  return context.make<Module>(Module{
      context.copy(path), text, context.copy(imports), context.copy(decls),
      context.copy(schedules), context.copy(comments)});
}

} // namespace pipec
