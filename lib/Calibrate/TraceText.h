//===- TraceText.h - The text of a trace ------------------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_CALIBRATE_TRACETEXT_H
#define PIPEC_CALIBRATE_TRACETEXT_H

#include "Support/DiagEngine.h"

#include "llvm/Support/MemoryBuffer.h"

#include <memory>

namespace pipec {

/// Reads the file at `path`, and decompresses it when it begins as gzip does.
/// Reports a file that cannot be read, that is damaged, or that has more than
/// `limit` bytes in the end.
llvm::FailureOr<std::unique_ptr<llvm::MemoryBuffer>>
openTraceText(llvm::StringRef path, uint64_t limit, DiagEngine &diags);

} // namespace pipec

#endif // PIPEC_CALIBRATE_TRACETEXT_H
