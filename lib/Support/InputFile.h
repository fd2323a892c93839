//===- InputFile.h - Opening the files of a run -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Support/DiagEngine.h"

namespace pipec {

/// Converts a system message to the form of other messages, which begin with a
/// lower case letter.
std::string normalizeMessage(llvm::StringRef message);

/// Reads the file at `path` ("-" is standard input), whose size is limited by
/// `limit`; see `SourceFiles::open`. Reports at `loc` if the file cannot be
/// read or is too large.
llvm::FailureOr<llvm::StringRef> openInput(llvm::StringRef path,
                                           DiagEngine &diags,
                                           SourceFiles::ByteLimit limit,
                                           DiagLoc loc = {});
llvm::FailureOr<llvm::StringRef> openInput(llvm::StringRef path,
                                           DiagEngine &diags, uint64_t limit,
                                           DiagLoc loc = {});

} // namespace pipec
