//===- OptMain.h - The program pipec-opt ------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "llvm/Support/raw_ostream.h"

namespace pipec {

/// Reads a schedule, runs passes on it and prints it, as specified by the
/// command line. Output goes to a file or to `out`, messages go to `err`.
/// Returns the exit status of the program.
int optMain(int argc, const char *const *argv, llvm::raw_ostream &out,
            llvm::raw_ostream &err);

} // namespace pipec
