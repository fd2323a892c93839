//===- Parser.h - Text to tree ----------------------------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_PARSE_PARSER_H
#define PIPEC_PARSE_PARSER_H

#include "AST/Context.h"
#include "AST/Decl.h"
#include "Support/DiagEngine.h"

namespace pipec {

/// Bytes that one source file may have.
inline constexpr size_t maxSourceBytes = 1 << 20;
/// How deep brackets, prefix operators, conditionals and `else if` may nest.
inline constexpr unsigned maxNesting = 256;
/// Binary operators that one expression may have.
inline constexpr unsigned maxOperators = 1000;

/// Parses one file of the language. `text` must be a file of the engine's
/// `SourceFiles`; `path` is the name that `import` is relative to. Reports
/// every syntax error and fails when there was one. Imports are not followed.
llvm::FailureOr<ast::Module *> parsePipe(llvm::StringRef path,
                                         llvm::StringRef text,
                                         ast::Context &context,
                                         DiagEngine &diags);

} // namespace pipec

#endif // PIPEC_PARSE_PARSER_H
