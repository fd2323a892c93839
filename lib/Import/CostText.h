//===- CostText.h - The texts of costs --------------------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What cost profiles and the option --cost share.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_IMPORT_COSTTEXT_H
#define PIPEC_IMPORT_COSTTEXT_H

#include "Support/Rational.h"
#include "Support/StepKind.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <optional>

namespace pipec {

/// Parses `F & B`; empty if the text is anything else.
llvm::SmallVector<StepKind, 2> parseCostMembers(llvm::StringRef text);

/// Parses a number in the syntax of JSON or in another common form: `7/2`,
/// `1e-3`, `.5`. Decimals are rounded to 18 digits. Nothing if it is not one or
/// does not fit a `Rational`.
std::optional<Rational> parseCostNumber(llvm::StringRef text);

/// A size of memory.
struct MemorySize {
  Rational value;
  /// True if it was written with a unit, and `value` is a number of bytes.
  bool inBytes = false;
};
/// Parses a number, or one with a unit: `20`, `60e6`, `1.5 GiB`. Nothing if it
/// is not one, is negative or does not fit a `Rational`.
std::optional<MemorySize> parseMemorySize(llvm::StringRef text);
/// The units of `parseMemorySize`, as a list in words.
llvm::StringRef memoryUnits();

} // namespace pipec

#endif // PIPEC_IMPORT_COSTTEXT_H
