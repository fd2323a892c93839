//===- PipecMain.h - The compiler driver -----*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_DRIVER_PIPECMAIN_H
#define PIPEC_DRIVER_PIPECMAIN_H

#include "llvm/Support/raw_ostream.h"

namespace pipec {

/// Runs `pipec`. Output that no `-o` names goes to `out`, messages to `err`.
/// Returns the exit status: 0 when no error was reported.
int pipecMain(int argc, const char *const *argv, llvm::raw_ostream &out,
              llvm::raw_ostream &err);

} // namespace pipec

#endif // PIPEC_DRIVER_PIPECMAIN_H
