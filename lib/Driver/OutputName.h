//===- OutputName.h - Formats by the output file name -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In every command, the extension of the file given by -o determines the
// format, ignoring case; an option that contradicts it is an error. Other
// extensions, or none, do not determine a format.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Driver/Arguments.h"
#include "Emit/Emitter.h"

namespace pipec {

/// Chooses the output format of the compiler (Emit/Emitters.def) by --emit,
/// otherwise by the name of the output file; the default is the timeline.
/// Reports contradictions, and ambiguous names.
llvm::FailureOr<const EmitterInfo *> chooseEmitter(const Arguments &args,
                                                   DiagEngine &diags);

/// Chooses one of the given `forms`: by --format if `byOption`, otherwise by
/// the name of the output file; the default is `text`. Reports contradictions,
/// and the name of any other format.
llvm::FailureOr<llvm::StringRef> chooseForm(const Arguments &args,
                                            form::Set forms, bool byOption,
                                            DiagEngine &diags);

/// Reports an output file whose name does not belong to `emitter`, the only
/// format of a program.
llvm::LogicalResult checkOutputName(const Arguments &args,
                                    const EmitterInfo &emitter,
                                    DiagEngine &diags);

/// True for `pdf` and `png`, which the Python package makes from --emit=svg.
bool isPythonPicture(llvm::StringRef kind);

} // namespace pipec
