//===- Position.h - Positions in the text of an editor ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace pipec::lsp {

/// A position of the protocol: a line and a column in UTF-16 code units, both
/// from 0.
struct Position {
  uint32_t line = 0;
  uint32_t character = 0;
  friend bool operator==(Position, Position) = default;
};

/// A part of a text: the offsets of its first byte and of the byte after its
/// last one.
struct Span {
  size_t begin = 0;
  size_t end = 0;
  bool contains(size_t offset) const {
    return begin <= offset && offset <= end;
  }
  friend bool operator==(Span, Span) = default;
};

/// Converts between offsets in bytes and positions. The text must outlive it.
class LineMap {
public:
  explicit LineMap(llvm::StringRef text);

  /// The position of an offset, or of the end if the offset is larger.
  Position position(size_t offset) const;
  /// The offset of a position. One past the end of a line is the end of the
  /// line, one inside a character its beginning.
  size_t offset(Position position) const;

  /// A span as a `Range` of the protocol.
  llvm::json::Value range(Span span) const;

private:
  /// The line without its end.
  llvm::StringRef line(size_t number) const;

  llvm::StringRef text;
  std::vector<size_t> starts;
};

/// Reads a `Position` of the protocol; fails if `value` is not one.
std::optional<Position> positionFrom(const llvm::json::Value *value);

} // namespace pipec::lsp
