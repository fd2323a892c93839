//===- Compare.cpp - The compare command -----===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command/Candidates.h"
#include "Command/CommandRun.h"
#include "Driver/Input.h"
#include "IR/SettingsText.h"
#include "Support/TextTable.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace pipec {

namespace {

struct CompareFlags : CommandFlags {
  CompareFlags() : CommandFlags("pipec compare options") {}

  cl::opt<unsigned> ranks{"ranks", cl::desc("The number of ranks"),
                          cl::value_desc("N"), cl::cat(category)};
  cl::opt<unsigned> microbatches{"microbatches",
                                 cl::desc("The number of micro-batches"),
                                 cl::value_desc("N"), cl::cat(category)};
  cl::opt<std::string> chunks{
      "chunks",
      cl::desc("The chunks a rank to show of schedules that take any number "
               "(default 2)"),
      cl::value_desc("2,4"), cl::init("2"), cl::cat(category)};
  GridFlags grid{category,
                 "Show every combination of these values; words NAME=VALUES "
                 "behind it are more of them"};
  cl::opt<std::string> memoryLimit{"memory-limit",
                                   cl::desc("What a rank has room for"),
                                   cl::value_desc("SIZE"), cl::cat(category)};
  cl::opt<bool> noLibrary{"no-library",
                          cl::desc("Compare the given inputs alone"),
                          cl::cat(category)};
  ModelFlag model{category};
  LowerFlags lower{category};
  FormatFlag format{category};
  WarningFlags warnings{category};
};

/// One run of the command.
class Compare : CommandRun {
public:
  Compare(const CompareFlags &flags, const CommandRun &run)
      : CommandRun(run), flags(flags) {}

  LogicalResult run();

private:
  LogicalResult readOptions();
  LogicalResult readCosts();
  LogicalResult setParts(GivenSettings &given);
  LogicalResult openSources();
  LogicalResult evaluate();
  void printText(raw_ostream &os) const;
  void printJson(json::OStream &json) const;

  const CompareFlags &flags;
  Grid grid;
  CandidateOptions options;
  std::optional<Rational> memoryLimit;
  /// Those of the command line, then the library.
  std::vector<std::string> inputs;
  size_t numGiven = 0;
  ScheduleList schedules;
  std::vector<Candidate> candidates;
};

} // namespace

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

LogicalResult Compare::readCosts() {
  LowerOptions lowering;
  if (failed(flags.lower.read(lowering, diags)))
    return failure();
  options.maxSteps = lowering.maxSteps;
  if (failed(grid.add(lowering.params, diags)))
    return failure();
  if (failed(setParts(lowering.given)) ||
      failed(checkKeys(
          lowering.given,
          {options.ranks, *lowering.given.parts, options.microbatches}, diags)))
    return failure();
  options.given = std::move(lowering.given);
  if (flags.memoryLimit.getNumOccurrences()) {
    MemorySettings &over = options.given.memory.emplace_back();
    over.limit = Rational::parse(flags.memoryLimit);
    if (!over.limit || over.limit->isNegative())
      return unusable(diags, "`" + flags.memoryLimit +
                                 "` is not a size; a size is a number in the "
                                 "unit of the profile's sizes, such as 20 or "
                                 "3.5");
  }
  memoryLimit = options.given.allMemory().limit;
  return success();
}

/// Schedules are compared under costs of parts of one model; nothing else is
/// the same for all of them.
LogicalResult Compare::setParts(GivenSettings &given) {
  if (given.per == CostPer::Stage)
    return diags.report(given.source, diag::ProfilePerStage);
  if (!given.parts)
    given.parts = options.ranks;
  if (!given.per && given.source.isValid())
    (void)diags.report(given.source, diag::ProfilePer, *given.parts);
  given.per = CostPer::Part;
  return success(!diags.hadErrors()); // with -Werror a warning is one
}

LogicalResult Compare::readOptions() {
  if (failed(flags.format.check(diags)) || failed(flags.warnings.apply(diags)))
    return failure();
  if (!flags.ranks.getNumOccurrences() ||
      !flags.microbatches.getNumOccurrences())
    return unusable(diags, "schedules are compared at one size: --ranks and "
                           "--microbatches give it");
  options.ranks = flags.ranks;
  options.microbatches = flags.microbatches;
  if (options.ranks == 0 || options.microbatches == 0)
    return unusable(diags, "a schedule of 0 ranks or micro-batches");
  if (failed(flags.model.read(options.model, diags)) || failed(readCosts()))
    return failure();
  if (failed(flags.grid.read(grid, inputs, diags)))
    return failure();
  numGiven = inputs.size();
  if (!flags.noLibrary)
    llvm::append_range(inputs, search.libraryFiles());
  if (inputs.empty())
    return reportNoInput(diags);
  return success();
}

LogicalResult Compare::openSources() {
  for (size_t i = 0; i != inputs.size(); ++i)
    if (failed(schedules.add(inputs[i],
                             i < numGiven ? StringRef(flags.lower.schedule)
                                          : StringRef(),
                             search, diags)))
      return failure();
  bool chunks = any_of(schedules.entries(), [](const auto &entry) {
    return entry.schedule && entry.schedule->chunks;
  });
  if ((chunks || flags.chunks.getNumOccurrences()) &&
      failed(grid.add("chunks=" + flags.chunks, diags)))
    return failure();
  return grid.fit(schedules.decls(), diags);
}

LogicalResult Compare::evaluate() {
  auto evaluator = CandidateEvaluator::make(options, diags);
  if (failed(evaluator))
    return failure();
  progress.phase("comparing");
  progress.setTotal(schedules.entries().size());
  for (const auto &[source, schedule] : schedules.entries()) {
    progress.advance();
    if (!schedule) {
      candidates.push_back(evaluator->evaluate(*source));
      continue;
    }
    grid.forEachPoint(
        *schedule->decl,
        [&, source = source, schedule = schedule](const ParamValues &params) {
          candidates.push_back(evaluator->evaluate(*source, *schedule, params));
        });
  }
  llvm::stable_sort(candidates, [](const Candidate &a, const Candidate &b) {
    return a.isBefore(b);
  });
  return success();
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

void Compare::printText(raw_ostream &os) const {
  os << options.ranks << " ranks, " << options.microbatches
     << " micro-batches; " << costText(options.given.allCosts()) << " for 1/"
     << *options.given.parts << " of the model";
  if (memoryLimit)
    os << "; room for " << decimalText(*memoryLimit);
  os << "\n\n";
  bool sizes = any_of(candidates, [](const Candidate &candidate) {
    return candidate.figures && !(candidate.figures->memory.total ==
                                  candidate.figures->memory.activations);
  });
  using Align = TextTable::Align;
  TextTable table;
  for (StringRef heading : {"", "schedule", "parameters"})
    table.column(heading.str(), Align::Left);
  for (StringRef heading :
       {"makespan", "bubble_makespan", "span", "bubble_span", "peak"})
    table.column(heading.str());
  if (sizes)
    table.column("memory");
  table.column("transfers");
  table.column("exposed");
  table.column("copies");
  unsigned place = 0;
  for (const Candidate &candidate : candidates) {
    if (candidate.outcome != Candidate::Outcome::Fits)
      continue;
    const Report &figures = *candidate.figures;
    std::vector<std::string> row = {std::to_string(++place),
                                    candidate.name,
                                    candidate.params,
                                    decimalText(figures.makespan),
                                    rateText(figures.bubbleMakespan),
                                    decimalText(figures.span),
                                    rateText(figures.bubbleSpan),
                                    decimalText(figures.memory.activations)};
    if (sizes)
      row.push_back(decimalText(figures.memory.total));
    llvm::append_values(row, std::to_string(figures.transfers),
                        decimalText(figures.waiting.exposed),
                        std::to_string(candidate.copies));
    table.row(std::move(row));
  }
  table.print(os);
  for (auto [outcome, title] :
       {std::pair(Candidate::Outcome::TooLarge, "no room for:"),
        std::pair(Candidate::Outcome::Refused, "not at these sizes:")}) {
    TextTable others(/*indent=*/2);
    for (unsigned column = 0; column != 3; ++column)
      others.column("", Align::Left);
    bool any = false;
    for (const Candidate &candidate : candidates) {
      if (candidate.outcome != outcome)
        continue;
      any = true;
      others.row({candidate.name, candidate.params, candidate.reason});
    }
    if (!any)
      continue;
    os << '\n' << title << '\n';
    others.print(os);
  }
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static void printCandidate(json::OStream &json, const Candidate &candidate) {
  json.attribute("name", candidate.name);
  json.attribute("file", candidate.path);
  writeParams(json, candidate.values);
  json.attribute("fits", candidate.outcome == Candidate::Outcome::Fits);
  if (candidate.reason.empty())
    json.attribute("reason", nullptr);
  else
    json.attribute("reason", candidate.reason);
  if (!candidate.figures)
    return;
  const Report &figures = *candidate.figures;
  json.attribute("stages", candidate.stages);
  json.attribute("copies", candidate.copies);
  writeExact(json, "makespan", figures.makespan);
  writeExact(json, "bubble_makespan", figures.bubbleMakespan);
  writeExact(json, "span", figures.span);
  writeExact(json, "bubble_span", figures.bubbleSpan);
  writeExact(json, "peak", figures.memory.activations);
  writeExact(json, "memory", figures.memory.total);
  json.attribute("transfers", figures.transfers);
  writeExact(json, "exposed", figures.waiting.exposed);
}

void Compare::printJson(json::OStream &json) const {
  json.attribute("ranks", options.ranks);
  json.attribute("microbatches", options.microbatches);
  json.attribute("per", "part");
  json.attribute("parts", *options.given.parts);
  json.attribute("costs", costText(options.given.allCosts()));
  if (options.model)
    json.attribute("model", waitModelName(*options.model));
  else
    json.attribute("model", nullptr);
  json.attributeArray("schedules", [&] {
    for (const Candidate &candidate : candidates)
      json.object([&] { printCandidate(json, candidate); });
  });
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

LogicalResult Compare::run() {
  if (failed(readOptions()) || failed(openSources()) || failed(evaluate()))
    return failure();
  return write(
      flags.format, [&](raw_ostream &os) { printText(os); },
      [&](json::OStream &json) { printJson(json); });
}

int compareMain(const CommandLine &line) {
  CompareFlags flags;
  return runCommand(
      line, flags,
      "Ranks the schedules of the library, and given ones, for one model at "
      "one size.",
      [&](const CommandRun &run) { return Compare(flags, run).run(); });
}

} // namespace pipec
