//===- TextBuffer.h - Text on its way to a stream ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Compiler.h"
#include "llvm/Support/raw_ostream.h"

#include <array>
#include <charconv>
#include <cstring>

namespace pipec {

/// Collects text and hands it to a stream in large pieces: for emitters of
/// lists of millions of steps, which put several short pieces into each line or
/// cell. Through the stream alone a whole run takes 1.6 times as long
/// (benchmarks/README.md). Other output uses the stream.
class TextBuffer {
public:
  explicit TextBuffer(llvm::raw_ostream &os) : os(os) {}
  TextBuffer(const TextBuffer &) = delete;
  ~TextBuffer() { flush(); }

  // A call would take longer than most texts.
  LLVM_ATTRIBUTE_ALWAYS_INLINE void text(llvm::StringRef s) {
    if (s.size() > size_t(end() - at)) {
      flush();
      if (s.size() > bytes.size()) {
        os << s;
        return;
      }
    }
    std::memcpy(at, s.data(), s.size());
    at += s.size();
  }
  template <typename Int> void number(Int value) {
    at = std::to_chars(reserve(24), end(), value).ptr;
  }

  /// Room for `size` bytes, at most the buffer's; `commit` says how far it was
  /// used.
  char *reserve(size_t size) {
    if (size > size_t(end() - at))
      flush();
    return at;
  }
  void commit(char *end) { at = end; }

private:
  char *end() { return bytes.data() + bytes.size(); }
  void flush() {
    os.write(bytes.data(), at - bytes.data());
    at = bytes.data();
  }

  llvm::raw_ostream &os;
  std::array<char, 1 << 16> bytes;
  char *at = bytes.data();
};

} // namespace pipec
