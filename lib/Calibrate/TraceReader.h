//===- TraceReader.h - Traces of PyTorch and of executors -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Calibrate/RankTrace.h"
#include "Support/DiagEngine.h"

#include "llvm/Support/MemoryBuffer.h"

#include <memory>

namespace pipec {

/// Bytes that a trace may have once it is decompressed.
inline constexpr uint64_t maxTraceBytes = uint64_t(1) << 31;

/// Reads the file at `path`, and decompresses it when it begins as gzip does.
/// Reports a file that cannot be read, that is damaged, or that has more than
/// `limit` bytes in the end.
llvm::FailureOr<std::unique_ptr<llvm::MemoryBuffer>>
openTraceText(llvm::StringRef path, uint64_t limit, DiagEngine &diags);

/// Reads a trace: the JSON of torch.profiler (one rank) or of a pipec executor
/// (all ranks), plain or compressed by gzip, and adds what every rank recorded
/// to `ranks`. Reports a file that cannot be read and, at its place, what is
/// not JSON or has values that no trace has; warns of spans that are called
/// like steps and are none. The text is not kept. Linear.
llvm::LogicalResult readTrace(llvm::StringRef path, TraceCells &cells,
                              std::vector<RankTrace> &ranks, DiagEngine &diags);

/// The same for a text that was read from `path`.
llvm::LogicalResult readTrace(llvm::StringRef path,
                              std::unique_ptr<llvm::MemoryBuffer> text,
                              TraceCells &cells, std::vector<RankTrace> &ranks,
                              DiagEngine &diags);

} // namespace pipec
