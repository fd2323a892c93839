//===- ValueType.h - The types of values of options -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Driver/Choices.h"
#include "Emit/Emitter.h"
#include "IR/StageGraph.h"

#include "llvm/ADT/StringRef.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace pipec {

enum class ValueKind : uint8_t {
  Flag,
  Switch, // --name, --no-name, --name=true, --name=false
  Text,
  Number,
  Choice,
  Form, // a choice among the forms of the command's output
  Share,
  Duration,
  Time,
  Factor,
  Window,
  Edges,
  Size,
  Goal,
  File,
  Schedule, // a file or the name of a program
};

/// The type of the value of an option. The functions of namespace `opttype`
/// make one.
struct ValueType {
  ValueKind kind = ValueKind::Flag;
  /// The placeholder for the value in --help.
  llvm::StringLiteral placeholder = "";
  /// The range of a number.
  uint64_t least = 0, most = 0;
  /// For a choice: its noun in messages, and the list of choices.
  llvm::StringLiteral noun = "";
  ChoiceFunction choices = nullptr;
  /// The option may be given more than once.
  bool isList = false;
  /// The value of the option without one; empty if it needs a value.
  llvm::StringLiteral implied = "";

  bool isFlag() const { return kind == ValueKind::Flag; }
  bool isChoice() const {
    return kind == ValueKind::Choice || kind == ValueKind::Form;
  }
  bool isFile() const {
    return kind == ValueKind::File || kind == ValueKind::Schedule;
  }

  constexpr ValueType list() const {
    ValueType other = *this;
    other.isList = true;
    return other;
  }
  constexpr ValueType orAlone(llvm::StringLiteral value) const {
    ValueType other = *this;
    other.implied = value;
    return other;
  }

  /// Returns the part of `value` that is not of this type, if there is one.
  /// Choices are not checked.
  std::optional<llvm::StringRef> findWrong(llvm::StringRef value) const;
  /// Describes values of this type, for messages: `a number from 1 to 1024`.
  std::string description() const;
};

/// The types that Options.def names.
namespace opttype {
inline constexpr uint64_t max32 = UINT32_MAX, max64 = UINT64_MAX;
inline constexpr ValueType Flag{ValueKind::Flag};
inline constexpr ValueType Switch{ValueKind::Switch};
inline constexpr ValueType Form{ValueKind::Form, "CHOICE", 0, 0,
                                "format",        nullptr};
inline constexpr ValueType Share{ValueKind::Share, "PERCENT"};
inline constexpr ValueType Duration{ValueKind::Duration, "TIME"};
inline constexpr ValueType Time{ValueKind::Time, "TIME"};
inline constexpr ValueType Factor{ValueKind::Factor, "F"};
inline constexpr ValueType Window{ValueKind::Window, "FROM:TO"};
inline constexpr ValueType Size{ValueKind::Size, "SIZE"};
inline constexpr ValueType Goal{ValueKind::Goal, "memory"};
inline constexpr ValueType File{ValueKind::File, "FILE"};
inline constexpr ValueType Folder{ValueKind::File, "FOLDER"};
inline constexpr ValueType Trace{ValueKind::File, "TRACE"};
inline constexpr ValueType Input{ValueKind::Schedule, "FILE|NAME"};
constexpr ValueType Text(llvm::StringLiteral placeholder) {
  return {ValueKind::Text, placeholder};
}
constexpr ValueType Edges(llvm::StringLiteral placeholder) {
  return {ValueKind::Edges, placeholder};
}
constexpr ValueType Number(uint64_t least = 0, uint64_t most = max32) {
  return {ValueKind::Number, "N", least, most};
}
constexpr ValueType OneOf(llvm::StringLiteral noun, ChoiceFunction choices) {
  return {ValueKind::Choice, "CHOICE", 0, 0, noun, choices};
}
} // namespace opttype

// These return the value of a text, or `std::nullopt` if it is not of the type.

/// `1%` or `0.01`, in millionths.
std::optional<uint64_t> parseShare(llvm::StringRef text);
/// `10s`, `2m` or `500ms`; without a unit in seconds.
std::optional<std::chrono::milliseconds> parseDuration(llvm::StringRef text);
/// `FROM:TO` with FROM < TO.
std::optional<TimeWindow> parseWindow(llvm::StringRef text);
/// `memory` or `memory,within=1%`: the share, 0 in the first case.
std::optional<uint64_t> parseGoal(llvm::StringRef text);
/// One of `0->2,1->2`.
std::optional<StageGraph::Edge> parseEdge(llvm::StringRef text);

} // namespace pipec
