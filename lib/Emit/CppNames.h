//===- CppNames.h - Names that a C++ source can have ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "llvm/ADT/StringRef.h"

#include <string>

namespace pipec {

/// The namespace of the executor of the schedule called `name`: `schedule_` and
/// the name, in which characters that C++ does not allow become `_`. Neither
/// the language nor a header has such a name, so it can be used for every
/// schedule.
std::string cppNamespace(llvm::StringRef name);

/// A short alias of that namespace: the name of the schedule. Empty when C++, a
/// header of C or a macro is likely to have it already. Names that this misses
/// are caught in the generated source, see templates/executor-foot.mustache.
std::string cppShortName(llvm::StringRef name);

/// The include guard of the executor. Differs for schedules whose names differ,
/// even when their namespaces do not: two of them in one program are an error
/// of the compiler, and the second is not skipped.
std::string cppGuard(llvm::StringRef name);

/// Text of the user, such as a name, as part of a `//` comment: on one line,
/// with control characters, invisible ones (those that change the direction of
/// text, too), backslashes and bytes that are not UTF-8 escaped as in step IR.
/// The character after `coding` is escaped as well if the text would otherwise
/// declare the encoding of a Python file (PEP 263).
std::string cppComment(llvm::StringRef text);

/// Any text as a string literal, quotes included.
std::string cppLiteral(llvm::StringRef text);

} // namespace pipec
