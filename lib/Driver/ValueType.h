//===- ValueType.h - The types of values of options -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Emit/Emitter.h"
#include "IR/StageGraph.h"
#include "Import/CostText.h"
#include "Support/DiagEngine.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pipec {

/// One value of an option with a fixed list of values.
struct Choice {
  llvm::StringRef name;
  /// Its meaning, for --help; may be empty.
  llvm::StringRef summary;
};

using ChoiceFunction = std::vector<Choice> (*)();

/// The lists that Options.def names. If there is a table of the things listed,
/// the list is generated from it.
std::vector<Choice> inputFormatChoices();
std::vector<Choice> modelChoices();
std::vector<Choice> targetChoices();
std::vector<Choice> torchVersionChoices();
std::vector<Choice> dialectChoices();
std::vector<Choice> frameworkTargetChoices();
std::vector<Choice> planConsumerChoices();
std::vector<Choice> emitChoices();
std::vector<Choice> cppChoices();
std::vector<Choice> timelineChoices();
std::vector<Choice> communicatorChoices();
std::vector<Choice> memoryViewChoices();
std::vector<Choice> verifyLevelChoices();
std::vector<Choice> sortChoices();
std::vector<Choice> searchPlacementChoices();
std::vector<Choice> backwardChoices();
std::vector<Choice> memoryByChoices();
std::vector<Choice> diagnosticsFormatChoices();
std::vector<Choice> colorChoices();

/// Reports that `word` is not one of `choices`, which are values of `noun`,
/// with the most similar one and all of them.
InFlightDiagnostic reportUnknownChoice(DiagEngine &diags, llvm::StringRef noun,
                                       llvm::StringRef word,
                                       llvm::ArrayRef<llvm::StringRef> choices);

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
/// A time that is not negative.
std::optional<Rational> parseTime(llvm::StringRef text);
/// One of `step:0.3,transfer:1`; no spread for `profile`.
std::optional<std::pair<JitterScope, std::optional<Rational>>>
parseSpread(llvm::StringRef text);
/// A number from 0.1 to 10.
std::optional<Rational> parseFactor(llvm::StringRef text);

enum class ValueKind : uint8_t {
  Flag,
  Switch, // --name, --no-name, --name=true, --name=false
  Text,
  Number,
  Choice,
  Form, // a choice among the forms of the command's output
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
  /// For a text: its reader, and a description; null for any text.
  bool (*accepts)(llvm::StringRef text) = nullptr;
  llvm::StringLiteral wanted = "";
  /// For a choice: a text that this is true of is a value, too.
  bool (*also)(llvm::StringRef text) = nullptr;
  /// A value is a list of such values, separated by commas.
  bool hasCommas = false;
  /// The option may be given more than once.
  bool isList = false;
  /// The value of the option without one; empty if it needs a value.
  llvm::StringLiteral implied = "";

  constexpr ValueType orElse(llvm::StringLiteral shown,
                             bool (*is)(llvm::StringRef text)) const {
    ValueType other = *this;
    other.placeholder = shown;
    other.also = is;
    return other;
  }

  bool isFlag() const { return kind == ValueKind::Flag; }
  bool isChoice() const {
    return (kind == ValueKind::Choice && !hasCommas) || kind == ValueKind::Form;
  }
  bool isFile() const {
    return kind == ValueKind::File || kind == ValueKind::Schedule;
  }

  constexpr ValueType list() const {
    ValueType other = *this;
    other.isList = true;
    return other;
  }
  constexpr ValueType withCommas() const {
    ValueType other = *this;
    other.hasCommas = true;
    return other;
  }
  constexpr ValueType orAlone(llvm::StringLiteral value) const {
    ValueType other = *this;
    other.implied = value;
    return other;
  }

  /// The parts of a value with commas; otherwise the value.
  llvm::SmallVector<llvm::StringRef> partsOf(llvm::StringRef value) const;
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
inline constexpr ValueType Form{ValueKind::Form, "CHOICE", 0, 0, "format"};
inline constexpr ValueType File{ValueKind::File, "FILE"};
inline constexpr ValueType Folder{ValueKind::File, "FOLDER"};
inline constexpr ValueType Trace{ValueKind::File, "TRACE"};
inline constexpr ValueType Input{ValueKind::Schedule, "FILE|NAME"};
constexpr ValueType Text(llvm::StringLiteral placeholder) {
  return {ValueKind::Text, placeholder};
}
/// A text that has a value by `Parse`.
template <auto Parse>
constexpr ValueType Parsed(llvm::StringLiteral placeholder,
                           llvm::StringLiteral wanted = "") {
  ValueType type = Text(placeholder);
  type.accepts = [](llvm::StringRef text) { return Parse(text).has_value(); };
  type.wanted = wanted;
  return type;
}
inline constexpr ValueType Share =
    Parsed<parseShare>("PERCENT", "a share such as 1% or 0.01");
inline constexpr ValueType Duration =
    Parsed<parseDuration>("TIME", "a time such as 10s, 2m or 500ms");
inline constexpr ValueType Time = Parsed<parseTime>("TIME", "a time");
inline constexpr ValueType Factor =
    Parsed<parseFactor>("F", "a number from 0.1 to 10");
inline constexpr ValueType Window =
    Parsed<parseWindow>("FROM:TO", "FROM:TO with FROM < TO");
inline constexpr ValueType Size = Parsed<parseMemorySize>("SIZE");
inline constexpr ValueType Goal =
    Parsed<parseGoal>("memory", "memory, or memory,within=1%");
constexpr ValueType Edges(llvm::StringLiteral placeholder) {
  return Parsed<parseEdge>(placeholder,
                           "an edge between two stages, such as 0->2")
      .withCommas();
}
constexpr ValueType Spreads(llvm::StringLiteral placeholder) {
  return Parsed<parseSpread>(placeholder,
                             "a spread such as step:0.3, from 0 to 10; step, "
                             "rank, microbatch or transfer; or profile")
      .withCommas();
}
constexpr ValueType Number(uint64_t least = 0, uint64_t most = max32) {
  return {ValueKind::Number, "N", least, most};
}
constexpr ValueType OneOf(llvm::StringLiteral noun, ChoiceFunction choices) {
  return {ValueKind::Choice, "CHOICE", 0, 0, noun, choices};
}
/// `A,B,...`
constexpr ValueType ListOf(llvm::StringLiteral placeholder,
                           llvm::StringLiteral noun, ChoiceFunction choices) {
  return ValueType{ValueKind::Choice, placeholder, 0, 0, noun, choices}
      .withCommas();
}
} // namespace opttype

} // namespace pipec
