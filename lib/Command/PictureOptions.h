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

/// Reads the options about what a picture shows and how large it is. Reports a
/// window that cannot be shown.
llvm::LogicalResult readPictureOptions(const Arguments &args, EmitOptions &emit,
                                       DiagEngine &diags);

/// The columns of the terminal that standard output is: what COLUMNS says, else
/// what the terminal does; 0 when neither says anything.
unsigned terminalWidth();

} // namespace pipec

#endif // PIPEC_COMMAND_PICTUREOPTIONS_H
