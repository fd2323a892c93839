//===- CppSteps.cpp - Step code of generated executors -----*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   // warmup
//   x.at(7);
//   for (int i = 0; i < 3; ++i) {
//     x.forward(0, i);
//     x.sendForward(0, i);
//   }
//
// Phases are comments, `at` names the line of the source for messages when it
// changes, loop variables are i, j and k from the outside, and what differs
// between the ranks of a family is read from its row `n`. The text is written
// as clang-format would in LLVM style.
//
//===----------------------------------------------------------------------===//

#include "Emit/CppSteps.h"

#include "Emit/CppNames.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec {

namespace {

constexpr unsigned columnLimit = 80;

/// The executor's function for a step.
StringRef functionName(StepKind kind) {
  switch (kind) {
  case StepKind::F:
    return "forward";
  case StepKind::B:
    return "backward";
  case StepKind::I:
    return "backwardInput";
  case StepKind::W:
    return "backwardWeight";
  case StepKind::SendF:
    return "sendForward";
  case StepKind::RecvF:
    return "recvForward";
  case StepKind::SendB:
    return "sendBackward";
  case StepKind::RecvB:
    return "recvBackward";
  case StepKind::Unshard:
    return "unshard";
  case StepKind::Reshard:
    return "reshard";
  case StepKind::ReduceGrad:
    return "reduceGrad";
  case StepKind::WaitSendF:
    return "waitSendForward";
  case StepKind::WaitSendB:
    return "waitSendBackward";
  case StepKind::WaitReduceGrad:
    return "waitReduceGrad";
  case StepKind::Bubble:
    break;
  }
  llvm_unreachable("bubbles are left out");
}

/// The runtime's name of the kind: the function's, capitalised.
std::string kindName(StepKind kind) {
  std::string name = functionName(kind).str();
  name[0] = char(name[0] - 'a' + 'A');
  return name;
}

/// Writes the function of one family.
class FamilyWriter {
public:
  FamilyWriter(const Schedule &schedule, const RankFamily &family,
               const LoopTree &tree, LineOf lineOf, raw_ostream &os)
      : schedule(schedule), family(family), tree(tree), lineOf(lineOf), os(os) {
  }

  void write();

private:
  /// A loop that the text is in.
  struct Loop {
    char variable;
    int64_t growth;
  };

  void writeRows();
  void writeNodes(ArrayRef<LoopNode> nodes);
  void writeGroup(ArrayRef<Step> group);
  void writeLoop(const LoopNode &loop);
  void writeCall(StringRef head, ArrayRef<std::string> arguments);
  void setLine(unsigned line);
  std::string nextNumber();
  std::string nextMicrobatch();
  std::string arguments(Step step);
  /// The one line of all steps in `nodes`; nothing when they differ.
  std::optional<unsigned> commonLine(ArrayRef<LoopNode> nodes) const;
  std::string rowType() const { return "R" + family.name.substr(1) + "Row"; }
  unsigned indent() const { return 2 + 2 * loops.size(); }

  const Schedule &schedule;
  const RankFamily &family;
  const LoopTree &tree;
  LineOf lineOf;
  raw_ostream &os;
  size_t cursor = 0;
  SmallVector<Loop, maxLoopDepth> loops;
  std::optional<unsigned> phase;
  /// What `at` was told last; nothing at the start of a body with several.
  std::optional<unsigned> line = 0;
};

std::string FamilyWriter::nextNumber() {
  FamilyNumber number = family.numbers[cursor++];
  if (number.column < 0)
    return std::to_string(number.value);
  return "n." + family.columnNames[number.column];
}

/// `3`, `i + 3`, `4 * i + j + n.first`, `7 - i`
std::string FamilyWriter::nextMicrobatch() {
  FamilyNumber number = family.numbers[cursor];
  std::string base = nextNumber();
  std::string text, minus;
  for (const Loop &loop : loops) {
    std::string &to = loop.growth > 0 ? text : minus;
    if (loop.growth < 0)
      to += " - ";
    else if (!to.empty())
      to += " + ";
    if (int64_t size = std::abs(loop.growth); size != 1)
      to += std::to_string(size) + " * ";
    to += loop.variable;
  }
  bool isZero = number.column < 0 && number.value == 0;
  if (text.empty())
    text = base;
  else if (!isZero)
    text += " + " + base;
  return text + minus;
}

std::string FamilyWriter::arguments(Step step) {
  std::string text = nextNumber();
  if (hasMicrobatch(step.kind()))
    text += ", " + nextMicrobatch();
  return text;
}

std::optional<unsigned>
FamilyWriter::commonLine(ArrayRef<LoopNode> nodes) const {
  std::optional<unsigned> common;
  for (const LoopNode &node : nodes) {
    if (node.isLoop()) {
      std::optional<unsigned> inner = commonLine(tree.body(node));
      if (!inner || (common && *common != *inner))
        return std::nullopt;
      common = inner;
      continue;
    }
    for (Step step : tree.group(node)) {
      unsigned line = lineOf(step);
      if (common && *common != line)
        return std::nullopt;
      common = line;
    }
  }
  return common;
}

void FamilyWriter::setLine(unsigned newLine) {
  if (line == newLine)
    return;
  line = newLine;
  os.indent(indent()) << "x.at(" << newLine << ");\n";
}

/// `head(a, b, c);`, continued under its first argument where it is too long.
void FamilyWriter::writeCall(StringRef head, ArrayRef<std::string> arguments) {
  os.indent(indent()) << head << '(';
  unsigned start = indent() + head.size() + 1;
  unsigned column = start;
  for (size_t i = 0; i != arguments.size(); ++i) {
    unsigned size = arguments[i].size() + (i + 1 == arguments.size() ? 2 : 1);
    if (i != 0) {
      if (column + 1 + size > columnLimit) {
        os << '\n';
        os.indent(start);
        column = start;
      } else {
        os << ' ';
        ++column;
      }
    }
    os << arguments[i] << (i + 1 == arguments.size() ? "" : ",");
    column += size;
  }
  os << ");\n";
}

void FamilyWriter::writeGroup(ArrayRef<Step> group) {
  setLine(lineOf(group.front()));
  if (group.size() == 1) {
    std::string text = arguments(group.front());
    os.indent(indent()) << "x." << functionName(group.front().kind()) << '('
                        << text << ");\n";
    return;
  }
  std::vector<std::string> members;
  for (Step step : group)
    members.push_back("pipec::runtime::" + kindName(step.kind()) + "{" +
                      arguments(step) + "}");
  writeCall(isCompute(group.front().kind()) ? "x.overlap" : "x.batch", members);
}

void FamilyWriter::writeLoop(const LoopNode &loop) {
  ArrayRef<LoopNode> body = tree.body(loop);
  std::optional<unsigned> common = commonLine(body);
  if (common)
    setLine(*common);
  char variable = "ijk"[loops.size()];
  os.indent(indent()) << "for (int " << variable << " = 0; " << variable
                      << " < " << nextNumber() << "; ++" << variable << ") {\n";
  if (!common)
    line.reset();
  loops.push_back({variable, loop.growth});
  writeNodes(body);
  loops.pop_back();
  os.indent(indent()) << "}\n";
}

void FamilyWriter::writeNodes(ArrayRef<LoopNode> nodes) {
  for (const LoopNode &node : nodes) {
    LoopNode leaf = node;
    while (leaf.isLoop())
      leaf = tree.body(leaf).front();
    unsigned newPhase = tree.group(leaf).front().phase();
    if (phase != newPhase && newPhase < schedule.phases.size()) {
      phase = newPhase;
      os.indent(indent()) << "// " << cppComment(schedule.phases[newPhase])
                          << '\n';
    }
    if (node.isLoop())
      writeLoop(node);
    else
      writeGroup(tree.group(node));
  }
}

/// The numbers in which the ranks of the family differ.
void FamilyWriter::writeRows() {
  os << "\nstruct " << rowType() << " {\n";
  for (const std::string &name : family.columnNames)
    os << "  int " << name << ";\n";
  os << "};\n// clang-format off\ninline constexpr " << rowType() << ' '
     << family.name << "Rows[] = {\n";
  for (size_t i = 0; i != family.ranks.size(); ++i) {
    std::vector<int64_t> row;
    for (const std::vector<int64_t> &column : family.columns)
      row.push_back(column[i]);
    os << "    {";
    ListSeparator separator;
    for (int64_t value : row)
      os << separator << value;
    os << "}, // rank " << family.ranks[i] << '\n';
  }
  os << "};\n// clang-format on\n";
}

void FamilyWriter::write() {
  if (!family.columns.empty())
    writeRows();
  os << "\ntemplate <class Worker> void " << family.name << "(Worker &x"
     << (family.columns.empty() ? "" : ", const " + rowType() + " &n")
     << ") {\n";
  writeNodes(tree.roots);
  os << "}\n";
}

} // namespace

void writeFamily(const Schedule &schedule, const RankFamily &family,
                 const LoopTree &tree, LineOf lineOf, raw_ostream &os) {
  FamilyWriter(schedule, family, tree, lineOf, os).write();
}

void writeTable(const Schedule &schedule, unsigned rank, LineOf lineOf,
                raw_ostream &os) {
  os << "\n// clang-format off\ninline constexpr pipec::runtime::Step rank"
     << rank << "[] = {\n";
  std::optional<unsigned> phase;
  unsigned onLine = 0;
  for (Step step : stepsToWrite(schedule.ranks[rank])) {
    if (phase != step.phase() && step.phase() < schedule.phases.size()) {
      if (onLine)
        os << '\n';
      onLine = 0;
      phase = step.phase();
      os << "    // " << cppComment(schedule.phases[*phase]) << '\n';
    }
    os << (onLine == 0 ? "    {" : " {") << kindName(step.kind()) << ", "
       << step.stage() << ", " << step.microbatch() << ", " << lineOf(step)
       << (step.joined() ? ", true}," : "},");
    if (++onLine == 4) {
      os << '\n';
      onLine = 0;
    }
  }
  if (onLine)
    os << '\n';
  os << "};\n// clang-format on\n";
}

void writeNumbers(ArrayRef<int64_t> numbers, unsigned indent, raw_ostream &os) {
  unsigned column = 0;
  for (int64_t number : numbers) {
    std::string text = std::to_string(number) + ",";
    if (column != 0 && column + 1 + text.size() > columnLimit) {
      os << '\n';
      column = 0;
    }
    if (column == 0) {
      os.indent(indent);
      column = indent;
    } else {
      os << ' ';
      ++column;
    }
    os << text;
    column += text.size();
  }
}

} // namespace pipec
