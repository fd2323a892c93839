//===- OutputName.h - What the name of the output says ----------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The extension of the file that -o names says what is written there, in every
// command: capital and small letters are equal, and what contradicts it is an
// error. A name with another extension, or none, says nothing.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_DRIVER_OUTPUTNAME_H
#define PIPEC_DRIVER_OUTPUTNAME_H

#include "Driver/Arguments.h"
#include "Emit/Emitter.h"

namespace pipec {

/// Chooses the output format of the compiler (Emit/Emitters.def): as --emit
/// says, else as the output file is called, else the timeline. Reports when
/// they contradict each other, and a name that several formats have.
llvm::FailureOr<const EmitterInfo *> chooseEmitter(const Arguments &args,
                                                   DiagEngine &diags);

/// Chooses the form of an output that is in one of `forms` (`text`, `json`,
/// `csv`): as --format says, else as the output file is called, else `text`.
/// Reports when they contradict each other, and the name of any other format.
llvm::FailureOr<llvm::StringRef>
chooseForm(const Arguments &args, llvm::ArrayRef<llvm::StringRef> forms,
           DiagEngine &diags);

/// Reports an output file whose name is not that of `emitter`, which is the
/// only one that a program has.
llvm::LogicalResult checkOutputName(const Arguments &args,
                                    const EmitterInfo &emitter,
                                    DiagEngine &diags);

} // namespace pipec

#endif // PIPEC_DRIVER_OUTPUTNAME_H
