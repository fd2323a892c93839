//===- TreePrinter.cpp - The tree of a file as indented text --------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One node per line, children indented by two columns, in source order:
//
//   schedule gpipe 2:1
//     param ranks p 2:16
//       number 4 2:26
//     placement loop 3:3
//     phase warmup 4:3
//       repeat 4:14
//         name m 4:21
//         steps 4:25
//           step F 4:25
//
// A child whose role would be ambiguous is printed below a line that names it:
// `chunk`, `micro-batch`, `then`, `else`, `lets`, ...
//
//===----------------------------------------------------------------------===//

#include "AST/TreePrinter.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace llvm;

namespace pipec::ast {
namespace {

class TreePrinter {
public:
  TreePrinter(const SourceFiles &files, raw_ostream &os)
      : files(files), os(os) {}

  void print(const Module &module);

private:
  /// One line of output; the children are printed while the object lives.
  class Node {
  public:
    Node(TreePrinter &printer, SMRange range, const Twine &text)
        : printer(printer) {
      printer.os.indent(2 * printer.depth++) << text;
      if (range.isValid()) {
        LineColumn at = printer.files.lineColumn(range.Start);
        printer.os << ' ' << at.line << ':' << at.column;
      }
      printer.os << '\n';
    }
    Node(TreePrinter &printer, const Twine &part)
        : Node(printer, SMRange(), part) {}
    Node(const Node &) = delete;
    ~Node() { --printer.depth; }

  private:
    TreePrinter &printer;
  };

  void print(const Expr *expr);
  void print(StringRef part, const Expr *expr);
  void print(ArrayRef<Expr *> exprs) {
    for (const Expr *expr : exprs)
      print(expr);
  }
  void print(const Stmt *stmt);
  void print(const Block &block) {
    for (const Stmt *stmt : block.stmts)
      print(stmt);
  }
  void printIf(const IfStmt *stmt);
  void printSteps(const StepsStmt *stmt);
  void printFn(const FnDecl *fn);
  void printArguments(ArrayRef<Argument> args) {
    for (const Argument &arg : args)
      Node(*this, arg.name.range, "argument " + arg.name.text);
  }
  void printPlacement(const PlacementStmt *stmt);
  void printEdges(StringRef word, const EdgesStmt *stmt);
  void printRequire(const RequireStmt *stmt);
  void printSettings(StringRef word, const SettingsStmt *stmt);
  void print(const SettingEntry &entry);
  void print(const ScheduleDecl &schedule);
  static std::string joined(ArrayRef<Letter> letters);
  static std::string quoted(SMRange literal) {
    return std::string(literal.Start.getPointer(), literal.End.getPointer());
  }

  const SourceFiles &files;
  raw_ostream &os;
  unsigned depth = 0;
};

std::string TreePrinter::joined(ArrayRef<Letter> letters) {
  std::string text;
  for (Letter letter : letters)
    text += (text.empty() ? "" : " & ") + letterName(letter).str();
  return text;
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

void TreePrinter::print(StringRef part, const Expr *expr) {
  Node node(*this, part);
  print(expr);
}

void TreePrinter::print(const Expr *expr) {
  switch (expr->kind) {
  case Expr::Kind::Number:
    Node(*this, expr->range, "number " + cast<NumberExpr>(expr)->text);
    return;
  case Expr::Kind::Name:
    Node(*this, expr->range, "name " + cast<NameExpr>(expr)->name);
    return;
  case Expr::Kind::Letter:
    Node(*this, expr->range,
         "letter " + letterName(cast<LetterExpr>(expr)->letter));
    return;
  case Expr::Kind::CostOf: {
    const auto *cost = cast<CostOfExpr>(expr);
    Node(*this, expr->range,
         "cost " + (cost->members.empty() ? cost->word.text.str()
                                          : joined(cost->members)));
    return;
  }
  case Expr::Kind::Unary: {
    const auto *unary = cast<UnaryExpr>(expr);
    Node node(*this, expr->range,
              unary->op == UnaryOp::Neg ? "unary -" : "unary !");
    print(unary->operand);
    return;
  }
  case Expr::Kind::Binary: {
    const auto *binary = cast<BinaryExpr>(expr);
    Node node(*this, expr->range, "binary " + spelling(binary->op));
    print(binary->lhs);
    print(binary->rhs);
    return;
  }
  case Expr::Kind::Conditional: {
    const auto *conditional = cast<ConditionalExpr>(expr);
    Node node(*this, expr->range, "conditional");
    print(conditional->condition);
    print(conditional->whenTrue);
    print(conditional->whenFalse);
    return;
  }
  case Expr::Kind::Call: {
    const auto *call = cast<CallExpr>(expr);
    Node node(*this, expr->range, "call " + call->callee.text);
    print(call->args);
    return;
  }
  }
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

void TreePrinter::printSteps(const StepsStmt *stmt) {
  Node node(*this, stmt->range, stmt->steps.size() > 1 ? "overlap" : "steps");
  for (const StepRef &step : stmt->steps) {
    Node stepNode(*this, step.range,
                  "step " + letterName(step.letter) + (step.all ? "*" : ""));
    if (step.chunk)
      print("chunk", step.chunk);
    if (step.microbatch)
      print("micro-batch", step.microbatch);
  }
}

void TreePrinter::printIf(const IfStmt *stmt) {
  Node node(*this, stmt->range, "if");
  print(stmt->condition);
  {
    Node then(*this, stmt->then.range, "then");
    print(stmt->then);
  }
  if (!stmt->otherwise)
    return;
  Node otherwise(*this, stmt->otherwise->range, "else");
  print(*stmt->otherwise);
}

void TreePrinter::printFn(const FnDecl *fn) {
  Node node(*this, fn->range, "fn " + fn->name.text);
  printArguments(fn->args);
  for (const LetStmt *let : fn->lets)
    print(let);
  print("result", fn->result);
}

void TreePrinter::print(const Stmt *stmt) {
  switch (stmt->kind) {
  case Stmt::Kind::Let: {
    const auto *let = cast<LetStmt>(stmt);
    Node node(*this, stmt->range, "let " + let->name.text);
    print(let->value);
    return;
  }
  case Stmt::Kind::Fn:
    return printFn(cast<FnDecl>(stmt));
  case Stmt::Kind::Pattern: {
    const auto *pattern = cast<PatternDecl>(stmt);
    Node node(*this, stmt->range, "pattern " + pattern->name.text);
    printArguments(pattern->args);
    print(pattern->body);
    return;
  }
  case Stmt::Kind::Repeat: {
    const auto *repeat = cast<RepeatStmt>(stmt);
    Node node(*this, stmt->range, "repeat");
    print("count", repeat->count);
    print(repeat->body);
    return;
  }
  case Stmt::Kind::For: {
    const auto *loop = cast<ForStmt>(stmt);
    Node node(*this, stmt->range,
              "for " + loop->name.text + (loop->reverse ? " reverse" : ""));
    print("begin", loop->begin);
    print("end", loop->end);
    print(loop->body);
    return;
  }
  case Stmt::Kind::If:
    return printIf(cast<IfStmt>(stmt));
  case Stmt::Kind::Steps:
    return printSteps(cast<StepsStmt>(stmt));
  case Stmt::Kind::Idle: {
    Node node(*this, stmt->range, "idle");
    if (const Expr *count = cast<IdleStmt>(stmt)->count)
      print(count);
    return;
  }
  case Stmt::Kind::Use: {
    const auto *use = cast<UseStmt>(stmt);
    Node node(*this, stmt->range, "use " + use->pattern.text);
    print(use->args);
    return;
  }
  case Stmt::Kind::At: {
    const auto *at = cast<AtStmt>(stmt);
    Node node(*this, stmt->range, "at");
    print("slot", at->slot);
    print(at->body);
    return;
  }
  case Stmt::Kind::Fill: {
    Node node(*this, stmt->range, "fill");
    print(cast<FillStmt>(stmt)->body);
    return;
  }
  case Stmt::Kind::Require:
    return printRequire(cast<RequireStmt>(stmt));
  case Stmt::Kind::Placement:
    return printPlacement(cast<PlacementStmt>(stmt));
  case Stmt::Kind::Connect:
    return printEdges("connect", cast<EdgesStmt>(stmt));
  case Stmt::Kind::Graph:
    return printEdges("graph", cast<EdgesStmt>(stmt));
  case Stmt::Kind::Tie: {
    Node node(*this, stmt->range, "tie");
    print(cast<TieStmt>(stmt)->stages);
    return;
  }
  case Stmt::Kind::Alias: {
    Node node(*this, stmt->range, "alias");
    for (const StringLit &name : cast<AliasStmt>(stmt)->names)
      Node(*this, name.range, "name " + quoted(name.range));
    return;
  }
  case Stmt::Kind::ForwardOnly:
    Node(*this, stmt->range, "forward_only");
    return;
  case Stmt::Kind::Cost:
    return printSettings("cost", cast<SettingsStmt>(stmt));
  case Stmt::Kind::Memory:
    return printSettings("memory", cast<SettingsStmt>(stmt));
  case Stmt::Kind::Fsdp:
    return printSettings("fsdp", cast<SettingsStmt>(stmt));
  case Stmt::Kind::Expect: {
    const auto *expect = cast<ExpectStmt>(stmt);
    Node node(*this, stmt->range,
              "expect " + expect->metric.text +
                  (expect->ofEveryRank() ? "(rank) " : " ") +
                  spelling(expect->relation));
    if (expect->rank && !expect->ofEveryRank())
      print("rank", expect->rank);
    print(expect->value);
    if (expect->condition)
      print("if", expect->condition);
    return;
  }
  case Stmt::Kind::Phase: {
    const auto *phase = cast<PhaseStmt>(stmt);
    Node node(*this, stmt->range, "phase " + phase->name.text);
    print(phase->body);
    return;
  }
  }
}

//===----------------------------------------------------------------------===//
// Schedules and files
//===----------------------------------------------------------------------===//

void TreePrinter::printRequire(const RequireStmt *stmt) {
  Node node(*this, stmt->range, "require");
  print(stmt->condition);
  if (!stmt->message)
    return;
  Node message(*this, stmt->message->range,
               "message " + quoted(stmt->message->range));
  for (const RequireStmt::Piece &piece : stmt->pieces)
    if (piece.name)
      print(piece.name);
}

void TreePrinter::printPlacement(const PlacementStmt *stmt) {
  Node node(*this, stmt->range,
            stmt->name.text.empty() ? Twine("placement")
                                    : "placement " + stmt->name.text);
  if (stmt->argument)
    print(stmt->argument);
  if (!stmt->stages)
    return;
  print("stages", stmt->stages);
  Node stage(*this, stmt->stageName.range, "stage " + stmt->stageName.text);
  print(stmt->rank);
}

void TreePrinter::printEdges(StringRef word, const EdgesStmt *stmt) {
  Node node(*this, stmt->range, word);
  for (const EdgeEntry &edge : stmt->edges) {
    Node edgeNode(*this, edge.range, "edge");
    print("from", edge.from);
    print("to", edge.to);
    if (!edge.isLoop())
      continue;
    Node loop(*this, edge.loopName.range, "for " + edge.loopName.text);
    print("begin", edge.begin);
    print("end", edge.end);
  }
}

void TreePrinter::printSettings(StringRef word, const SettingsStmt *stmt) {
  Node node(*this, stmt->range, word);
  for (const SettingEntry &entry : stmt->entries)
    print(entry);
}

void TreePrinter::print(const SettingEntry &entry) {
  Node node(*this, entry.range,
            "setting " + (entry.letters.empty() ? entry.word.text.str()
                                                : joined(entry.letters)));
  print(entry.values);
  if (entry.hasText()) {
    SMRange literal(SMLoc::getFromPointer(entry.text.begin() - 1),
                    SMLoc::getFromPointer(entry.text.end() + 1));
    Node(*this, literal, "string " + quoted(literal));
  }
  for (const SettingEntry &inner : entry.entries)
    print(inner);
}

void TreePrinter::print(const ScheduleDecl &schedule) {
  Node node(*this, schedule.range, "schedule " + schedule.name.text);
  for (const ParamDecl &param : schedule.params) {
    bool labelled = !param.label.text.empty();
    SMLoc start = labelled ? param.label.range.Start : param.name.range.Start;
    Node paramNode(*this, {start, param.name.range.End},
                   "param " + (labelled ? param.label.text + " " : Twine()) +
                       param.name.text);
    if (param.defaultValue)
      print(param.defaultValue);
  }
  print(schedule.body);
}

void TreePrinter::print(const Module &module) {
  Node node(*this, "module");
  for (const ImportDecl &import : module.imports)
    Node(*this, import.range, "import " + quoted(import.path.range));

  // Definitions and schedules in source order.
  const Stmt *const *decl = module.decls.begin();
  for (const ScheduleDecl *schedule : module.schedules) {
    const char *start = schedule->range.Start.getPointer();
    for (; decl != module.decls.end() &&
           (*decl)->range.Start.getPointer() < start;
         ++decl)
      print(*decl);
    print(*schedule);
  }
  for (; decl != module.decls.end(); ++decl)
    print(*decl);

  for (const Comment &comment : module.comments)
    Node(*this, comment.range, "comment " + comment.text);
}

} // namespace

void printTree(const Module &module, const SourceFiles &files,
               raw_ostream &os) {
  TreePrinter(files, os).print(module);
}

} // namespace pipec::ast
