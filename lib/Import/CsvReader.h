//===- CsvReader.h - Step IR from PyTorch's schedule CSV --------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_IMPORT_CSVREADER_H
#define PIPEC_IMPORT_CSVREADER_H

#include "IR/Schedule.h"
#include "Import/ListOptions.h"
#include "Support/DiagEngine.h"

namespace pipec {

/// Reads a schedule in either of the two CSV formats of
/// torch.distributed.pipelining (docs/Csv.md). `text` must be a file of the
/// engine's `SourceFiles`. Errors are reported with row, column and cell; the
/// source of each step is its cell.
llvm::FailureOr<Schedule>
importCsv(llvm::StringRef text, const ListOptions &options, DiagEngine &diags);

} // namespace pipec

#endif // PIPEC_IMPORT_CSVREADER_H
