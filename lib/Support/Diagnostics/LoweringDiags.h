//===- LoweringDiags.h - Diagnostics of lowering ----------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_SUPPORT_DIAGNOSTICS_LOWERINGDIAGS_H
#define PIPEC_SUPPORT_DIAGNOSTICS_LOWERINGDIAGS_H

#include "Support/DiagKinds.h"

#define PIPEC_DIAG_PHASE Lowering
#define PIPEC_DIAG_TABLE "Support/Diagnostics/Lowering.def"
#include "Support/DeclareDiagnostics.def"

#endif // PIPEC_SUPPORT_DIAGNOSTICS_LOWERINGDIAGS_H
