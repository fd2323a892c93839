//===- Uri.h - References to files ------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace pipec {

/// A path as a reference of RFC 3986: a `file:` URI if the path is absolute,
/// else a relative reference.
std::string uriOfPath(llvm::StringRef path);

/// The path of a `file:` URI. Any other URI is returned as it is: the name of a
/// text that has no file.
std::string pathOfUri(llvm::StringRef uri);

} // namespace pipec
