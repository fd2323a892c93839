//===- Steps.cpp - --emit=ir: step IR as text -----*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emit/Emitter.h"
#include "IR/Printer.h"

using namespace llvm;

namespace pipec {

LogicalResult emitSteps(const Schedule &schedule, const EmitOptions &,
                        raw_ostream &os, DiagEngine &) {
  printSteps(schedule, os);
  return success();
}

} // namespace pipec
