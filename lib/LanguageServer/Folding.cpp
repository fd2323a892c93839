//===- Folding.cpp - The parts of a document that an editor can hide ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// By the text alone, so that they stay while a program has a syntax error.
//
//===----------------------------------------------------------------------===//

#include "LanguageServer/OpenDocument.h"

using namespace llvm;

namespace pipec::lsp {

namespace {

/// The blocks in braces, whose last line stays visible, and the comments of
/// several lines.
class Folding {
public:
  json::Array of(StringRef text) {
    for (int line = 0; !text.empty(); ++line) {
      auto [here, rest] = text.split('\n');
      addLine(here.trim(), line);
      text = rest;
      last = line;
    }
    endComment(last + 1);
    return std::move(all);
  }

private:
  void add(int from, int to, StringRef kind) {
    if (to <= from)
      return;
    json::Object fold{{"startLine", from}, {"endLine", to}};
    if (!kind.empty())
      fold["kind"] = kind;
    all.push_back(std::move(fold));
  }

  void endComment(int line) {
    if (comment)
      add(*comment, line - 1, "comment");
    comment.reset();
  }

  void addLine(StringRef words, int line) {
    if (words.starts_with("//")) {
      if (!comment)
        comment = line;
      return;
    }
    endComment(line);
    bool inText = false;
    for (size_t i = 0; i != words.size(); ++i) {
      char c = words[i];
      if (inText) {
        inText = c != '"';
        i += c == '\\' && i + 1 != words.size();
      } else if (c == '"') {
        inText = true;
      } else if (words.substr(i).starts_with("//")) {
        return;
      } else if (c == '{') {
        open.push_back(line);
      } else if (c == '}' && !open.empty()) {
        add(open.back(), line - 1, "");
        open.pop_back();
      }
    }
  }

  json::Array all;
  int last = 0;
  /// The lines of the braces that are open.
  std::vector<int> open;
  /// The first line of a comment.
  std::optional<int> comment;
};

} // namespace

Expected<json::Value> Server::foldings(const json::Object &, Target &at) {
  StringRef text = at.document->document.text;
  return text.size() > maxDocumentBytes ? json::Array() : Folding().of(text);
}

} // namespace pipec::lsp
