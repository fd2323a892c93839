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

#include "Driver/Io.h"
#include "Driver/Passes.h"
#include "Driver/StepInput.h"
#include "IR/Printer.h"
#include "Transforms/Passes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"

using namespace llvm;

namespace pipec {

namespace {

/// The options of one run; llvm::cl fills them while the object lives.
struct OptOptions {
  cl::OptionCategory category{"pipec-opt options"};
  cl::opt<std::string> input{cl::Positional, cl::desc("<input file>"),
                             cl::init("-"), cl::cat(category)};
  OutputFlag output{category};
  PassFlags passes{category};
  DiagFlags diags{category};
  cl::opt<unsigned> stages{
      "stages", cl::desc("The number of stages that a CSV must have"),
      cl::value_desc("N"), cl::cat(category)};
  cl::opt<unsigned> microbatches{
      "microbatches",
      cl::desc("The number of micro-batches that a CSV must have"),
      cl::value_desc("N"), cl::cat(category)};
  cl::opt<bool> docPasses{"doc-passes",
                          cl::desc("Print docs/Passes.md and end"),
                          cl::cat(category)};
  std::string help = passHelp();
  cl::extrahelp extra{help};
};

} // namespace

static LogicalResult runPhases(const OptOptions &options, raw_ostream &out,
                               raw_ostream &err, DiagSession &session) {
  DiagEngine &diags = session.engine();
  FailureOr<PassRun> passes =
      PassRun::make(options.passes, options.passes.passes, err, session);
  if (failed(passes))
    return failure();
  session.progress().phase("reading");

  FailureOr<StringRef> text = openInput(options.input, diags);
  if (failed(text))
    return failure();
  // What is neither step IR nor CSV is read as step IR, which then says so.
  InputKind kind = inputKind(options.input, *text);
  StepInputOptions sizes;
  if (options.stages.getNumOccurrences())
    sizes.stages = options.stages;
  if (options.microbatches.getNumOccurrences())
    sizes.microbatches = options.microbatches;
  FailureOr<Schedule> schedule =
      readStepInput(kind == InputKind::Csv ? kind : InputKind::Steps,
                    options.input, *text, sizes, diags);
  if (failed(schedule) || failed(passes->run(*schedule, diags)))
    return failure();

  return options.output.write(out, session, [&](raw_ostream &os) {
    printSteps(*schedule, os);
    return success();
  });
}

int optMain(int argc, const char *const *argv, raw_ostream &out,
            raw_ostream &err) {
  DiagSession session("pipec-opt", err);
  OptOptions options;
  if (failed(parseCommandLine(argc, argv, options.category,
                              "Runs passes over step IR.", options.diags,
                              session)))
    return session.finish(failure());
  if (options.docPasses) {
    printPassPage(out);
    return 0;
  }
  return session.finish(runPhases(options, out, err, session));
}

} // namespace pipec
