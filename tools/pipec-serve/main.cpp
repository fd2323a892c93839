//===- main.cpp - The compiler with a server ------------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The program that `pipec serve` and `pipec watch` run: pipec with cpp-httplib.
// It is a program of its own because loading that library and what it needs
// takes longer than most compilations, and not every system has it.
//
//===----------------------------------------------------------------------===//

#include "Command/Command.h"
#include "Http/HttplibServer.h"
#include "Serve/LivePage.h"
#include "Support/LargePages.h"

int main(int argc, char **argv) {
  pipec::useLargePages();
  const pipec::ServerParts server{pipec::makeHttplibServer, pipec::livePage};
  return pipec::pipecMain(argc, argv, llvm::outs(), llvm::errs(), &server);
}
