//===- TraceUpload.h - Traces that a page sends --------------- -*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_SERVE_TRACEUPLOAD_H
#define PIPEC_SERVE_TRACEUPLOAD_H

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace pipec {

/// The maximum number of bytes in the body of a request with traces.
inline constexpr size_t maxTraceBytes = size_t(1) << 26;

/// The traces of a request. Its body is a line of JSON,
/// `{"traces": [{"name": "rank0.json.gz", "size": 3436}, ...]}`, and the
/// contents of the files, one after the other.
struct TraceUpload {
  struct File {
    /// What messages call it.
    std::string name;
    /// Part of the body.
    llvm::StringRef contents;
  };

  /// Reads the body of a request, which must outlive this object. Returns what
  /// is wrong with it; empty if nothing is.
  std::string read(llvm::StringRef body);

  std::vector<File> files;
};

} // namespace pipec

#endif // PIPEC_SERVE_TRACEUPLOAD_H
