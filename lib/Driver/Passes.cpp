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

/// Debug builds verify after every pass.
#ifdef NDEBUG
static constexpr bool verifyEachByDefault = false;
#else
static constexpr bool verifyEachByDefault = true;
#endif

PassFlags::PassFlags(cl::OptionCategory &category)
    : passes("passes", cl::desc("Run these passes, in this order"),
             cl::value_desc("NAME{OPTION=VALUE,...},..."), cl::cat(category)),
      verify("verify", cl::CommaSeparated,
             cl::desc("Check these levels and no others: compute, placed, "
                      "sharded, timed or none (default: all that the steps "
                      "call for)"),
             cl::value_desc("LEVEL,..."), cl::cat(category)),
      printAfterAll("print-after-all",
                    cl::desc("Print the schedule after every pass, to standard "
                             "error"),
                    cl::cat(category)),
      verifyEach("verify-each", cl::desc("Run the verifier after every pass"),
                 cl::init(verifyEachByDefault), cl::cat(category)),
      timePasses("time-passes",
                 cl::desc("Print how long each pass took, to standard error"),
                 cl::cat(category)) {}

TargetFlag::TargetFlag(cl::OptionCategory &category)
    : name("target", cl::desc("Run the passes of a target"),
           cl::value_desc("NAME"), cl::cat(category)) {}

FailureOr<StringRef> TargetFlag::choose(const PassFlags &flags,
                                        StringRef otherwise,
                                        DiagEngine &diags) const {
  bool passes = flags.passes.getNumOccurrences();
  if (passes && name.getNumOccurrences())
    return unusable(diags, "both --passes and --target");
  if (name.getNumOccurrences())
    return StringRef(name);
  return passes ? StringRef(flags.passes) : otherwise;
}

namespace {

/// Names the pass that runs.
class ShowPasses : public PassInstrumentation {
public:
  explicit ShowPasses(Progress &progress) : progress(progress) {}
  void beforePass(const PipelineEntry &entry, const Schedule &) override {
    progress.phase("pass " + entry.text);
  }

private:
  Progress &progress;
};

} // namespace

FailureOr<PassRun> PassRun::make(const PassFlags &flags, StringRef passes,
                                 raw_ostream &err, DiagSession &session) {
  DiagEngine &diags = session.engine();
  FailureOr<VerifySettings> check = VerifySettings::parse(flags.verify, diags);
  if (failed(check))
    return failure();
  FailureOr<Pipeline> pipeline = parsePipeline(passes, allPasses(), diags);
  if (failed(pipeline))
    return failure();
  PassManager manager(std::move(*pipeline));
  // Both print to standard error.
  if (flags.timePasses || flags.printAfterAll)
    session.progress().end();
  // The clock stops before others look at the result.
  if (flags.timePasses)
    manager.add(makeTimePasses(err));
  if (flags.printAfterAll)
    manager.add(makePrintAfterAll(err));
  // --verify=none speaks for the default of debug builds too.
  if (flags.verifyEach &&
      (flags.verifyEach.getNumOccurrences() || check->any()))
    manager.add(makeVerifyEach());
  manager.add(std::make_unique<ShowPasses>(session.progress()));
  return PassRun(std::move(manager), std::move(*check), session.progress());
}

LogicalResult PassRun::run(Schedule &schedule, DiagEngine &diags) {
  // Levels named with --verify are asked of the result alone.
  progress->phase("verifying");
  if (check.all && failed(verify(schedule, diags)))
    return failure();
  if (failed(manager.run(schedule, diags)))
    return failure();
  progress->phase("verifying");
  bool unchanged = check.all && manager.empty();
  if (!unchanged && failed(check.run(schedule, diags)))
    return failure();
  check.warn(schedule, diags);
  return success(!diags.hadErrors()); // with -Werror a warning is one
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
