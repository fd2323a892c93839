//===- StepsFormat.cpp - Canonical text of step IR with comments ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LanguageServer/OpenDocument.h"
#include "LanguageServer/StepNames.h"
#include "StepText/StepPrinter.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec::lsp {

/// Splits a line where its comment begins.
static std::pair<StringRef, StringRef> splitComment(StringRef line) {
  for (size_t i = 0; i < line.size(); ++i) {
    if (line.substr(i).starts_with("//"))
      return {line.take_front(i).trim(), line.drop_front(i).trim()};
    if (line[i] == '"')
      i += quotedSize(line.drop_front(i)) - 1;
  }
  return {line.trim(), ""};
}

/// The words of a line with the blanks that the printer puts between them.
static std::string spaced(StringRef code) {
  static constexpr StringLiteral operators[] = {
      "->", "<-", "==", "!=", "<=", ">=", "=", "<", ">", "&", "{", "}"};
  std::string text;
  bool blank = false;
  auto add = [&](StringRef piece, bool before, bool after) {
    if (!text.empty() && text.back() != ' ' && (before || blank))
      text += ' ';
    text += piece;
    blank = after;
    code = code.drop_front(piece.size());
  };
  while (!code.empty()) {
    size_t blanks = code.size() - code.ltrim(" \t").size();
    code = code.drop_front(blanks);
    // `pipec-steps` is one word.
    if (code.starts_with("-") && !code.starts_with("->") && !blanks &&
        !text.empty() && isWordByte(text.back()))
      blank = false;
    StringRef rest = code;
    const auto *found = find_if(
        operators, [&](StringRef each) { return rest.starts_with(each); });
    if (found != std::end(operators)) {
      add(*found, true, true);
    } else if (StringRef(",:)").contains(code[0])) {
      blank = false;
      add(code.take_front(), false, code[0] != ':');
    } else if (StringRef("(./").contains(code[0])) {
      blank = false;
      add(code.take_front(), false, false);
    } else if (code[0] == '@' || code[0] == '-') {
      add(code.take_front(), code[0] == '@', false);
    } else {
      size_t size = code[0] == '"' ? quotedSize(code)
                                   : code.take_while(isWordByte).size();
      add(code.take_front(std::max<size_t>(size, 1)), false, true);
    }
  }
  return text;
}

std::string formatSteps(StringRef text, const Schedule &schedule) {
  text.consume_front(byteOrderMark);
  SmallVector<StringRef> lines;
  text.split(lines, '\n');
  std::string result;
  raw_string_ostream os(result);
  if (none_of(lines, [](StringRef line) {
        return !splitComment(line).second.empty();
      })) {
    printSteps(schedule, os);
    return result;
  }
  unsigned depth = 0;
  bool labelled = false, blank = false;
  // Comments of their own lines are indented like the line after them.
  SmallVector<StringRef> comments;
  auto flush = [&](unsigned indent) {
    for (StringRef comment : comments) {
      if (!comment.empty())
        os.indent(indent) << comment;
      os << '\n';
    }
    comments.clear();
  };
  for (StringRef line : lines) {
    auto [code, comment] = splitComment(line);
    if (code.empty()) {
      // One empty line of several stays, where something precedes it.
      bool begins = comments.empty() && os.tell() == 0;
      if (!comment.empty() || (!begins && !blank))
        comments.push_back(comment);
      blank = comment.empty();
      continue;
    }
    blank = false;
    depth -= code == "}" && depth != 0;
    bool label = depth == 2 && code.ends_with(":");
    labelled = depth == 2 && (labelled || label);
    unsigned indent = 2 * depth + (labelled && !label ? 2 : 0);
    flush(indent);
    os.indent(indent) << spaced(code);
    if (!comment.empty())
      os << "  " << comment;
    os << '\n';
    // The sizes follow the brace of the schedule.
    depth +=
        code.ends_with("{") || (depth == 0 && code.starts_with("schedule"));
  }
  while (!comments.empty() && comments.back().empty())
    comments.pop_back();
  flush(0);
  return result;
}

} // namespace pipec::lsp
