//===- PictureOptions.h - Options about pictures ----------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_COMMAND_PICTUREOPTIONS_H
#define PIPEC_COMMAND_PICTUREOPTIONS_H

#include "Driver/Arguments.h"
#include "Emit/Emitter.h"

namespace pipec {

/// Reads the options about the contents and the size of a picture. Reports a
/// window that cannot be shown.
llvm::LogicalResult readPictureOptions(const Arguments &args, EmitOptions &emit,
                                       DiagEngine &diags);

/// The number of columns of the terminal of standard output: the value of
/// COLUMNS, otherwise that of the terminal; 0 if neither is known.
unsigned terminalWidth();

} // namespace pipec

#endif // PIPEC_COMMAND_PICTUREOPTIONS_H
