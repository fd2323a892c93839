//===- Arguments.h - Parsed command lines -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Driver/Options.h"
#include "Support/DiagEngine.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pipec {

/// The options and words of one command line.
class Arguments {
public:
  /// Parses `argv` by the options of `syntax`. Errors are stored for `check`,
  /// so that the options about diagnostics apply to them.
  Arguments(llvm::ArrayRef<const char *> argv, const CommandSyntax &syntax);

  /// Reports all errors in the order of the command line: unknown options,
  /// duplicate options, and values that are missing or do not have the option's
  /// type; then options that exclude or require others. The other functions may
  /// only be called if nothing was reported, except `has`, `text` and `list`.
  llvm::LogicalResult check(DiagEngine &diags) const;

  /// True if the option was given.
  bool has(Opt option) const { return find(option); }
  /// The text of the value; `otherwise` if the option was not given.
  llvm::StringRef text(Opt option, llvm::StringRef otherwise = "") const;
  /// The value of a number, if the option was given.
  std::optional<unsigned> number(Opt option) const;
  /// The value of a Count.
  uint64_t count(Opt option, uint64_t otherwise) const;
  /// The index of the value of a choice among its choices.
  std::optional<unsigned> index(Opt option) const;
  /// The value of a Switch.
  bool isOn(Opt option, bool otherwise) const;
  /// Sets `value` to that of an option of a type that `T` can hold, if it was
  /// given; a choice is an enumeration or a `bool`.
  template <typename T> void get(Opt option, T &value) const {
    if (!has(option))
      return;
    if constexpr (std::is_enum_v<T> || std::is_same_v<T, bool>)
      value = T(*index(option));
    else if constexpr (std::is_integral_v<T>)
      value = T(count(option, 0));
    else if constexpr (std::is_same_v<T, Rational>)
      value = *Rational::parse(text(option));
    else if constexpr (std::is_same_v<T, std::optional<TimeWindow>>)
      value = parseWindow(text(option));
    else
      value = text(option).str();
  }
  /// The values of a List, in order.
  std::vector<llvm::StringRef> list(Opt option) const;
  /// The parts of all values of an option with commas.
  std::vector<llvm::StringRef> items(Opt option) const;
  /// The values of several Lists, in the order of the command line.
  std::vector<std::pair<Opt, llvm::StringRef>>
  lists(llvm::ArrayRef<Opt> options) const;
  /// The first option on the command line that belongs to one of `groups`.
  std::optional<Opt> firstOf(optgroup::Set groups) const;
  /// True if the command has the option, whether it was given or not.
  bool takes(Opt option) const {
    return optionInfo(option).group & commandSyntax.groups;
  }
  const CommandSyntax &syntax() const { return commandSyntax; }
  /// The arguments that are not options.
  llvm::ArrayRef<std::string> words() const { return allWords; }

  /// The option as written, with its value, for messages: `--ranks=8`, `-Dm=2`;
  /// shortened if it is long. The option must have been given.
  std::string written(Opt option) const;

  /// Reports that the option, which was given, has no effect `where`.
  InFlightDiagnostic reportUseless(Opt option, const llvm::Twine &where,
                                   DiagEngine &diags) const;

private:
  /// One option on the command line.
  struct Given {
    const OptionInfo *info;
    std::string value;
    /// The result of `written`.
    std::string text;
    enum class Problem { None, Unknown, NoValue } problem = Problem::None;
  };

  const Given *find(Opt option) const;
  llvm::LogicalResult checkUnknown(const Given &given, DiagEngine &diags) const;
  llvm::LogicalResult checkValue(const Given &given, DiagEngine &diags) const;
  llvm::LogicalResult checkRelations(DiagEngine &diags) const;

  CommandSyntax commandSyntax;
  std::vector<Given> all;
  std::vector<std::string> allWords;
};

/// Moves the value of `result` to `into`, if there is one.
template <typename T>
llvm::LogicalResult store(llvm::FailureOr<T> result, auto &into) {
  if (failed(result))
    return llvm::failure();
  into = std::move(*result);
  return llvm::success();
}

} // namespace pipec
