//===- Formatter.cpp - Programs in canonical form -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Format/Formatter.h"

#include "Format/FormatterDetail.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec::ast {

//===----------------------------------------------------------------------===//
// The text
//===----------------------------------------------------------------------===//

bool Formatter::onOneLine(const char *begin, const char *end) {
  return !StringRef(begin, end - begin).contains('\n');
}

bool Formatter::blankAbove(const char *place) const {
  unsigned ends = 0;
  for (const char *begin = module.text.begin(); place != begin; --place) {
    if (!isSpace(place[-1]))
      return ends > 1;
    ends += place[-1] == '\n';
  }
  return ends > 0;
}

const char *Formatter::skipSpace(const char *place) const {
  const char *end = module.text.end();
  while (place != end) {
    if (isSpace(*place))
      ++place;
    else if (StringRef(place, end - place).starts_with("//"))
      place = std::find(place, end, '\n');
    else
      break;
  }
  return place;
}

const char *Formatter::past(const char *place, char wanted) const {
  while (place != module.text.end()) {
    place = skipSpace(place);
    if (place == module.text.end() || *place++ == wanted)
      break;
  }
  return place;
}

//===----------------------------------------------------------------------===//
// Comments
//===----------------------------------------------------------------------===//

ArrayRef<Comment> Formatter::takeComments(const char *place) {
  size_t begin = nextComment;
  while (nextComment != module.comments.size() &&
         module.comments[nextComment].range.Start.getPointer() < place)
    ++nextComment;
  return module.comments.slice(begin, nextComment - begin);
}

bool Formatter::hasComment(SMRange range) const {
  const Comment *next = partition_point(module.comments, [&](const Comment &c) {
    return c.range.Start.getPointer() < range.Start.getPointer();
  });
  return next != module.comments.end() &&
         next->range.Start.getPointer() < range.End.getPointer();
}

const Comment *Formatter::takeTrailing(const char *place) {
  if (nextComment == module.comments.size())
    return nullptr;
  const Comment &comment = module.comments[nextComment];
  const char *start = comment.range.Start.getPointer();
  if (start < place ||
      StringRef(place, start - place).find_first_not_of(" \t;,") !=
          StringRef::npos)
    return nullptr;
  ++nextComment;
  return &comment;
}

void Formatter::addCommentLines(ArrayRef<Comment> comments, unsigned indent,
                                bool &first) {
  for (const Comment &comment : comments) {
    lines.push_back(FormatLine{indent, comment.text.str()});
    lines.back().blankAbove =
        !first && blankAbove(comment.range.Start.getPointer());
    first = false;
  }
}

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

void Formatter::addCode(std::vector<FormatLine> code, const char *end,
                        bool blank) {
  SmallVector<const Comment *, 4> comments;
  for (const Comment &comment : takeComments(end))
    comments.push_back(&comment);
  if (const Comment *trailing = takeTrailing(end))
    comments.push_back(trailing);

  size_t begin = lines.size();
  if (!comments.empty()) {
    code.back().comment = comments.pop_back_val()->text.str();
    for (const Comment *comment : comments)
      lines.push_back(FormatLine{code.front().indent, comment->text.str()});
  }
  std::move(code.begin(), code.end(), std::back_inserter(lines));
  lines[begin].blankAbove = blank;
}

void Formatter::addDoc(DocRef doc, unsigned indent, const char *end,
                       bool blank) {
  addCode(DocBuilder::render(doc, indent), end, blank);
}

void Formatter::addItem(DocRef doc, unsigned indent, const char *start,
                        const char *end, bool &first) {
  addCommentLines(takeComments(start), indent, first);
  addDoc(doc, indent, end, !first && blankAbove(start));
  first = false;
}

void Formatter::addClose(StringRef text, unsigned indent, const char *end,
                         bool first) {
  addCommentLines(takeComments(end), indent + 2, first);
  addCode({FormatLine{indent, text.str()}}, end, false);
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

namespace {
/// An import, a definition or a schedule.
struct TopLevel {
  SMRange range;
  const ImportDecl *import = nullptr;
  Stmt *decl = nullptr;
  const ScheduleDecl *schedule = nullptr;
};
} // namespace

std::vector<FormatLine> Formatter::format() {
  std::vector<TopLevel> items;
  for (const ImportDecl &import : module.imports)
    items.push_back({import.range, &import});
  for (Stmt *decl : module.decls)
    items.push_back({decl->range, nullptr, decl});
  for (const ScheduleDecl *schedule : module.schedules)
    items.push_back({schedule->range, nullptr, nullptr, schedule});
  std::ranges::sort(items, {}, [](const TopLevel &item) {
    return item.range.Start.getPointer();
  });

  bool first = true;
  size_t previousBegin = 0; // the first line of the previous item
  bool previousSchedule = false;
  for (const TopLevel &item : items) {
    size_t above = lines.size();
    const char *start = item.range.Start.getPointer();
    addCommentLines(takeComments(start), 0, first);
    bool blank = !first && blankAbove(start);
    size_t begin = lines.size();
    if (item.import)
      addDoc(docs.concat({"import ", sourceText(item.import->path.range), ";"}),
             0, item.range.End.getPointer(), blank);
    else if (item.schedule)
      addSchedule(*item.schedule, blank);
    else
      addList(item.decl, 0, first);

    // Schedules, and items of several lines, are separated by blank lines.
    bool apart = previousSchedule || item.schedule ||
                 above - previousBegin > 1 || lines.size() - begin > 1;
    if (above != 0 && apart &&
        std::ranges::none_of(ArrayRef(lines).slice(above, begin + 1 - above),
                             &FormatLine::blankAbove))
      lines[above].blankAbove = true;
    previousBegin = begin;
    previousSchedule = item.schedule != nullptr;
    first = false;
  }
  addCommentLines(takeComments(module.text.end()), 0, first);
  return std::move(lines);
}

void printCanonical(const Module &module, raw_ostream &os) {
  printLines(Formatter(module).format(), os);
}

} // namespace pipec::ast
