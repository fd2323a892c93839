//===- PassFlags.cpp - Passes on the command line -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Driver/PassFlags.h"

#include "Simulation/MemoryLimit.h"
#include "Support/Diagnostics/CommandDiags.h"
#include "Transforms/Passes.h"
#include "Verify/TrainingRules.h"

#include "llvm/Support/FormatVariadic.h"

using namespace llvm;

namespace pipec {

/// Debug builds verify after every pass.
#ifdef NDEBUG
static constexpr bool verifyEachByDefault = false;
#else
static constexpr bool verifyEachByDefault = true;
#endif

namespace {

/// Shows the running pass on the progress line.
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

/// Reports options about passes that contradict each other, or that have no
/// effect without passes.
static LogicalResult checkPassOptions(const Arguments &args, bool verifies,
                                      bool hasPasses, DiagEngine &diags) {
  bool each = args.isOn(Opt::VerifyEach, false);
  if (each && !verifies)
    return diags.report(DiagLoc(), diag::OptionsExclusive, "--verify=none",
                        "--verify-each");
  if (hasPasses)
    return success();
  for (Opt option : {Opt::VerifyEach, Opt::PrintBeforeAll, Opt::PrintAfterAll,
                     Opt::TimePasses})
    if (args.has(option) && (option != Opt::VerifyEach || each))
      return args.reportUseless(option, "without passes", diags);
  return success();
}

FailureOr<PassRun> PassRun::make(const Arguments &args, StringRef passes,
                                 raw_ostream &err, DiagSession &session) {
  DiagEngine &diags = session.engine();
  FailureOr<VerifySettings> check = VerifySettings::read(args, diags);
  if (failed(check))
    return failure();
  FailureOr<Pipeline> pipeline = parsePipeline(passes, allPasses(), diags);
  if (failed(pipeline))
    return failure();
  if (failed(checkPassOptions(args, check->any(), !pipeline->empty(), diags)))
    return failure();
  PassManager manager(std::move(*pipeline));
  bool before = args.has(Opt::PrintBeforeAll);
  bool after = args.has(Opt::PrintAfterAll);
  bool time = args.has(Opt::TimePasses);
  // All of these print to standard error.
  if (time || before || after)
    session.progress().end();
  // The clock must be the innermost, so that it does not include the others.
  if (before)
    manager.add(makePrintBeforeAll(err));
  if (time)
    manager.add(makeTimePasses(err));
  if (after)
    manager.add(makePrintAfterAll(err));
  // --verify=none also disables the default of debug builds.
  if (args.isOn(Opt::VerifyEach, verifyEachByDefault) && check->any())
    manager.add(makeVerifyEach());
  manager.add(std::make_unique<ShowPasses>(session.progress()));
  return PassRun(std::move(manager), std::move(*check), before || after,
                 session.progress());
}

LogicalResult PassRun::run(Schedule &schedule, DiagEngine &diags) {
  // The levels of --verify only apply to the result.
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
  return success(!diags.hadErrors()); // with -Werror a warning is an error
}

static constexpr std::pair<StringLiteral, VerifyLevel> levelNames[] = {
    {"none", VerifyLevel::None},     {"compute", VerifyLevel::Compute},
    {"placed", VerifyLevel::Placed}, {"sharded", VerifyLevel::Sharded},
    {"tied", VerifyLevel::Tied},     {"timed", VerifyLevel::Timed},
};

std::vector<Choice> verifyLevelChoices() {
  std::vector<Choice> choices;
  for (const auto &[name, level] : levelNames)
    choices.push_back({name, ""});
  return choices;
}

FailureOr<VerifySettings> VerifySettings::read(const Arguments &args,
                                               DiagEngine &diags) {
  VerifySettings settings;
  std::vector<StringRef> given = args.items(Opt::Verify);
  settings.all = given.empty();
  for (StringRef name : given) {
    const auto *it =
        find_if(levelNames, [&](const auto &row) { return row.first == name; });
    if (it->second != VerifyLevel::None)
      settings.levels.push_back(it->second);
  }
  if (is_contained(given, "none") && !settings.levels.empty())
    return reportUsageError(diags, "--verify=none excludes other levels");
  return settings;
}

LogicalResult VerifySettings::run(const Schedule &schedule,
                                  DiagEngine &diags) const {
  if (all)
    return verify(schedule, diags);
  if (is_contained(levels, VerifyLevel::Timed) && schedule.times.empty())
    return diags.report(DiagLoc(), diag::OptionWithoutEffect, "--verify=timed",
                        "on steps without start times");
  bool good = true;
  for (VerifyLevel level : levels)
    good &= succeeded(verify(schedule, level, diags));
  return success(good);
}

void VerifySettings::warn(const Schedule &schedule, DiagEngine &diags) const {
  if (!any())
    return;
  checkLossOrder(schedule, Severity::Warning, diags);
  checkUnshardsUsed(schedule, Severity::Warning, diags);
  checkMemoryLimit(schedule, Severity::Warning, diags);
}

void printPassNames(raw_ostream &os) {
  for (const PassInfo &pass : allPasses().passes)
    os << pass.name << '\n';
  for (const PipelineInfo &target : allPasses().pipelines)
    os << target.name << '\n';
}

void printPassHelp(raw_ostream &os) {
  // A name that is wider than its column is on a line of its own.
  auto row = [&](StringRef indent, StringRef name, StringRef help) {
    std::string left = (indent + name).str();
    if (left.size() > 28)
      os << left << "\n" << formatv("{0,-28} {1}\n", "", help);
    else
      os << formatv("{0,-28} {1}\n", left, help);
  };
  os << "PASSES (described in docs/Passes.md):\n\n";
  for (const PassInfo &pass : allPasses().passes) {
    row("  ", pass.name, pass.summary);
    for (const PassOptionInfo &option : pass.options) {
      std::string help = option.help.str();
      if (!option.defaultValue.empty())
        help += " (default " + option.defaultValue + ")";
      row("    ", option.name.str() + "=" + option.values, help);
    }
  }
  os << "\nTARGETS (named lists of passes):\n\n";
  for (const PipelineInfo &target : allPasses().pipelines)
    row("  ", target.name, target.passes);
}

} // namespace pipec
