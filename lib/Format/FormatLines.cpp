//===- FormatLines.cpp - Lines of a formatted program ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The alignment of heads and comments depends only on the lines, so formatting
// is idempotent.
//
// Heads. A run consists of consecutive lines with the same indentation and the
// same kind of first head. All of them pad that head to the longest. Within the
// run, consecutive lines with the same kind of second head are aligned
// likewise:
//
//   warmup   { repeat w     { F } }
//   steady   { repeat m - w { F B } }
//
// If a padded line would exceed the width, the run is aligned with one level of
// heads less.
//
// Comments. The trailing comments of consecutive lines are aligned, two columns
// after the longest code. A run ends before a line that would push a comment
// past the width.
//
//===----------------------------------------------------------------------===//

#include "Format/Doc.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Unicode.h"

#include <algorithm>

using namespace llvm;

namespace pipec::ast {

/// The width on a terminal; the number of bytes if it is unknown.
static size_t columns(StringRef text) {
  int width = sys::unicode::columnWidthUTF8(text);
  return width < 0 ? text.size() : size_t(width);
}

size_t FormatLine::width() const {
  size_t sum = columns(body);
  for (const LineHead &head : heads)
    sum += columns(head.text) + 1;
  return sum;
}

/// Pads the heads of a run at the levels [`level`, `levels`).
static void padHeads(MutableArrayRef<FormatLine> run, size_t level,
                     size_t levels) {
  if (level == levels)
    return;
  auto hasHead = [&](const FormatLine &line) {
    return line.heads.size() > level;
  };
  for (size_t begin = 0; begin != run.size();) {
    size_t end = begin + 1;
    if (hasHead(run[begin])) {
      while (end != run.size() && hasHead(run[end]) &&
             run[end].heads[level].kind == run[begin].heads[level].kind)
        ++end;
      size_t longest = 0;
      for (size_t i = begin; i != end; ++i)
        longest = std::max(longest, columns(run[i].heads[level].text));
      for (size_t i = begin; i != end; ++i) {
        std::string &text = run[i].heads[level].text;
        text.append(longest - columns(text), ' ');
      }
      padHeads(run.slice(begin, end - begin), level + 1, levels);
    }
    begin = end;
  }
}

static void alignRun(MutableArrayRef<FormatLine> run) {
  size_t levels = 0;
  for (const FormatLine &line : run)
    levels = std::max(levels, line.heads.size());
  for (; levels != 0; --levels) {
    std::vector<FormatLine> padded(run.begin(), run.end());
    padHeads(padded, 0, levels);
    if (llvm::all_of(padded, [](const FormatLine &line) {
          return line.indent + line.width() <= formatWidth;
        })) {
      std::move(padded.begin(), padded.end(), run.begin());
      return;
    }
  }
}

static void alignHeads(MutableArrayRef<FormatLine> lines) {
  for (size_t begin = 0; begin != lines.size();) {
    size_t end = begin + 1;
    const FormatLine &first = lines[begin];
    if (!first.heads.empty()) {
      while (end != lines.size() && !lines[end].blankAbove &&
             lines[end].indent == first.indent && !lines[end].heads.empty() &&
             lines[end].heads[0].kind == first.heads[0].kind)
        ++end;
      if (end - begin > 1)
        alignRun(lines.slice(begin, end - begin));
    }
    begin = end;
  }
}

/// The column of the trailing comment of each line; 0 if there is none.
static std::vector<size_t> commentColumns(ArrayRef<FormatLine> lines) {
  std::vector<size_t> result(lines.size(), 0);
  for (size_t begin = 0; begin != lines.size();) {
    size_t column = 0, longest = 0, end = begin;
    for (; end != lines.size() && !lines[end].comment.empty(); ++end) {
      if (end != begin && lines[end].blankAbove)
        break;
      size_t newColumn =
          std::max(column, lines[end].indent + lines[end].width() + 2);
      size_t newLongest = std::max(longest, columns(lines[end].comment));
      if (end != begin && newColumn + newLongest > formatWidth)
        break;
      column = newColumn;
      longest = newLongest;
    }
    std::fill(result.begin() + begin, result.begin() + end, column);
    begin = std::max(end, begin + 1);
  }
  return result;
}

void printLines(std::vector<FormatLine> lines, raw_ostream &os) {
  alignHeads(lines);
  std::vector<size_t> at = commentColumns(lines);
  for (size_t i = 0; i != lines.size(); ++i) {
    const FormatLine &line = lines[i];
    if (line.blankAbove && i != 0)
      os << '\n';
    os.indent(line.indent);
    for (const LineHead &head : line.heads)
      os << head.text << ' ';
    os << line.body;
    if (!line.comment.empty())
      os.indent(at[i] - line.indent - line.width()) << line.comment;
    os << '\n';
  }
}

} // namespace pipec::ast
