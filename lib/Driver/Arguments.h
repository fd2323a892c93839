//===- Arguments.h - A command line that was read ---------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_DRIVER_ARGUMENTS_H
#define PIPEC_DRIVER_ARGUMENTS_H

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
  /// Reads `argv` by the options of `groups`. What does not fit is kept for
  /// `check`, so that the options about diagnostics can be looked at first.
  Arguments(llvm::ArrayRef<const char *> argv, optgroup::Set groups);

  /// Reports everything that does not fit, in the order of the command line:
  /// unknown options, options given twice, and values that are missing or are
  /// not of the option's type. The other functions may be called only when
  /// nothing was reported, `has` and `text` always.
  llvm::LogicalResult check(DiagEngine &diags) const;

  /// True when the option was given.
  bool has(Opt option) const { return find(option); }
  /// The text of the value; `otherwise` when the option was not given.
  llvm::StringRef text(Opt option, llvm::StringRef otherwise = "") const;
  /// The value of a Number; nothing when the option was not given.
  std::optional<unsigned> number(Opt option) const;
  /// The value of a Count.
  uint64_t count(Opt option, uint64_t otherwise) const;
  /// The value of a Switch.
  bool isOn(Opt option, bool otherwise) const;
  /// The values of a List, in their order.
  std::vector<llvm::StringRef> list(Opt option) const;
  /// Those of several Lists, in the order of the command line.
  std::vector<std::pair<Opt, llvm::StringRef>>
  lists(llvm::ArrayRef<Opt> options) const;
  /// The first option on the command line that is of one of `groups`.
  std::optional<Opt> firstOf(optgroup::Set groups) const;
  /// True when the command has the option, given or not.
  bool takes(Opt option) const { return optionInfo(option).group & groups; }
  /// The arguments that are not options.
  llvm::ArrayRef<std::string> words() const { return allWords; }

  /// The option as it was written, with its value, for messages: `--ranks=8`,
  /// `-Dm=2`; shortened if it is long. The option must have been given.
  std::string written(Opt option) const;

private:
  /// One option on the command line.
  struct Given {
    const OptionInfo *info;
    std::string value;
    /// As `written` returns it.
    std::string text;
    enum class Problem { None, Unknown, NoValue } problem = Problem::None;
  };

  const Given *find(Opt option) const;
  llvm::LogicalResult checkUnknown(const Given &given, DiagEngine &diags) const;
  llvm::LogicalResult checkValue(const Given &given, DiagEngine &diags) const;

  optgroup::Set groups;
  std::vector<Given> all;
  std::vector<std::string> allWords;
};

} // namespace pipec

#endif // PIPEC_DRIVER_ARGUMENTS_H
