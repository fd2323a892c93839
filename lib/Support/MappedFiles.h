//===- MappedFiles.h - Files that are mapped into memory --------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_SUPPORT_MAPPEDFILES_H
#define PIPEC_SUPPORT_MAPPEDFILES_H

#include "llvm/Support/MemoryBuffer.h"

namespace pipec {

/// Releases the memory of `file` before `end` if the file is mapped; the system
/// reads the pages again on access. Does nothing for a file that was copied
/// into memory, such as standard input. Without it, the peak memory of reading
/// a list is 1.5 times as high (benchmarks/README.md).
void forgetBefore(const llvm::MemoryBuffer &file, const char *end);

} // namespace pipec

#endif // PIPEC_SUPPORT_MAPPEDFILES_H
