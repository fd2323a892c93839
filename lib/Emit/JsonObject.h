//===- JsonObject.h - JSON of many small objects ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <concepts>
#include <utility>
#include <vector>

namespace pipec {

/// Writes a JSON string that may be embedded in a page: `<` is escaped too.
void printJsonString(llvm::raw_ostream &os, llvm::StringRef text);

/// Writes one object on one line, for traces and pages with millions of them:
/// `json::OStream` indents, and does not escape `<`. The object ends with the
/// lifetime of this one.
///
///   JsonObject(os)("kind", "F")("stage", 3)("last", true);
class JsonObject {
public:
  explicit JsonObject(llvm::raw_ostream &os) : os(os) { os << '{'; }
  JsonObject(const JsonObject &) = delete;
  ~JsonObject() { os << '}'; }

  /// Begins a member, whose key and value the caller writes to the result.
  llvm::raw_ostream &next() {
    if (!std::exchange(first, false))
      os << ',';
    return os;
  }
  /// The same with a key that needs no escapes.
  llvm::raw_ostream &key(llvm::StringRef name) {
    return next() << '"' << name << "\":";
  }
  /// Begins the next member on a new line.
  JsonObject &newLine() {
    next() << '\n';
    first = true;
    return *this;
  }

  JsonObject &operator()(llvm::StringRef name, llvm::StringRef text) {
    printJsonString(key(name), text);
    return *this;
  }
  /// A literal that needs no escapes.
  JsonObject &operator()(llvm::StringRef name, const char *text) {
    key(name) << '"' << text << '"';
    return *this;
  }
  JsonObject &operator()(llvm::StringRef name, bool value) {
    key(name) << (value ? "true" : "false");
    return *this;
  }
  JsonObject &operator()(llvm::StringRef name, std::integral auto value) {
    key(name) << value;
    return *this;
  }
  JsonObject &operator()(llvm::StringRef name,
                         const std::vector<int64_t> &values) {
    return array(name, values, [&](int64_t value) { os << value; });
  }
  /// Writes a list; `write` writes one of its items.
  template <class Range, class Write>
  JsonObject &array(llvm::StringRef name, const Range &items, Write write) {
    key(name) << '[';
    llvm::interleave(items, os, write, ",");
    os << ']';
    return *this;
  }

private:
  llvm::raw_ostream &os;
  bool first = true;
};

} // namespace pipec
