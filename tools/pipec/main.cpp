//===- main.cpp - The compiler --------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Command/Command.h"
#include "Support/FatalErrors.h"

int main(int argc, char **argv) {
  pipec::useLargePages();
  pipec::MakeHttpServer makeServer = nullptr;
#ifdef PIPEC_HAS_SERVER
  makeServer = pipec::makeBeastServer;
#endif
  return pipec::pipecMain(argc, argv, llvm::outs(), llvm::errs(), makeServer);
}
