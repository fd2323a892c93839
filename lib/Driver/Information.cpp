//===- Information.cpp - Options that print a text ------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver/Information.h"

#include "Driver/ExplainKind.h"
#include "Driver/PassFlags.h"

using namespace llvm;

namespace pipec {

LogicalResult printText(const Arguments &args, raw_ostream &out,
                        DiagSession &session, TextPrinter print) {
  return writeOutput(args, out, session, [&](raw_ostream &os) {
    print(os);
    return success();
  });
}

std::optional<LogicalResult>
printInformation(const Arguments &args, raw_ostream &out, DiagSession &session,
                 TextPrinter printHelp, ArrayRef<InformationOption> further) {
  static constexpr InformationOption common[] = {
      {Opt::Version, printVersion},
      {Opt::HelpPasses, printPassHelp},
      {Opt::ListPasses, printPassNames},
  };
  if (args.has(Opt::Help))
    return printText(args, out, session, printHelp);
  for (ArrayRef<InformationOption> options : {ArrayRef(common), further})
    for (auto [option, print] : options)
      if (args.has(option))
        return printText(args, out, session, print);
  if (args.has(Opt::Explain))
    return printExplanation(args, out, session);
  return std::nullopt;
}

} // namespace pipec
