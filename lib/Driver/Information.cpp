//===- Information.cpp - Options that print a text ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Driver/Information.h"

#include "Driver/ExplainKind.h"
#include "Driver/PassFlags.h"
#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Words.h"

using namespace llvm;

namespace pipec {

LogicalResult printText(const Arguments &args, raw_ostream &out,
                        DiagSession &session, TextPrinter print) {
  return writeOutput(args, out, session, [&](raw_ostream &os) {
    print(os);
    return success();
  });
}

/// Reports the first option or word that does not affect what `option` prints.
static LogicalResult checkAlone(const Arguments &args, Opt option,
                                DiagEngine &diags) {
  constexpr optgroup::Set used = optgroup::Output | optgroup::Warnings |
                                 optgroup::Diagnostics | optgroup::General;
  std::string with = "with " + optionInfo(option).spelling();
  for (const OptionInfo &info : allOptions())
    if (info.id != option && !(info.group & used) && args.has(info.id))
      return diags.report(DiagLoc(), diag::OptionWithoutEffect,
                          args.written(info.id), with);
  if (!args.words().empty())
    return diags.report(DiagLoc(), diag::OptionWithoutEffect,
                        shortened(args.words()[0]), with);
  return success();
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
      if (args.has(option)) {
        if (failed(checkAlone(args, option, session.engine())))
          return failure();
        return printText(args, out, session, print);
      }
  if (args.has(Opt::Explain))
    return printExplanation(args, out, session);
  return std::nullopt;
}

} // namespace pipec
