//===- ImportNames.cpp - The imports in the text of a program -------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Serve/ImportNames.h"

#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec {

/// The length of the string literal at the start of `text`, with its quotes; 0
/// if it does not end on its line.
static size_t stringLength(StringRef text) {
  for (size_t i = 1; i < text.size() && text[i] != '\n' && text[i] != '\r';
       ++i) {
    if (text[i] == '"')
      return i + 1;
    if (text[i] == '\\')
      ++i;
  }
  return 0;
}

/// The contents of a string literal: a backslash stands for the character after
/// it.
static std::string unescape(StringRef body) {
  std::string text;
  for (size_t i = 0; i < body.size(); ++i) {
    if (body[i] == '\\' && i + 1 < body.size())
      ++i;
    text += body[i];
  }
  return text;
}

std::vector<std::string> importNames(StringRef text) {
  std::vector<std::string> names;
  bool afterImport = false;
  while (!text.empty()) {
    if (isSpace(text[0])) {
      text = text.drop_front();
      continue;
    }
    if (text.starts_with("//")) {
      text = text.drop_until([](char c) { return c == '\n' || c == '\r'; });
      continue;
    }
    size_t length = 1;
    bool isImport = false;
    if (text[0] == '"') {
      length = stringLength(text);
      if (length && afterImport)
        names.push_back(unescape(text.substr(1, length - 2)));
      length = std::max<size_t>(length, 1);
    } else if (isWordByte(text[0]) && !isDigit(text[0])) {
      StringRef word = text.take_while(isWordByte);
      length = word.size();
      isImport = word == "import";
    }
    afterImport = isImport;
    text = text.drop_front(length);
  }
  return names;
}

bool leavesFolder(StringRef import) {
  SmallVector<StringRef> parts;
  import.split(parts, '/');
  return import.starts_with("/") || is_contained(parts, "..");
}

} // namespace pipec
