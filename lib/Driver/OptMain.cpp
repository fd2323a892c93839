//===- OptMain.cpp - The program pipec-opt --------------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   read -> verify -> passes -> verify -> print
//
// Each phase ends the run when it fails, and the output file appears only at
// the end.
//
//===----------------------------------------------------------------------===//

#include "Driver/OptMain.h"

#include "Driver/Grid.h"
#include "Driver/Help.h"
#include "Driver/InputFormat.h"
#include "Driver/Io.h"
#include "Driver/Passes.h"
#include "IR/Printer.h"
#include "Transforms/Passes.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

static constexpr HelpText optHelp = {
    "pipec-opt",
    "[file]",
    "Runs passes over step IR or CSV, from standard input unless a file is "
    "named.",
    "pipec-opt --passes='strip-bubbles,insert-p2p{order=simulate}' in.steps\n"
    "pipec zb1p --emit=ir | pipec-opt --passes=torch -o out.steps\n"
    "pipec-opt --verify=compute,placed --verify-diagnostics test.steps\n",
    optgroup::InputForm | optgroup::Sizes | optgroup::StepSizes |
        optgroup::Passes | optgroup::OptOnly | optgroup::Output |
        optgroup::Diagnostics | optgroup::General};

static LogicalResult runPhases(const Arguments &args, raw_ostream &out,
                               raw_ostream &err, DiagSession &session) {
  DiagEngine &diags = session.engine();
  std::vector<std::string> inputs;
  FailureOr<Grid> sizes = Grid::read(args, Grid::Values::One, inputs, diags);
  if (failed(sizes) || failed(sizes->fit({}, /*otherInputs=*/true, diags)))
    return failure();
  if (inputs.size() > 1)
    return unusable(diags, Twine(inputs.size()) + " inputs where one is taken");
  std::string path = inputs.empty() ? "-" : inputs[0];
  FailureOr<PassRun> passes =
      PassRun::make(args, args.text(Opt::Passes), err, session);
  if (failed(passes))
    return failure();
  session.progress().phase("reading");

  auto limit = [&](StringRef begin) {
    return maxInputBytes(inputKind(path, begin, args));
  };
  FailureOr<StringRef> text = openInput(path, diags, limit);
  if (failed(text))
    return failure();
  // What is neither step IR nor CSV is read as step IR, which then says so.
  InputKind kind = inputKind(path, *text, args);
  FailureOr<Schedule> schedule =
      readStepInput(kind == InputKind::Csv ? kind : InputKind::Steps, path,
                    *text, sizes->wanted(args), diags);
  if (failed(schedule) || failed(passes->run(*schedule, diags)))
    return failure();

  return writeOutput(args, out, session, [&](raw_ostream &os) {
    printSteps(*schedule, os);
    return success();
  });
}

static void listPasses(raw_ostream &os) {
  for (const PassInfo &pass : allPasses().passes)
    os << pass.name << '\n';
  for (const PipelineInfo &target : allPasses().pipelines)
    os << target.name << '\n';
}

int optMain(int argc, const char *const *argv, raw_ostream &out,
            raw_ostream &err) {
  DiagSession session("pipec-opt", err);
  Arguments args(ArrayRef(argv, argc).drop_front(), optHelp.groups);
  session.setForm(args);
  if (failed(args.check(session.engine())))
    return session.finish(failure());
  auto print = [&](auto text) {
    return session.finish(
        writeOutput(args, out, session, [&](raw_ostream &os) {
          text(os);
          return success();
        }));
  };
  if (args.has(Opt::Help))
    return print([](raw_ostream &os) { printHelp(optHelp, os); });
  if (args.has(Opt::Version))
    return print(printVersion);
  if (args.has(Opt::HelpPasses))
    return print(printPassHelp);
  if (args.has(Opt::ListPasses))
    return print(listPasses);
  if (args.has(Opt::DocPasses))
    return print(printPassPage);
  session.setVerify(args.has(Opt::VerifyDiagnostics));
  return session.finish(runPhases(args, out, err, session));
}

} // namespace pipec
