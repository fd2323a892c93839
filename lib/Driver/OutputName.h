//===- OutputName.h - Formats by the output file name -----------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In every command, the extension of the file given by -o determines the
// format, ignoring case; an option that contradicts it is an error. Other
// extensions, or none, do not determine a format.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_DRIVER_OUTPUTNAME_H
#define PIPEC_DRIVER_OUTPUTNAME_H

#include "Driver/Arguments.h"
#include "Emit/Emitter.h"

namespace pipec {

/// Chooses the output format of the compiler (Emit/Emitters.def): that of
/// --emit, otherwise that of the output file name, otherwise the timeline.
/// Reports contradictions, and ambiguous names.
llvm::FailureOr<const EmitterInfo *> chooseEmitter(const Arguments &args,
                                                   DiagEngine &diags);

/// Chooses the form of an output that has the given `forms`: that of --format
/// if `byOption`, otherwise that of the output file name, otherwise `text`.
/// Reports contradictions, and the name of any other format.
llvm::FailureOr<llvm::StringRef> chooseForm(const Arguments &args,
                                            form::Set forms, bool byOption,
                                            DiagEngine &diags);

/// Reports an output file whose name is not that of `emitter`, the only format
/// of a program.
llvm::LogicalResult checkOutputName(const Arguments &args,
                                    const EmitterInfo &emitter,
                                    DiagEngine &diags);

/// True for the kinds of pictures that the Python package makes of that of
/// --emit=svg: `pdf` and `png`.
bool isPythonPicture(llvm::StringRef kind);

} // namespace pipec

#endif // PIPEC_DRIVER_OUTPUTNAME_H
