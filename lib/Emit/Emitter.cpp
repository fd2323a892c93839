//===- Emitter.cpp - The table of output formats -----*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emit/Emitter.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

static constexpr EmitterInfo emitters[] = {
#define PIPEC_EMITTER(Name, Function, Target, Summary)                         \
  {Name, Function, Target, Summary},
#include "Emit/Emitters.def"
};

ArrayRef<EmitterInfo> allEmitters() { return emitters; }

const EmitterInfo *findEmitter(StringRef name) {
  const EmitterInfo *it = find_if(
      emitters, [&](const EmitterInfo &info) { return info.name == name; });
  return it == std::end(emitters) ? nullptr : it;
}

} // namespace pipec
