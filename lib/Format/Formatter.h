//===- Formatter.h - Programs in canonical form -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "AST/Decl.h"

#include "llvm/Support/raw_ostream.h"

namespace pipec::ast {

/// Prints a file in canonical form (`--emit=source`), including comments. The
/// output parses to the same tree except for positions, and is its own
/// canonical form. docs/LangRef.md defines the form.
void printCanonical(const Module &module, llvm::raw_ostream &os);

} // namespace pipec::ast
