//===- TreePrinter.h - The tree of a program as text ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "AST/Decl.h"
#include "Support/SourceFiles.h"

#include "llvm/Support/raw_ostream.h"

namespace pipec::ast {

/// Prints the tree of a file, one node per line with the line and column of its
/// start (`--emit=ast`).
void printTree(const Module &module, const SourceFiles &files,
               llvm::raw_ostream &os);

} // namespace pipec::ast
