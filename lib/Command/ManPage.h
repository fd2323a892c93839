//===- ManPage.h - The manual page ------------------------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_COMMAND_MANPAGE_H
#define PIPEC_COMMAND_MANPAGE_H

#include "llvm/Support/raw_ostream.h"

namespace pipec {

/// Prints docs/pipec.1, the manual page in the `man` macros of roff, from the
/// tables of commands and options.
void printManPage(llvm::raw_ostream &os);

} // namespace pipec

#endif // PIPEC_COMMAND_MANPAGE_H
