//===- Passes.cpp - Passes on the command line ----------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver/Passes.h"

#include "Transforms/Passes.h"

#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace pipec {

FailureOr<PassManager> makePassManager(const PassSettings &settings,
                                       raw_ostream &err, DiagEngine &diags) {
  FailureOr<Pipeline> pipeline =
      parsePipeline(settings.passes, allPasses(), diags);
  if (failed(pipeline))
    return failure();
  PassManager manager(std::move(*pipeline));
  // The clock stops before others look at the result.
  if (settings.timePasses)
    manager.add(makeTimePasses(err));
  if (settings.printAfterAll)
    manager.add(makePrintAfterAll(err));
  if (settings.verifyEach)
    manager.add(makeVerifyEach());
  return manager;
}

std::string passHelp() {
  std::string text;
  raw_string_ostream os(text);
  // A name that does not fit its column has a line of its own.
  auto row = [&](StringRef indent, StringRef name, StringRef help) {
    std::string left = (indent + name).str();
    if (left.size() > 28)
      os << left << "\n" << formatv("{0,-28} {1}\n", "", help);
    else
      os << formatv("{0,-28} {1}\n", left, help);
  };
  os << "\nPASSES (docs/Passes.md says more):\n\n";
  for (const PassInfo &pass : allPasses().passes) {
    row("  ", pass.name, pass.summary);
    for (const PassOptionInfo &option : pass.options) {
      std::string help = option.help.str();
      if (!option.defaultValue.empty())
        help += " (default " + option.defaultValue + ")";
      row("    ", option.name.str() + "=" + option.values, help);
    }
  }
  os << "\nTARGETS (lists of passes under a name):\n\n";
  for (const PipelineInfo &target : allPasses().pipelines)
    row("  ", target.name, target.passes);
  return text;
}

} // namespace pipec
