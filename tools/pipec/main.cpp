//===- main.cpp - The compiler --------------------------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command/Command.h"
#include "Support/LargePages.h"

int main(int argc, char **argv) {
  pipec::useLargePages();
  return pipec::pipecMain(argc, argv, llvm::outs(), llvm::errs());
}
