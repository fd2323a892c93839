//===- Common.h - Shared parts of output formats ----------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_EMIT_COMMON_H
#define PIPEC_EMIT_COMMON_H

#include "IR/Schedule.h"

#include "llvm/Support/JSON.h"

namespace pipec {

/// `4 ranks, 4 stages, 8 micro-batches`.
std::string sizesText(const Schedule &schedule);

/// `text` with U+FFFD in place of everything that XML and HTML do not allow:
/// bytes that are not UTF-8, control characters except blanks, U+FFFE and
/// U+FFFF. Nothing is escaped.
std::string markupText(llvm::StringRef text);

} // namespace pipec

#endif // PIPEC_EMIT_COMMON_H
