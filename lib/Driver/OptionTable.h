//===- OptionTable.h - The options as a table of llvm::opt ------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// llvm::opt splits command lines and finds options by their first letters.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_DRIVER_OPTIONTABLE_H
#define PIPEC_DRIVER_OPTIONTABLE_H

#include "Driver/Options.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Option/ArgList.h"
#include "llvm/Option/OptTable.h"
#include "llvm/Option/Option.h"

#include <vector>

namespace pipec {

/// One way to write an option.
struct Spelling {
  /// `--emit=` if the value follows directly, `--emit` if it is the next
  /// argument.
  llvm::StringLiteral text;
  Opt option;
  optgroup::Set group;
  llvm::opt::Option::OptionClass kind;
  /// False for a spelling that completion does not offer, because it offers
  /// another one of the same meaning.
  bool offered;
};

/// All spellings, in the order of Options.def.
llvm::ArrayRef<Spelling> allSpellings();
/// The spelling `text` of an option of `groups`; null if there is none.
const Spelling *findSpelling(llvm::StringRef text, optgroup::Set groups);
/// The offered spellings of the options of `groups` that begin with `prefix`,
/// without hidden options, in alphabetical order.
std::vector<const Spelling *> spellingsByPrefix(llvm::StringRef prefix,
                                                optgroup::Set groups);

/// The spellings as a table of llvm::opt.
class OptionTable : public llvm::opt::GenericOptTable {
public:
  static const OptionTable &get();

  /// Splits `argv` by the options of `groups`, and sometimes others: their
  /// spellings tell.
  llvm::opt::InputArgList parse(llvm::ArrayRef<const char *> argv,
                                unsigned &missingIndex, unsigned &missingCount,
                                optgroup::Set groups) const;
  /// The spelling of a parsed option.
  const Spelling &spelling(const llvm::opt::Option &option) const;

private:
  struct Rows {
    Rows();
    std::vector<const Spelling *> sorted;
    std::vector<Info> infos;
  };

  explicit OptionTable(const Rows &rows);

  const Rows &rows;
};

} // namespace pipec

#endif // PIPEC_DRIVER_OPTIONTABLE_H
