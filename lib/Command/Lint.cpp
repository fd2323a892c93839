//===- Lint.cpp - The lint command -----===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command/Command.h"

#include "Analysis/Lint.h"
#include "Driver/Input.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace pipec {

namespace {

struct LintFlags {
  cl::OptionCategory category{"pipec lint options"};
  InputFlags input{category};
  cl::opt<std::string> require{
      "require",
      cl::desc("What does not end under this model is an error: stream "
               "(default), pair, edge or buffered"),
      cl::value_desc("MODEL"), cl::init("stream"), cl::cat(category)};
  cl::list<std::string> grades{
      "grade", cl::CommaSeparated,
      cl::desc(
          "How grave a finding is: RULE is loss-order, unused-unshard, "
          "idle-slot, forward-only or no-reduce-grad, GRADE is error, "
          "warning, note or off"),
      cl::value_desc("RULE=GRADE,..."), cl::cat(category)};
  cl::opt<std::string> format{"format", cl::desc("text (default) or json"),
                              cl::value_desc("FORMAT"), cl::init("text"),
                              cl::cat(category)};
  DiagFlags diags{category};
  cl::opt<std::string> output{"o", cl::desc("Write the findings to FILE"),
                              cl::value_desc("FILE"), cl::init("-"),
                              cl::cat(category)};
};

} // namespace

static FailureOr<LintOptions> readOptions(const LintFlags &flags,
                                          DiagEngine &diags) {
  LintOptions options;
  std::optional<WaitModel> model = parseWaitModel(flags.require);
  if (!model)
    return unusable(diags, "no model `" + flags.require + "`");
  options.require = *model;
  for (StringRef grade : flags.grades) {
    auto [rule, value] = grade.split('=');
    std::optional<Severity> *place =
        rule == "loss-order"       ? &options.lossOrder
        : rule == "unused-unshard" ? &options.unusedUnshard
        : rule == "idle-slot"      ? &options.idleSlot
        : rule == "forward-only"   ? &options.forwardOnly
        : rule == "no-reduce-grad" ? &options.noReduceGrad
                                   : nullptr;
    if (!place)
      return unusable(diags, "no rule `" + rule + "` in `--grade`");
    if (value == "off")
      place->reset();
    else if (value == "error")
      *place = Severity::Error;
    else if (value == "warning")
      *place = Severity::Warning;
    else if (value == "note")
      *place = Severity::Note;
    else
      return unusable(diags, "no grade `" + value + "` in `--grade`");
  }
  if (flags.format != "text" && flags.format != "json")
    return unusable(diags, "no format `" + flags.format + "`");
  return options;
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static void printJson(raw_ostream &os, ArrayRef<Diagnostic> findings,
                      const LintResult &result, bool isCsv,
                      const SourceFiles &files) {
  json::OStream json(os, /*IndentSize=*/2);
  json.object([&] {
    json.attributeArray("findings", [&] {
      for (const Diagnostic &finding : findings)
        writeDiagnostic(json, finding, files, isCsv);
    });
    json.attributeObject("safe", [&] {
      for (WaitModel model : allWaitModels)
        json.attribute(waitModelName(model), result.safe[unsigned(model)]);
    });
  });
  os << '\n';
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

static LogicalResult run(const LintFlags &flags, StringRef program,
                         raw_ostream &out, DiagSession &session) {
  DiagEngine &diags = session.engine();
  FailureOr<LintOptions> options = readOptions(flags, diags);
  if (failed(options))
    return failure();
  SearchPath search(program, flags.input.includes);
  FailureOr<OpenedInput> input = openInput(flags.input, search, diags);
  if (failed(input))
    return failure();
  session.progress().phase("reading");
  FailureOr<Schedule> schedule =
      makeSchedule(flags.input, *input, search, diags);
  if (failed(schedule))
    return failure();

  auto file = OutputFile::open(flags.output, out, diags);
  if (failed(file))
    return failure();
  raw_ostream &os = (*file)->stream();
  if (os.is_displayed())
    session.progress().end();
  else
    session.progress().phase("looking for findings");
  std::vector<Diagnostic> findings;
  DiagPrinter printer(os, session.files(), "pipec");
  printer.setShowKinds(flags.diags.showKinds);
  bool json = flags.format == "json";
  // Every finding counts, and they are the output of this command.
  diags.setErrorLimit(0);
  if (!flags.diags.verifyDiagnostics)
    diags.setHandler([&](const Diagnostic &finding) {
      if (json)
        findings.push_back(finding);
      else
        printer(finding);
    });
  LintResult result = lint(*schedule, *options, diags);
  if (json) {
    printJson(os, findings, result, input->kind == InputKind::Csv,
              session.files());
  } else if (!flags.diags.verifyDiagnostics) {
    os << "safe under:";
    for (WaitModel model : allWaitModels)
      if (result.safe[unsigned(model)])
        os << ' ' << waitModelName(model);
    os << (is_contained(result.safe, true) ? "\n" : " no model\n");
  }
  return (*file)->commit(diags);
}

int lintMain(int argc, const char *const *argv, raw_ostream &out,
             raw_ostream &err) {
  DiagSession session("pipec", err);
  LintFlags flags;
  if (failed(parseCommandLine(argc, argv, flags.category,
                              "Looks for everything that is wrong with a "
                              "schedule, a step list or a CSV.",
                              flags.diags, session)))
    return session.finish(failure());
  std::string program =
      sys::fs::getMainExecutable(argv[0], reinterpret_cast<void *>(&lintMain));
  return session.finish(run(flags, program, out, session));
}

} // namespace pipec
