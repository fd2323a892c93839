//===- TemplateData.h - The data of a template ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The data is a tree of objects and lists of objects, computed on demand: a
// node is a few numbers that the implementation interprets, so data of any size
// needs no memory.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace pipec {

/// An object or a list. The implementation defines the meaning of the numbers.
struct DataNode {
  uint16_t type = 0;
  /// The index of the object in its list, and the size of the list.
  uint32_t index = 0;
  uint32_t size = 0;
  uint32_t a = 0;
  uint32_t b = 0;

  bool isLast() const { return index + 1 == size; }
};

/// The value of a name in an object.
struct DataValue {
  enum Kind : uint8_t {
    /// The object does not have this name, but an enclosing one may.
    Missing,
    /// The object has this name, without a value.
    Null,
    Bool,
    Number,
    Text,
    Object,
    List,
  };

  Kind kind = Missing;
  /// For a number or a boolean.
  int64_t number = 0;
  /// Lives as long as the data.
  llvm::StringRef text;
  /// An object, or a list with its `size`.
  DataNode node;

  static DataValue null() { return {Null, 0, {}, {}}; }
  static DataValue of(bool value) { return {Bool, value, {}, {}}; }
  static DataValue of(int64_t value) { return {Number, value, {}, {}}; }
  static DataValue of(llvm::StringRef text) { return {Text, 0, text, {}}; }
  static DataValue object(DataNode node) { return {Object, 0, {}, node}; }
  static DataValue list(DataNode node) { return {List, 0, {}, node}; }

  /// True if a section with this value is rendered.
  bool isTrue() const {
    switch (kind) {
    case Missing:
    case Null:
      return false;
    case Bool:
    case Number:
      return number != 0;
    case Text:
      return !text.empty();
    case Object:
      return true;
    case List:
      return node.size != 0;
    }
    return false;
  }
};

/// Booleans of an object, one bit each: which of them `values` has, and their
/// values.
struct DataFlags {
  uint64_t known = 0;
  uint64_t values = 0;
};

/// The data of one rendering.
class TemplateData {
public:
  virtual ~TemplateData() = default;

  /// The number of a name that some object has; empty for other names.
  virtual std::optional<unsigned> nameNumber(llvm::StringRef name) const = 0;
  /// All names, for suggestions in messages.
  virtual llvm::ArrayRef<llvm::StringRef> names() const = 0;
  virtual DataNode root() const = 0;
  /// True if an object has the name with this number.
  virtual bool has(const DataNode &object, unsigned name) const = 0;
  /// The value of the name with this number, which the object must have.
  virtual DataValue get(const DataNode &object, unsigned name) const = 0;
  /// The bit that a name has in `flags`, if it may have one.
  virtual std::optional<unsigned> flagBit(unsigned name) const {
    return std::nullopt;
  }
  /// The booleans of an object that are cheap to compute together. Saves `get`
  /// for each of them, half of the time of --emit=cpp --cpp=table.
  virtual DataFlags flags(const DataNode &object) const { return {}; }
  /// The object at `index` of a list.
  virtual DataNode item(const DataNode &list, uint32_t index) const = 0;
  /// The approximate number of objects. The number of times that a template may
  /// render each of them is limited.
  virtual uint64_t numObjects() const = 0;
};

/// Data for templates that only substitute texts. The texts must outlive this
/// object.
class TextData : public TemplateData {
public:
  void set(llvm::StringRef name, llvm::StringRef text) {
    known.push_back(name);
    texts.push_back(text);
  }

  std::optional<unsigned> nameNumber(llvm::StringRef name) const override {
    const auto *found = llvm::find(known, name);
    if (found == known.end())
      return std::nullopt;
    return found - known.begin();
  }
  llvm::ArrayRef<llvm::StringRef> names() const override { return known; }
  DataNode root() const override { return {}; }
  bool has(const DataNode &, unsigned) const override { return true; }
  DataValue get(const DataNode &, unsigned name) const override {
    return DataValue::of(texts[name]);
  }
  DataNode item(const DataNode &list, uint32_t) const override { return list; }
  uint64_t numObjects() const override { return 1; }

private:
  llvm::SmallVector<llvm::StringRef, 4> known;
  llvm::SmallVector<llvm::StringRef, 4> texts;
};

} // namespace pipec
