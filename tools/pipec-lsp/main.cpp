//===- main.cpp - The language server -------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Connection.h"

#include "Driver/Io.h"

#include "llvm/Support/raw_ostream.h"

#include <cstring>

/// The streams are those of the protocol. Editors may pass `--stdio`, which is
/// the only mode.
int main(int argc, char **argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--stdio") == 0)
      continue;
    if (std::strcmp(argv[i], "--version") == 0) {
      llvm::outs() << "pipec-lsp " << pipec::versionText << '\n';
      return 0;
    }
    llvm::errs() << "pipec-lsp: error: unknown argument `" << argv[i]
                 << "`; an editor starts this program and talks to it on "
                    "standard input and output\n";
    return 2;
  }
  return pipec::lsp::serve(argv[0], llvm::outs());
}
