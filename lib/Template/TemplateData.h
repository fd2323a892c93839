//===- TemplateData.h - What a template is rendered with --------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Data is a tree of objects and lists of objects. It is computed when it is
// asked for: an object is a few numbers whose meaning the implementation knows,
// so data of any size takes no memory of its own.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_TEMPLATE_TEMPLATEDATA_H
#define PIPEC_TEMPLATE_TEMPLATEDATA_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>

namespace pipec {

/// An object of the data, or a list. All numbers are the implementation's.
struct DataNode {
  uint16_t type = 0;
  /// The object's number in its list, and the size of the list.
  uint32_t index = 0;
  uint32_t size = 0;
  uint32_t a = 0;
  uint32_t b = 0;

  bool isLast() const { return index + 1 == size; }
};

/// The value of a name in an object.
struct DataValue {
  enum Kind : uint8_t {
    /// The object does not have the name; an enclosing one may.
    Missing,
    /// It has the name, without a value.
    Null,
    Bool,
    Number,
    Text,
    Object,
    List,
  };

  Kind kind = Missing;
  /// Of a number or a boolean.
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

  /// Whether a section with this value is rendered.
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

  /// The number of a name that some object has; nothing for any other name.
  virtual std::optional<unsigned> nameNumber(llvm::StringRef name) const = 0;
  /// All names, for suggestions.
  virtual llvm::ArrayRef<llvm::StringRef> names() const = 0;
  virtual DataNode root() const = 0;
  /// Whether an object has a name, given by its number.
  virtual bool has(const DataNode &object, unsigned name) const = 0;
  /// The value of a name that the object has.
  virtual DataValue get(const DataNode &object, unsigned name) const = 0;
  /// The bit that a name has in `flags`, if it may have one.
  virtual std::optional<unsigned> flagBit(unsigned name) const {
    return std::nullopt;
  }
  /// The booleans of an object that cost next to nothing together. Saves `get`
  /// for each of them.
  virtual DataFlags flags(const DataNode &object) const { return {}; }
  /// The object at `index` of a list.
  virtual DataNode item(const DataNode &list, uint32_t index) const = 0;
  /// About how many objects there are. A template may render each of them a
  /// limited number of times.
  virtual uint64_t numObjects() const = 0;
};

} // namespace pipec

#endif // PIPEC_TEMPLATE_TEMPLATEDATA_H
