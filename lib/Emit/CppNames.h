//===- CppNames.h - Names that a C++ source can have ----------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_EMIT_CPPNAMES_H
#define PIPEC_EMIT_CPPNAMES_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace pipec {

/// The name of a schedule as that of a namespace: other characters become `_`,
/// and a name that C++ or a header of C has already gets one at its end.
std::string cppNamespace(llvm::StringRef name);

} // namespace pipec

#endif // PIPEC_EMIT_CPPNAMES_H
