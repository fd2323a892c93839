//===- PictureFlags.h - Options about pictures ------------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_COMMAND_PICTUREFLAGS_H
#define PIPEC_COMMAND_PICTUREFLAGS_H

#include "Emit/Emitter.h"

#include "llvm/Support/CommandLine.h"

namespace pipec {

/// The options about what a picture shows and how large it is.
struct PictureFlags {
  explicit PictureFlags(llvm::cl::OptionCategory &category);
  /// Sets what they say about the output; reports a window that is none.
  llvm::LogicalResult read(EmitOptions &emit, DiagEngine &diags) const;

  llvm::cl::opt<std::string> window;
  llvm::cl::opt<unsigned> width;
  /// A second input, as the first is given.
  llvm::cl::opt<std::string> with;
};

/// The columns of the terminal that standard output is: what COLUMNS says, else
/// what the terminal does; 0 when neither says anything.
unsigned terminalWidth();

} // namespace pipec

#endif // PIPEC_COMMAND_PICTUREFLAGS_H
