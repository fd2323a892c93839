//===- CommandDiags.h - Diagnostics of the command line ---------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_SUPPORT_DIAGNOSTICS_COMMANDDIAGS_H
#define PIPEC_SUPPORT_DIAGNOSTICS_COMMANDDIAGS_H

#include "Support/DiagKinds.h"

#define PIPEC_DIAG_PHASE Command
#define PIPEC_DIAG_TABLE "Support/Diagnostics/Command.def"
#include "Support/DeclareDiagnostics.def"

#endif // PIPEC_SUPPORT_DIAGNOSTICS_COMMANDDIAGS_H
