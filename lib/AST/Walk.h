//===- Walk.h - The children of the nodes of the tree -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A walk passes every node in its own class, so that a visitor is a set of
// overloads:
//
//   void visit(const NameExpr &name) { ... }
//   template <typename T> void visit(const T &node) {
//     forEachChild(node, [&](const auto &child) { visit(child); });
//   }
//
//===----------------------------------------------------------------------===//

#pragma once

#include "AST/Decl.h"

namespace pipec::ast {

/// Calls `visit` with the node in its own class.
template <typename T, typename Visitor>
void visitNode(const T &node, Visitor &&visit) {
  if constexpr (std::is_same_v<T, Expr>) {
    switch (node.kind) {
#define PIPEC_EXPR(Id, Class)                                                  \
  case Expr::Kind::Id:                                                         \
    return visit(llvm::cast<Class>(node));
#include "AST/Nodes.def"
    }
  } else if constexpr (std::is_same_v<T, Stmt>) {
    switch (node.kind) {
#define PIPEC_STMT(Id, Class)                                                  \
  case Stmt::Kind::Id:                                                         \
    return visit(llvm::cast<Class>(node));
#include "AST/Nodes.def"
    }
  } else {
    visit(node);
  }
}

/// Calls `visit` for each node of a member of a node: a node, a pointer or
/// optional, which may be empty, or a list.
template <typename T, typename Visitor>
void visitMember(const T &member, Visitor &&visit) {
  if constexpr (requires { *member; }) {
    if (member)
      visitMember(*member, visit);
  } else if constexpr (requires { member.begin(); }) {
    for (const auto &each : member)
      visitMember(each, visit);
  } else {
    visitNode(member, visit);
  }
}

#define PIPEC_CHILD(Role, Member) visitMember(node.Member, visit);
#define PIPEC_PART(Condition, Label, Range, Children) Children
#define PIPEC_GROUP(Class, Children)                                           \
  template <typename Visitor>                                                  \
  void visitChildren([[maybe_unused]] const Class &node,                       \
                     [[maybe_unused]] Visitor &visit) {                        \
    Children                                                                   \
  }
#define PIPEC_NODE(Class, Label, Children) PIPEC_GROUP(Class, Children)
#include "AST/Nodes.def"
#undef PIPEC_CHILD
#undef PIPEC_PART

/// Calls `visit` for each child of `node`, in the order of AST/Nodes.def.
template <typename T, typename Visitor>
void forEachChild(const T &node, Visitor &&visit) {
  visitNode(node, [&](const auto &self) { visitChildren(self, visit); });
}

} // namespace pipec::ast
