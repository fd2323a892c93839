//===- Options.h - The table of command line options ------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Driver/Options.def as data, for parsing command lines and printing --help and
// docs/CommandLine.md.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_DRIVER_OPTIONS_H
#define PIPEC_DRIVER_OPTIONS_H

#include "Driver/Choices.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace pipec {

/// An option, identified by its Id in Options.def.
enum class Opt : uint8_t {
#define PIPEC_FLAG(Group, Id, Name, Help) Id,
#define PIPEC_SWITCH(Group, Id, Name, Help) Id,
#define PIPEC_VALUE(Group, Id, Name, Type, Value, Help) Id,
#define PIPEC_CHOICE(Group, Id, Name, Noun, Choices, Help) Id,
#define PIPEC_SHORT(Group, Id, Name, Type, Value, Help) Id,
#include "Driver/Options.def"
};

namespace detail {
enum OptionGroupNumber : unsigned {
#define PIPEC_OPTION_GROUP(Group, Heading) Group##Number,
#include "Driver/Options.def"
  NumOptionGroups
};
static_assert(NumOptionGroups <= 64, "a set of groups has 64 bits");
} // namespace detail

/// The groups of Options.def; a command takes the options of a set of groups.
namespace optgroup {
using Set = uint64_t;
#define PIPEC_OPTION_GROUP(Group, Heading)                                     \
  inline constexpr Set Group = Set(1) << detail::Group##Number;
#include "Driver/Options.def"
} // namespace optgroup

/// The types of values of options.
enum class OptionType : uint8_t {
  Flag,
  Switch, // --name, --no-name, --name=true, --name=false
  Text,
  Number, // 32 bits, unsigned
  Count,  // 64 bits, unsigned
  Choice,
  List, // text; the only type that may be given more than once
};

/// One row of Options.def.
struct OptionInfo {
  Opt id;
  optgroup::Set group;
  OptionType type;
  /// Without dashes.
  llvm::StringLiteral name;
  /// The one-letter name; empty if there is none.
  llvm::StringLiteral letter;
  /// The placeholder for the value in --help.
  llvm::StringLiteral value;
  /// For a choice: what is chosen, and the list of choices.
  llvm::StringLiteral noun;
  ChoiceFunction choices;
  llvm::StringLiteral help;
  /// The value of the option without one; empty if it needs a value.
  llvm::StringLiteral implied = "";

  /// `--emit`, `-D`.
  std::string spelling() const;
};

/// All options, in the order of the table.
llvm::ArrayRef<OptionInfo> allOptions();
const OptionInfo &optionInfo(Opt option);
/// The heading in --help of a group, given as a set of one group.
llvm::StringRef groupHeading(optgroup::Set group);

} // namespace pipec

#endif // PIPEC_DRIVER_OPTIONS_H
