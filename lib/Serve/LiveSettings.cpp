//===- LiveSettings.cpp - What the live page is served with ---------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Serve/LiveSettings.h"

using namespace llvm;

namespace pipec {

static constexpr uint64_t maxMemory = uint64_t(4) << 30;

ChildRequest LiveSettings::run(std::vector<std::string> arguments,
                               std::string input,
                               std::chrono::seconds time) const {
  ChildRequest run;
  run.program = compiler;
  run.arguments = std::move(arguments);
  run.input = std::move(input);
  run.folder = folder;
  run.time = time;
  run.memory = maxMemory;
  return run;
}

ChildRequest LiveSettings::runProgram(std::vector<std::string> arguments,
                                      std::string input,
                                      std::chrono::seconds time) const {
  for (const std::string &include : includes)
    arguments.push_back("-I" + include);
  return run(std::move(arguments), std::move(input), time);
}

} // namespace pipec
