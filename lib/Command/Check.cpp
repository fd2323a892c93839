//===- Check.cpp - The check command -----===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command/CheckRun.h"
#include "Command/Command.h"
#include "Command/Figures.h"
#include "Driver/Input.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;

namespace pipec {

namespace {

struct CheckFlags {
  cl::OptionCategory category{"pipec check options"};
  LowerFlags lower{category};
  GridFlags grid{category,
                 "Check every combination of these values; words NAME=VALUES "
                 "behind it are more of them"};
  cl::opt<bool> library{"library",
                        cl::desc("Check the schedules of the library"),
                        cl::cat(category)};
  cl::opt<std::string> format{"format", cl::desc("text (default) or json"),
                              cl::value_desc("FORMAT"), cl::init("text"),
                              cl::cat(category)};
  WarningFlags warnings{category};
  DiagFlags diags{category};
  cl::opt<std::string> output{"o", cl::desc("Write the result to FILE"),
                              cl::value_desc("FILE"), cl::init("-"),
                              cl::cat(category)};
};

/// One run of the command.
class Check {
public:
  Check(const CheckFlags &flags, const SearchPath &search, DiagSession &session)
      : flags(flags), search(search), diags(session.engine()),
        progress(session.progress()) {}

  LogicalResult run(raw_ostream &out);

private:
  LogicalResult readOptions();
  LogicalResult openSources();
  void checkAll();
  void printText(raw_ostream &os) const;
  void printJson(raw_ostream &os) const;

  const CheckFlags &flags;
  const SearchPath &search;
  DiagEngine &diags;
  Progress &progress;

  Grid grid;
  LowerOptions lowering;
  std::vector<CostSettings> costs;
  std::vector<std::string> inputs;
  ScheduleList schedules;
  std::vector<CheckResult> results;
};

} // namespace

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

LogicalResult Check::readOptions() {
  if (flags.format != "text" && flags.format != "json")
    return unusable(diags, "no format `" + flags.format + "`");
  if (failed(flags.warnings.apply(diags)) ||
      failed(flags.lower.read(lowering, diags)))
    return failure();
  // A value of -D is a list of one, so that it too goes to the schedules that
  // have its parameter.
  if (failed(grid.add(std::exchange(lowering.params, {}), diags)))
    return failure();
  if (failed(flags.grid.read(grid, inputs, diags)))
    return failure();
  if (flags.library)
    append_range(inputs, search.libraryFiles());
  if (inputs.empty())
    return unusable(diags, "no input; --help shows what there is to give");
  FailureOr<std::vector<CostSettings>> each = flags.lower.readCosts(diags);
  if (failed(each))
    return failure();
  costs = std::move(*each);
  if (costs.empty())
    costs.emplace_back();
  return success();
}

LogicalResult Check::openSources() {
  for (const std::string &input : inputs)
    if (failed(schedules.add(input, flags.lower.schedule, search, diags)))
      return failure();
  return grid.fit(schedules.decls(), diags);
}

void Check::checkAll() {
  CheckRun run(costs, diags);
  for (const auto &[source, schedule] : schedules.entries()) {
    if (schedule) {
      progress.phase("checking " + schedule->decl->name.text.str());
      progress.setTotal(grid.numPoints(*schedule->decl));
      run.begin(*schedule, source->path());
      grid.forEachPoint(
          *schedule->decl,
          [&, source = source, schedule = schedule](const ParamValues &params) {
            run.checkSize(*source, *schedule, lowering, params);
            progress.advance();
          });
    } else {
      run.checkSteps(*source, lowering);
    }
    results.push_back(run.finish());
  }
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

static std::string counted(uint64_t count, StringRef what) {
  return std::to_string(count) + " " + what.str() + (count == 1 ? "" : "s");
}

void Check::printText(raw_ostream &os) const {
  for (const CheckResult &result : results) {
    os << result.name << ": " << counted(result.checked, "size");
    if (costs.size() > 1)
      os << " under " << counted(costs.size(), "cost setting");
    os << ", " << counted(result.clauses.size(), "clause") << ", ";
    if (uint64_t failures = result.failures())
      os << failures << " of " << counted(result.figures(), "figure")
         << " failed";
    else if (result.figures())
      os << counted(result.figures(), "figure") << " hold";
    else
      os << "nothing checked";
    if (result.broken)
      os << ", " << counted(result.broken, "size") << " with errors";
    if (!result.refused.empty())
      os << ", " << counted(result.refused.size(), "size") << " refused";
    os << '\n';
    if (!result.refused.empty())
      os << "  refused first: " << paramText(result.refused[0].params) << ": "
         << result.refused[0].reason << '\n';
  }
}

static void printParams(json::OStream &json, const ParamValues &params) {
  json.attributeObject("params", [&] {
    for (const auto &[name, value] : params)
      json.attribute(name, value);
  });
}

static void printClause(json::OStream &json, const ClauseResult &clause,
                        const SourceFiles &files) {
  json.object([&] {
    json.attribute("metric", metricName(clause.metric));
    LineColumn at = files.lineColumn(files.expand(clause.source));
    json.attribute("file", at.file);
    json.attribute("line", at.line);
    json.attribute("column", at.column);
    json.attribute("figures", clause.figures);
    json.attribute("failures", clause.failures);
    json.attributeArray("failed", [&] {
      for (const FailedFigure &failed : clause.shown)
        json.object([&] {
          const Expectation &expectation = failed.figure.expectation;
          if (expectation.rank)
            json.attribute("rank", *expectation.rank);
          else
            json.attribute("rank", nullptr);
          json.attribute("relation", relationName(expectation.relation));
          writeExact(json, "expected", expectation.value);
          writeExact(json, "measured", failed.figure.measured);
          printParams(json, failed.params);
          json.attribute("costs", failed.costs);
        });
    });
  });
}

void Check::printJson(raw_ostream &os) const {
  json::OStream json(os, /*IndentSize=*/2);
  json.object([&] {
    json.attribute("good", all_of(results, [](const CheckResult &result) {
                     return result.good();
                   }));
    json.attributeArray("schedules", [&] {
      for (const CheckResult &result : results)
        json.object([&] {
          json.attribute("name", result.name);
          json.attribute("file", result.path);
          json.attribute("good", result.good());
          json.attribute("sizes", result.checked);
          json.attribute("broken", result.broken);
          json.attribute("costs", costs.size());
          json.attributeArray("clauses", [&] {
            for (const ClauseResult &clause : result.clauses)
              printClause(json, clause, diags.sourceFiles());
          });
          json.attributeArray("refused", [&] {
            for (const RefusedSize &refused : result.refused)
              json.object([&] {
                printParams(json, refused.params);
                json.attribute("reason", refused.reason);
              });
          });
        });
    });
  });
  os << '\n';
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

LogicalResult Check::run(raw_ostream &out) {
  if (failed(readOptions()) || failed(openSources()))
    return failure();
  checkAll();
  progress.end();
  auto file = OutputFile::open(flags.output, out, diags);
  if (failed(file))
    return failure();
  if (flags.format == "json")
    printJson((*file)->stream());
  else
    printText((*file)->stream());
  return (*file)->commit(diags);
}

int checkMain(int argc, const char *const *argv, raw_ostream &out,
              raw_ostream &err) {
  DiagSession session("pipec", err);
  CheckFlags flags;
  if (failed(parseCommandLine(argc, argv, flags.category,
                              "Checks the `expect` clauses of schedules at "
                              "many sizes.",
                              flags.diags, session)))
    return session.finish(failure());
  std::string program =
      sys::fs::getMainExecutable(argv[0], reinterpret_cast<void *>(&checkMain));
  SearchPath search(program, flags.lower.includes);
  return session.finish(Check(flags, search, session).run(out));
}

} // namespace pipec
