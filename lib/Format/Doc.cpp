//===- Doc.cpp - Text with optional line breaks ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Format/Doc.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec::ast {

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

DocRef DocBuilder::doc(const Part &part) {
  if (part.doc || part.expr)
    return part.doc ? part.doc : expr(part.expr);
  return new (arena.Allocate<Doc>())
      Doc{Doc::Kind::Text, false, 0, part.text, {}};
}

DocRef DocBuilder::make(Doc::Kind kind, unsigned value, ArrayRef<Part> parts) {
  DocRef *docs = arena.Allocate<DocRef>(parts.size());
  for (auto [number, part] : enumerate(parts))
    docs[number] = doc(part);
  return new (arena.Allocate<Doc>())
      Doc{kind, false, value, {}, {docs, parts.size()}};
}

DocRef DocBuilder::commas(ArrayRef<Part> parts) {
  Parts all;
  for (const Part &part : parts) {
    if (!all.empty())
      all.append({",", line()});
    all.push_back(part);
  }
  return concat(all);
}

DocRef DocBuilder::arguments(ArrayRef<Expr *> args) {
  if (args.empty())
    return doc("()");
  return group({"(", softLine(), commas(Parts(args.begin(), args.end())), ")"});
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

/// The precedence of the expression itself.
static unsigned bindingOf(const Expr *expr) {
  if (isa<ConditionalExpr>(expr))
    return bindAny;
  if (const auto *binary = dyn_cast<BinaryExpr>(expr))
    return precedence(binary->op);
  return isa<UnaryExpr>(expr) ? bindUnary : bindPrimary;
}

static bool isComparison(BinaryOp op) {
  return op >= BinaryOp::EQ && op <= BinaryOp::GE;
}

/// The minimum precedence of an operand of `op`. The left operand in a chain of
/// the same precedence is part of the chain and does not count as an operand.
static unsigned operandBinding(BinaryOp op) {
  if (isComparison(op))
    return precedence(BinaryOp::Add);
  return precedence(op == BinaryOp::Or ? BinaryOp::And : op) + 1;
}

DocRef DocBuilder::binary(const BinaryExpr *expr) {
  // A chain of operators of one precedence breaks at all of them or at none. It
  // may be long, so this is a loop.
  unsigned level = precedence(expr->op);
  bool chains = !isComparison(expr->op);
  SmallVector<const BinaryExpr *, 8> chain = {expr};
  while (chains) {
    const auto *left = dyn_cast<BinaryExpr>(chain.back()->lhs);
    if (!left || precedence(left->op) != level)
      break;
    chain.push_back(left);
  }

  unsigned binding = operandBinding(expr->op);
  Parts rest;
  for (const BinaryExpr *link : reverse(chain))
    rest.append(
        {line(), spelling(link->op), " ", this->expr(link->rhs, binding)});
  return make(Doc::Kind::Group, 0,
              Part(concat({this->expr(chain.back()->lhs, binding),
                           nest(4, concat(rest))})));
}

/// `a ? b : c ? d : e`; if it is broken, each condition and its value are on a
/// line.
DocRef DocBuilder::conditional(const ConditionalExpr *expr) {
  constexpr unsigned binding = 1; // that of `||`
  Parts parts;
  const Expr *last = expr;
  for (; const auto *arm = dyn_cast<ConditionalExpr>(last);
       last = arm->whenFalse)
    parts.append({this->expr(arm->condition, binding), " ? ",
                  this->expr(arm->whenTrue, binding), line(), ": "});
  parts.push_back(this->expr(last, binding));
  return group(parts);
}

DocRef DocBuilder::bare(const Expr *expr) {
  switch (expr->kind) {
  case Expr::Kind::Number:
    return doc(cast<NumberExpr>(expr)->text);
  case Expr::Kind::Name:
    return doc(cast<NameExpr>(expr)->name);
  case Expr::Kind::Letter:
    return doc(letterName(cast<LetterExpr>(expr)->letter));
  case Expr::Kind::CostOf: {
    const auto *cost = cast<CostOfExpr>(expr);
    return concat({"cost(", copied(leftSide(cost->members, cost->word)), ")"});
  }
  case Expr::Kind::Unary: {
    const auto *unary = cast<UnaryExpr>(expr);
    return concat({unary->op == UnaryOp::Neg ? "-" : "!",
                   this->expr(unary->operand, bindPrimary)});
  }
  case Expr::Kind::Binary:
    return binary(cast<BinaryExpr>(expr));
  case Expr::Kind::Conditional:
    return conditional(cast<ConditionalExpr>(expr));
  case Expr::Kind::Call: {
    const auto *call = cast<CallExpr>(expr);
    return concat({call->callee.text, arguments(call->args)});
  }
  }
  llvm_unreachable("all kinds are handled");
}

DocRef DocBuilder::expr(const Expr *expr, unsigned binding) {
  DocRef inner = bare(expr);
  return bindingOf(expr) >= binding ? inner : concat({"(", inner, ")"});
}

//===----------------------------------------------------------------------===//
// On one line
//===----------------------------------------------------------------------===//

/// Appends `doc` to `line`. `atHead` is true while the line may get another
/// head. Returns false if the line has more than `width` bytes.
static bool writeFlat(DocRef doc, size_t width, FormatLine &line,
                      bool &atHead) {
  ArrayRef<DocRef> parts = doc->parts;
  bool isHead = doc->kind == Doc::Kind::Head && atHead;
  if (doc->kind == Doc::Kind::Text) {
    line.body += doc->text;
    atHead &= doc->text.empty() || doc->text.ends_with(" ");
  } else if (doc->kind == Doc::Kind::Break && doc->spaced) {
    line.body += ' ';
  } else if (isHead) {
    parts = parts.drop_back(); // the space
  }
  for (DocRef part : parts)
    if (!writeFlat(part, width, line, atHead))
      return false;
  if (isHead) {
    line.heads.push_back({doc->value, std::move(line.body)});
    line.body.clear();
    atHead = true;
  }
  size_t used = line.body.size();
  for (const LineHead &head : line.heads)
    used += head.text.size() + 1;
  return used <= width;
}

std::optional<FormatLine> DocBuilder::renderFlat(DocRef doc, unsigned indent) {
  FormatLine line{indent};
  bool atHead = true;
  if (indent >= formatWidth ||
      !writeFlat(doc, formatWidth - indent, line, atHead))
    return std::nullopt;
  return line;
}

//===----------------------------------------------------------------------===//
// On several lines
//===----------------------------------------------------------------------===//

namespace {
struct Pending {
  DocRef doc;
  unsigned indent;
  bool flat;
};
} // namespace

/// True if `first`, then `pending`, fit in `room` columns up to the next break.
static bool fits(Pending first, ArrayRef<Pending> pending, size_t room) {
  SmallVector<Pending, 32> rest = {first};
  while (true) {
    if (rest.empty()) {
      if (pending.empty())
        return true;
      rest.push_back(pending.back());
      pending = pending.drop_back();
    }
    Pending next = rest.pop_back_val();
    switch (next.doc->kind) {
    case Doc::Kind::Text:
      if (next.doc->text.size() > room)
        return false;
      room -= next.doc->text.size();
      break;
    case Doc::Kind::Break:
      if (!next.flat)
        return true;
      if (next.doc->spaced && room-- == 0)
        return false;
      break;
    default:
      for (DocRef part : reverse(next.doc->parts))
        rest.push_back({part, next.indent, next.flat});
      break;
    }
  }
}

std::vector<FormatLine> DocBuilder::render(DocRef doc, unsigned indent) {
  std::vector<FormatLine> lines(1, FormatLine{indent});
  std::vector<Pending> pending = {{doc, indent, false}};
  while (!pending.empty()) {
    Pending next = pending.back();
    pending.pop_back();
    FormatLine &line = lines.back();
    switch (next.doc->kind) {
    case Doc::Kind::Text:
      line.body += next.doc->text;
      continue;
    case Doc::Kind::Break:
      if (!next.flat)
        lines.push_back(FormatLine{next.indent});
      else if (next.doc->spaced)
        line.body += ' ';
      continue;
    case Doc::Kind::Nest:
      next.indent += next.doc->value;
      break;
    case Doc::Kind::Group:
      if (!next.flat) {
        size_t used = line.indent + line.body.size();
        next.flat = fits({next.doc->parts[0], next.indent, true}, pending,
                         used < formatWidth ? formatWidth - used : 0);
      }
      break;
    case Doc::Kind::Concat:
    case Doc::Kind::Head:
      break;
    }
    for (DocRef part : reverse(next.doc->parts))
      pending.push_back({part, next.indent, next.flat});
  }
  return lines;
}

} // namespace pipec::ast
