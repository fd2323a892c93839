//===- Parser.h - Text to tree ----------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "AST/Decl.h"
#include "Support/DiagEngine.h"

namespace pipec {

/// The maximum size of a source file in bytes.
inline constexpr size_t maxSourceBytes = 1 << 20;
/// The maximum nesting depth of brackets, prefix operators, conditionals and
/// `else if`.
inline constexpr unsigned maxNesting = 256;
/// The maximum number of binary operators in one expression.
inline constexpr unsigned maxOperators = 1000;

/// Parses one file of the language. `text` must be a file of the engine's
/// `SourceFiles`; `path` is the name that `import` is relative to. Reports all
/// syntax errors, and fails if there are any. Imports are not followed.
llvm::FailureOr<ast::Module *> parsePipe(llvm::StringRef path,
                                         llvm::StringRef text,
                                         ast::Context &context,
                                         DiagEngine &diags);

} // namespace pipec
