//===- TreePrinter.cpp - The tree of a file as indented text --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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
// `chunk`, `micro-batch`, `slice`, `then`, `else`, `lets`, ...
//
//===----------------------------------------------------------------------===//

#include "AST/TreePrinter.h"

#include "AST/Walk.h"

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
  class Line {
  public:
    Line(TreePrinter &printer, SMRange range, const Twine &text)
        : printer(printer) {
      printer.os.indent(2 * printer.depth++) << text;
      if (range.isValid()) {
        LineColumn at = printer.files.lineColumn(range.Start);
        printer.os << ' ' << at.line << ':' << at.column;
      }
      printer.os << '\n';
    }
    Line(const Line &) = delete;
    ~Line() { --printer.depth; }

  private:
    TreePrinter &printer;
  };

  /// The place of a node.
  template <typename T> static SMRange rangeOf(const T &node) {
    if constexpr (std::is_same_v<T, Argument>)
      return node.name.range;
    else if constexpr (std::is_same_v<T, ParamDecl>)
      return node.range();
    else
      return node.range;
  }

  // One `print` per class.
#define PIPEC_CHILD(Role, Member) printMember(Role, node.Member);
#define PIPEC_PART(Condition, Label, Range, Children)                          \
  if (Condition) {                                                             \
    Line part(*this, Range, Label);                                            \
    Children                                                                   \
  }
#define PIPEC_GROUP(Class, Children)                                           \
  void print(const Class &node) { Children }
#define PIPEC_NODE(Class, Label, Children)                                     \
  void print(const Class &node) {                                              \
    Line line(*this, rangeOf(node), Label);                                    \
    Children                                                                   \
  }
#include "AST/Nodes.def"
#undef PIPEC_CHILD
#undef PIPEC_PART

  /// Prints the nodes of a member, below a line with the role. The line of a
  /// block has its place.
  template <typename T> void printMember(StringRef role, const T &member) {
    visitMember(member, [&](const auto &node) {
      if (role.empty())
        return print(node);
      SMRange place;
      if constexpr (std::is_same_v<decltype(node), const Block &>)
        place = node.range;
      Line line(*this, place, role);
      print(node);
    });
  }

  const SourceFiles &files;
  raw_ostream &os;
  unsigned depth = 0;
};

void TreePrinter::print(const Module &module) {
  Line line(*this, {}, "module");
  for (const ImportDecl &import : module.imports)
    Line(*this, import.range, "import " + sourceText(import.path.range));

  // Definitions and schedules in source order.
  ArrayRef<Stmt *> decls = module.decls;
  for (const ScheduleDecl *schedule : module.schedules) {
    ArrayRef<Stmt *> before = decls.take_while([&](const Stmt *decl) {
      return decl->range.Start.getPointer() <
             schedule->range.Start.getPointer();
    });
    printMember("", before);
    decls = decls.drop_front(before.size());
    print(*schedule);
  }
  printMember("", decls);

  for (const Comment &comment : module.comments)
    Line(*this, comment.range, "comment " + comment.text);
}

} // namespace

void printTree(const Module &module, const SourceFiles &files,
               raw_ostream &os) {
  TreePrinter(files, os).print(module);
}

} // namespace pipec::ast
