//===- Options.h - The table of command line options ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Driver/Options.def as data, for parsing and completing command lines and for
// printing --help, docs/CommandLine.md and the manual page.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Driver/ValueType.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>

namespace pipec {

/// An option, identified by its Id in Options.def.
enum class Opt : uint8_t {
#define PIPEC_OPTION(Group, Id, Name, Type, Help) Id,
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

/// The groups of Options.def; each command has the options of a set of groups.
namespace optgroup {
using Set = uint64_t;
#define PIPEC_OPTION_GROUP(Group, Heading)                                     \
  inline constexpr Set Group = Set(1) << detail::Group##Number;
#include "Driver/Options.def"
} // namespace optgroup

/// The forms of an output, the values of `--format`.
namespace form {
using Set = uint8_t;
inline constexpr Set Text = 1, Json = 2, Csv = 4, Sarif = 8, Github = 16,
                     Junit = 32;
/// The command itself chooses the form of the file of `-o`.
inline constexpr Set Apart = 64;
} // namespace form

/// A form, and the extension of its files; empty if it has none.
struct FormInfo {
  form::Set form;
  llvm::StringLiteral name, extension, summary;
};
llvm::ArrayRef<FormInfo> allForms();

/// The arguments of a command that are not options.
struct InputSyntax {
  enum Kind : uint8_t {
    Nothing = 0,
    File = 1,
    Name = 2,
    Trace = 4,
    Shell = 8,
    Folder = 16
  };
  enum Sizes : uint8_t { NoSizes, OneSize, ManySizes };
  static constexpr unsigned many = ~0U;

  uint8_t kinds = Nothing;
  /// The number of inputs.
  unsigned least = 0, most = 0;
  /// Whether words NAME=VALUE set sizes, and to how many values.
  Sizes sizes = NoSizes;
  /// The numbers of ranks and micro-batches must be given.
  bool needsSizes = false;
  /// `-o` must name a file.
  bool needsOutput = false;

  constexpr InputSyntax withSizes() const {
    InputSyntax other = *this;
    other.needsSizes = true;
    return other;
  }
  constexpr InputSyntax withOutput() const {
    InputSyntax other = *this;
    other.needsOutput = true;
    return other;
  }

  /// The usage line from its words on: `<file or name>... [NAME=VALUE]...`.
  std::string usage() const;
};

/// The options and other arguments of a command.
struct CommandSyntax {
  /// `pipec lint`
  llvm::StringLiteral command = "";
  optgroup::Set groups = 0;
  form::Set forms = form::Text;
  InputSyntax inputs;
};

/// The values that a page of `pipec serve` may send for an option.
enum class LiveUse : uint8_t {
  None,
  Value,
  /// The contents of the file that the option names.
  Contents,
  /// The same, or the name of a schedule of the library.
  Schedule,
};

/// One row of Options.def.
struct OptionInfo {
  Opt id;
  optgroup::Set group;
  /// Without dashes.
  llvm::StringLiteral name;
  ValueType type;
  llvm::StringLiteral help;
  /// The one-letter name; empty if there is none.
  llvm::StringLiteral letter;
  LiveUse live = LiveUse::None;

  /// `--emit`, `-D`.
  std::string spelling() const;
  /// Hidden options have no help.
  bool isShown(optgroup::Set groups) const {
    return (group & groups) && !help.empty();
  }
  /// The values of a choice; for `--format`, the forms of `syntax`.
  std::vector<Choice> choices(const CommandSyntax &syntax) const;
  std::vector<llvm::StringRef> choiceNames(const CommandSyntax &syntax) const;
};

/// All options, in the order of the table.
llvm::ArrayRef<OptionInfo> allOptions();
const OptionInfo &optionInfo(Opt option);
/// The heading in --help of a group, given as a set of one group.
llvm::StringRef groupHeading(optgroup::Set group);

/// Two options that exclude each other, or an option and one that it requires.
struct OptionRelation {
  Opt first, second;
};
llvm::ArrayRef<OptionRelation> exclusiveOptions();
llvm::ArrayRef<OptionRelation> requiredOptions();

/// One argument as an option of a set of groups.
struct OptionMatch {
  const OptionInfo *option = nullptr;
  enum class Form {
    /// `--library`, `--no-library`
    On,
    Off,
    /// `--emit=svg`, `-Dp=2`
    Joined,
    /// `--emit`, `-D`: the value is the next argument.
    Separate,
  } form = Form::On;
  llvm::StringRef value;

  explicit operator bool() const { return option; }
};
OptionMatch matchOption(llvm::StringRef argument, optgroup::Set groups);

} // namespace pipec
