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
#include "Driver/VerifySettings.h"
#include "IR/Printer.h"
#include "IR/Verifier.h"
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
  cl::opt<std::string> output{"o", cl::desc("Write the result to FILE"),
                              cl::value_desc("FILE"), cl::init("-"),
                              cl::cat(category)};
  cl::opt<std::string> passes{
      "passes", cl::desc("Run these passes, in this order"),
      cl::value_desc("NAME{OPTION=VALUE,...},..."), cl::cat(category)};
  cl::list<std::string> verify{
      "verify", cl::CommaSeparated,
      cl::desc("Check these levels and no others: compute, placed, sharded, "
               "timed or none (default: all that the steps call for)"),
      cl::value_desc("LEVEL,..."), cl::cat(category)};
  cl::opt<bool> printAfterAll{"print-after-all",
                              cl::desc("Print the schedule after every pass, "
                                       "to standard error"),
                              cl::cat(category)};
  cl::opt<bool> verifyEach{
      "verify-each", cl::desc("Run the verifier after every pass"),
      cl::init(PassSettings::verifyEachByDefault), cl::cat(category)};
  cl::opt<bool> timePasses{"time-passes",
                           cl::desc("Print how long each pass took, to "
                                    "standard error"),
                           cl::cat(category)};
  cl::opt<bool> verifyDiagnostics{
      "verify-diagnostics",
      cl::desc("Compare the diagnostics with the expected-... comments"),
      cl::cat(category)};
  cl::opt<bool> showKinds{"show-kinds",
                          cl::desc("Print the kind of every diagnostic"),
                          cl::cat(category)};
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
                               raw_ostream &err, DiagEngine &diags) {
  FailureOr<VerifySettings> check =
      VerifySettings::parse(options.verify, diags);
  if (failed(check))
    return failure();
  PassSettings settings;
  settings.passes = options.passes;
  settings.printAfterAll = options.printAfterAll;
  settings.timePasses = options.timePasses;
  // --verify=none speaks for the default of debug builds too.
  settings.verifyEach =
      options.verifyEach &&
      (options.verifyEach.getNumOccurrences() || check->any());
  FailureOr<PassManager> passes = makePassManager(settings, err, diags);
  if (failed(passes))
    return failure();

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
  if (failed(schedule))
    return failure();

  // Levels named with --verify are asked of the result alone.
  if (check->all && failed(verify(*schedule, diags)))
    return failure();
  if (failed(passes->run(*schedule, diags)))
    return failure();
  bool unchanged = check->all && passes->empty();
  if (!unchanged && failed(check->run(*schedule, diags)))
    return failure();
  check->warn(*schedule, diags);
  if (diags.hadErrors()) // -Werror
    return failure();

  auto file = OutputFile::open(options.output, out, diags);
  if (failed(file))
    return failure();
  printSteps(*schedule, (*file)->stream());
  return (*file)->commit(diags);
}

int optMain(int argc, const char *const *argv, raw_ostream &out,
            raw_ostream &err) {
  DiagSession session("pipec-opt", err);
  // What is said about the command line itself is shown as it asks, too.
  session.setShowKinds(
      is_contained(ArrayRef(argv, argc), StringRef("--show-kinds")));
  OptOptions options;
  if (failed(parseCommandLine(argc, argv, options.category,
                              "Runs passes over step IR.", session.engine())))
    return session.finish(failure());
  session.setShowKinds(options.showKinds);
  if (options.docPasses) {
    printPassPage(out);
    return 0;
  }
  session.setVerify(options.verifyDiagnostics);
  return session.finish(runPhases(options, out, err, session.engine()));
}

} // namespace pipec
