//===- ImportNames.h - The imports in the text of a program --- -*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_SERVE_IMPORTNAMES_H
#define PIPEC_SERVE_IMPORTNAMES_H

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace pipec {

/// The names in the `import` declarations of a program, which may have errors.
/// Finds all that the compiler would, and perhaps others.
std::vector<std::string> importNames(llvm::StringRef text);

/// True if the name leads out of the folders in which imports are looked for.
bool leavesFolder(llvm::StringRef import);

} // namespace pipec

#endif // PIPEC_SERVE_IMPORTNAMES_H
