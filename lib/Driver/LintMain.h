//===- LintMain.h - The lint command -----*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_DRIVER_LINTMAIN_H
#define PIPEC_DRIVER_LINTMAIN_H

#include "llvm/Support/raw_ostream.h"

namespace pipec {

/// Runs `pipec lint`: looks for everything that is wrong with a schedule of any
/// origin. `argv[0]` is the program, what follows are the arguments behind the
/// word `lint`. Returns 1 when a finding is an error.
int lintMain(int argc, const char *const *argv, llvm::raw_ostream &out,
             llvm::raw_ostream &err);

} // namespace pipec

#endif // PIPEC_DRIVER_LINTMAIN_H
