//===- StepKind.cpp - The kinds of steps ----------------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/StepKind.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/ErrorHandling.h"

using namespace llvm;

namespace pipec {

StringRef stepKindName(StepKind kind) {
  switch (kind) {
#define PIPEC_STEP(Id, Text)                                                   \
  case StepKind::Id:                                                           \
    return Text;
#include "Support/Steps.def"
  }
  llvm_unreachable("every kind has a name");
}

std::optional<StepKind> parseStepKind(StringRef name) {
  return StringSwitch<std::optional<StepKind>>(name)
#define PIPEC_STEP(Id, Text) .Case(Text, StepKind::Id)
#include "Support/Steps.def"
      .Default(std::nullopt);
}

} // namespace pipec
