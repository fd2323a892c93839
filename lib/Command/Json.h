//===- Json.h - Figures in JSON -----*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_COMMAND_JSON_H
#define PIPEC_COMMAND_JSON_H

#include "Support/Rational.h"

#include "llvm/Support/JSON.h"

namespace pipec {

/// A figure as JSON holds it exactly: a number when it is whole, else a
/// fraction in a string, `"7/2"`.
inline llvm::json::Value jsonNumber(Rational value) {
  if (value.isInteger())
    return value.numerator();
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

} // namespace pipec

#endif // PIPEC_COMMAND_JSON_H
