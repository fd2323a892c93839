//===- TerminalText.h - Text of users on a terminal -------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names, file names, comments and lines of a source may hold any bytes, among
// them the sequences that command a terminal. Text that people read shows them
// without effect.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_SUPPORT_TERMINALTEXT_H
#define PIPEC_SUPPORT_TERMINALTEXT_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace pipec {

/// `text` with a space for every tab and a `?` for every other control
/// character, character that cannot be shown, and byte that is not UTF-8.
std::string terminalText(llvm::StringRef text);

/// Columns that `terminalText(text)` takes.
size_t terminalWidth(llvm::StringRef text);

} // namespace pipec

#endif // PIPEC_SUPPORT_TERMINALTEXT_H
