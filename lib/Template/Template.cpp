//===- Template.cpp - The parser of templates -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Template/Template.h"

#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Diagnostics/EmitDiags.h"
#include "Support/Words.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec {

/// Parses the template, then each partial once.
class TemplateParser {
public:
  TemplateParser(const TemplateData &data, Template::Loader loader,
                 DiagEngine &diags)
      : data(data), loader(loader), diags(diags) {}

  LogicalResult run(StringRef text);

  Template result;

private:
  using Piece = Template::Piece;

  LogicalResult parseFile(unsigned number, StringRef text);
  LogicalResult parseTag(StringRef tag, char sort, StringRef inside);
  LogicalResult setDelimiters(StringRef tag, StringRef inside);
  LogicalResult openSection(StringRef tag, Piece::Kind kind, StringRef name);
  LogicalResult closeSection(StringRef tag, StringRef name);
  LogicalResult addPartial(StringRef tag, StringRef name);
  LogicalResult addName(StringRef tag, StringRef name, Piece &piece);
  void addText(StringRef text);
  void startLine();
  /// A tag whose line otherwise contains only blanks: those before it, and the
  /// position after the line.
  struct Standalone {
    StringRef indent;
    const char *next;
  };
  std::optional<Standalone> standalone(StringRef tag) const;

  static SMRange rangeOf(StringRef text) {
    return SMRange(SMLoc::getFromPointer(text.begin()),
                   SMLoc::getFromPointer(text.end()));
  }
  Template::File &file() { return result.files[current]; }

  const TemplateData &data;
  Template::Loader loader;
  DiagEngine &diags;
  /// The file number of each partial, and the texts that remain to be parsed.
  StringMap<unsigned> numbers;
  std::vector<StringRef> texts;

  // Of the current file:
  unsigned current = 0;
  StringRef text;
  StringRef open, close;
  bool atLineStart = true;
  /// The pieces and tags of the open sections.
  SmallVector<std::pair<uint32_t, StringRef>> sections;
  /// The blanks before the current tag if it is alone on its line.
  StringRef indent;
};

namespace {

/// The first character of a tag; 'v' for a variable.
char sortOf(StringRef inside) {
  if (inside.empty() || !StringRef("#^/>!=&").contains(inside.front()))
    return 'v';
  return inside.front();
}

} // namespace

LogicalResult TemplateParser::run(StringRef text) {
  texts.push_back(text);
  for (unsigned i = 0; i != texts.size(); ++i) {
    result.files.emplace_back();
    if (failed(parseFile(i, texts[i])))
      return failure();
  }
  return success();
}

std::optional<TemplateParser::Standalone>
TemplateParser::standalone(StringRef tag) const {
  StringRef before = text.take_front(tag.begin() - text.begin());
  StringRef ended = before.rtrim(" \t");
  StringRef next = text.drop_front(tag.end() - text.begin()).ltrim(" \t\r");
  if (!(ended.empty() || ended.back() == '\n') ||
      !(next.empty() || next.front() == '\n'))
    return std::nullopt;
  return Standalone{before.drop_front(ended.size()),
                    next.begin() + !next.empty()};
}

LogicalResult TemplateParser::parseFile(unsigned number, StringRef newText) {
  current = number;
  text = newText;
  open = "{{";
  close = "}}";
  atLineStart = true;
  sections.clear();
  for (const char *at = text.begin(); at != text.end();) {
    StringRef rest(at, text.end() - at);
    size_t begin = rest.find(open);
    if (begin == StringRef::npos) {
      addText(rest);
      break;
    }
    StringRef inside = rest.drop_front(begin + open.size());
    StringRef end = close;
    bool raw = open == "{{" && inside.consume_front("{");
    if (raw)
      end = "}}}";
    size_t size = inside.find(end);
    if (size == StringRef::npos)
      return diags.report(rangeOf(rest.substr(begin, open.size() + raw)),
                          diag::TemplateTagOpen, end);
    StringRef tag(rest.begin() + begin,
                  inside.begin() + size + end.size() - rest.begin() - begin);
    inside = inside.take_front(size).trim();
    char sort = raw ? '&' : sortOf(inside);
    if (!raw && sort != 'v')
      inside = inside.drop_front().trim();
    std::optional<Standalone> alone;
    if (sort != 'v' && sort != '&')
      alone = standalone(tag);
    indent = alone ? alone->indent : StringRef();
    addText(rest.take_front(begin).drop_back(indent.size()));
    if (!alone)
      startLine();
    if (failed(parseTag(tag, sort, inside)))
      return failure();
    atLineStart |= alone.has_value();
    at = alone ? alone->next : tag.end();
  }
  if (file().endsInLine)
    file().pieces.push_back({Piece::Text, "\n", {}});
  if (!sections.empty()) {
    StringRef tag = sections.back().second;
    StringRef name = file().pieces[sections.back().first].text;
    return diags.report(rangeOf(tag), diag::TemplateSectionOpen, name);
  }
  return success();
}

/// Marks the start of an output line, where indentation is inserted.
void TemplateParser::startLine() {
  if (atLineStart)
    file().pieces.push_back({Piece::LineStart, {}, {}});
  atLineStart = false;
}

void TemplateParser::addText(StringRef rest) {
  while (!rest.empty()) {
    size_t size = std::min(rest.find('\n'), rest.size() - 1) + 1;
    StringRef line = rest.take_front(size);
    if (line != "\n" && line != "\r\n")
      startLine();
    rest = rest.drop_front(size);
    atLineStart = line.back() == '\n';
    if (line.end() == text.end() && line.consume_back("\n"))
      file().endsInLine = true;
    if (!line.empty())
      file().pieces.push_back({Piece::Text, line, {}});
  }
}

LogicalResult TemplateParser::parseTag(StringRef tag, char sort,
                                       StringRef inside) {
  if (sort == '!')
    return success();
  if (sort == '=')
    return setDelimiters(tag, inside);
  if (inside.empty())
    return diags.report(rangeOf(tag), diag::TemplateTagEmpty);
  switch (sort) {
  case '#':
    return openSection(tag, Piece::Section, inside);
  case '^':
    return openSection(tag, Piece::Inverted, inside);
  case '/':
    return closeSection(tag, inside);
  case '>':
    return addPartial(tag, inside);
  default:
    Piece piece{sort == '&' ? Piece::RawVariable : Piece::Variable, {}, {}};
    if (failed(addName(tag, inside, piece)))
      return failure();
    file().pieces.push_back(piece);
    return success();
  }
}

LogicalResult TemplateParser::setDelimiters(StringRef tag, StringRef inside) {
  bool closed = inside.consume_back("=");
  auto [first, second] = inside.trim().split(' ');
  second = second.trim();
  if (!closed || first.empty() || second.empty() || first.contains('=') ||
      second.find_first_of(" \t\r\n=") != StringRef::npos)
    return diags.report(rangeOf(tag), diag::TemplateDelimiters, "{{=<% %>=}}");
  open = first;
  close = second;
  return success();
}

LogicalResult TemplateParser::openSection(StringRef tag, Piece::Kind kind,
                                          StringRef name) {
  if (sections.size() == maxSectionDepth)
    return diags.report(rangeOf(tag), diag::TemplateNesting, maxSectionDepth);
  Piece piece{kind, {}, {}};
  if (failed(addName(tag, name, piece)))
    return failure();
  if (piece.numNames == 1)
    if (std::optional<unsigned> bit = data.flagBit(file().names.back()))
      piece.flag = uint64_t(1) << *bit;
  sections.emplace_back(file().pieces.size(), tag);
  file().pieces.push_back(piece);
  return success();
}

LogicalResult TemplateParser::closeSection(StringRef tag, StringRef name) {
  if (sections.empty())
    return diags.report(rangeOf(tag), diag::TemplateSectionNotOpen, name);
  auto [number, opened] = sections.pop_back_val();
  Piece &section = file().pieces[number];
  if (section.text != name)
    return diags
        .report(rangeOf(tag), diag::TemplateSectionCrossed, name, section.text)
        .note(rangeOf(opened), diag::NoteSectionOpened, section.text);
  section.target = file().pieces.size();
  return success();
}

LogicalResult TemplateParser::addPartial(StringRef tag, StringRef name) {
  if (!all_of(name, [](char c) { return isAlnum(c) || c == '_' || c == '-'; }))
    return diags.report(rangeOf(tag), diag::TemplatePartialName, name);
  auto [it, isNew] = numbers.try_emplace(name, texts.size());
  if (isNew) {
    FailureOr<StringRef> text = loader(name, rangeOf(tag));
    if (failed(text))
      return failure();
    texts.push_back(*text);
  }
  Piece piece{Piece::Partial, name, indent};
  piece.target = it->second;
  file().pieces.push_back(piece);
  return success();
}

LogicalResult TemplateParser::addName(StringRef tag, StringRef name,
                                      Piece &piece) {
  piece.text = name;
  piece.firstName = file().names.size();
  SmallVector<StringRef> parts;
  name.split(parts, '.');
  for (StringRef part : parts) {
    std::optional<unsigned> number = data.nameNumber(part);
    if (!number) {
      auto report =
          diags.report(rangeOf(tag), diag::TemplateName, shortened(part));
      if (StringRef near = nearestWord(part, data.names()); !near.empty())
        report.note(DiagLoc(), diag::NoteDidYouMean, near);
      return report;
    }
    file().names.push_back(*number);
  }
  piece.numNames = parts.size();
  return success();
}

FailureOr<Template> Template::parse(StringRef text, const TemplateData &data,
                                    Loader loader, DiagEngine &diags) {
  TemplateParser parser(data, loader, diags);
  if (failed(parser.run(text)))
    return failure();
  return std::move(parser.result);
}

LogicalResult renderEmbedded(StringRef text, const TemplateData &data,
                             raw_ostream &os, DiagEngine &diags,
                             Template::Loader loader) {
  FailureOr<Template> parsed = Template::parse(text, data, loader, diags);
  assert(succeeded(parsed) && "a template of the compiler has a mistake");
  return parsed->render(data, os, diags);
}

} // namespace pipec
