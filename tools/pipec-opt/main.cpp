//===- main.cpp - Passes over step IR -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OptMain.h"
#include "Support/FatalErrors.h"

int main(int argc, char **argv) {
  pipec::useLargePages();
  return pipec::optMain(argc, argv, llvm::outs(), llvm::errs());
}
