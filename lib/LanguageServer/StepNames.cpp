//===- StepNames.cpp - Names in the text of step IR -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LanguageServer/StepNames.h"

#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace pipec::lsp {

namespace {

/// A walk over the lines of a text.
class StepNameCollector {
public:
  explicit StepNameCollector(StringRef text) : text(text) {}

  std::vector<StepName> collect() {
    for (size_t at = 0; at < text.size();) {
      size_t end = std::min(text.find('\n', at), text.size());
      readLine(at, end);
      at = end + 1;
    }
    return std::move(all);
  }

private:
  void readLine(size_t at, size_t end);
  StringRef word(size_t i) const {
    return i < words.size() ? text.slice(words[i].begin, words[i].end) : "";
  }
  void add(StepName::Kind kind, std::string key, Span span, bool defines) {
    if (key.empty())
      return;
    StringSet<> &known = defined[unsigned(kind)];
    all.push_back({kind, key, span, defines && known.insert(key).second});
  }
  /// Adds the name at word `i`.
  void name(StepName::Kind kind, size_t i, bool defines) {
    if (i < words.size())
      add(kind, word(i).trim('"').str(), words[i], defines);
  }

  StringRef text;
  std::vector<StepName> all;
  /// The words, quoted texts and other characters of the line.
  SmallVector<Span> words;
  StringSet<> defined[5];
};

} // namespace

void StepNameCollector::readLine(size_t at, size_t end) {
  words.clear();
  while (at < end) {
    StringRef rest = text.slice(at, end);
    size_t size = rest.take_while(isWordByte).size();
    if (rest.starts_with("//"))
      break;
    if (rest[0] == '"')
      size = quotedSize(rest);
    size = std::max<size_t>(size, 1);
    if (!isSpace(rest[0]))
      words.push_back({at, at + size});
    at += size;
  }
  using Kind = StepName::Kind;
  StringRef first = word(0);
  if (first == "schedule" && word(1) == "@")
    return name(Kind::Schedule, 2, true);
  if (words.size() == 2 && word(1) == ":")
    return name(Kind::Phase, 0, true);
  if (first == "stream")
    return name(Kind::Stream, 1, true);
  if (first == "section") {
    name(Kind::Section, 1, true);
    if (word(2) == "on")
      name(Kind::Stream, 3, true);
    return;
  }
  if (first == "body") {
    for (size_t i = 1; i < words.size(); ++i)
      if (word(i) == ".")
        name(Kind::Section, i + 1, false);
    return;
  }
  auto isNumbered = [&](size_t i, char letter) {
    StringRef number = word(i);
    return number.consume_front(StringRef(&letter, 1)) && !number.empty() &&
           all_of(number, isDigit);
  };
  for (size_t i = 0; i + 2 < words.size(); ++i) {
    if (!isNumbered(i + 1, 's') || !isNumbered(i + 2, 'm'))
      continue;
    size_t last = i + 2;
    if (word(last + 1) == "." && last + 2 < words.size())
      last += 2; // a slice
    add(Kind::Step,
        text.slice(words[i + 1].begin, words[i + 1].end).str() + " " +
            text.slice(words[i + 2].begin, words[last].end).str(),
        {words[i].begin, words[last].end}, word(i) == "F");
  }
}

size_t quotedSize(StringRef text) {
  size_t size = 1;
  while (size < text.size() && text[size] != '"')
    size += text[size] == '\\' ? 2 : 1;
  return std::min(size + 1, text.size());
}

std::vector<StepName> stepNames(StringRef text) {
  return StepNameCollector(text).collect();
}

const StepName *nameAt(ArrayRef<StepName> names, size_t offset) {
  const StepName *found = find_if(
      names, [&](const StepName &each) { return each.span.contains(offset); });
  return found == names.end() ? nullptr : found;
}

} // namespace pipec::lsp
