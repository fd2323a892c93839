//===- CompareCommand.cpp - The compare command ---------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command/CommandRun.h"
#include "Cost/SettingsText.h"
#include "Driver/Input.h"
#include "Driver/LayoutOptions.h"
#include "Results/Candidates.h"
#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Diagnostics/ImportDiags.h"
#include "Support/Diagnostics/SearchDiags.h"
#include "Support/TextTable.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace pipec {

namespace {

/// One run of the command.
class Compare : CommandRun {
public:
  explicit Compare(const CommandRun &run) : CommandRun(run) {}

  LogicalResult run();

private:
  LogicalResult readOptions();
  LogicalResult readCosts();
  LogicalResult setParts(GivenSettings &given);
  LogicalResult openSources();
  void evaluate(CandidateEvaluator &evaluator, const GivenSettings &given);
  LogicalResult evaluate();
  void sortByKey();
  LogicalResult checkAny() const;
  LogicalResult print() const;
  void keepTop();
  bool hasLayouts() const { return options.given.front().layout.has_value(); }
  void printText(raw_ostream &os) const;
  void printCsv(raw_ostream &os) const;
  void printJson(json::OStream &json) const;

  Grid grid;
  CandidateOptions options;
  std::optional<Rational> memoryLimit;
  /// The inputs of the command line, then the library.
  std::vector<std::string> inputs;
  size_t numGiven = 0;
  ScheduleList schedules;
  std::vector<Candidate> candidates;
  /// The number of candidates that --top hides.
  size_t numHidden = 0;
};

} // namespace

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

LogicalResult Compare::readCosts() {
  LowerOptions lowering;
  if (failed(readLoweringButLayouts(args, lowering, diags)))
    return failure();
  options.maxSteps = lowering.maxSteps;
  GivenSettings &given = lowering.given;
  auto layouts = readLayouts(args, options.ranks, diags);
  if (failed(layouts) || failed(readMemoryLimit(args, given, diags)))
    return failure();
  if (layouts->empty() && failed(setParts(given)))
    return failure();
  if (failed(checkKeys(given,
                       {options.ranks, given.parts.value_or(maxStages),
                        options.microbatches},
                       diags)))
    return failure();
  memoryLimit = given.allMemory().get(Figure::Limit);
  if (layouts->empty())
    options.given.push_back(std::move(given));
  for (LayerLayout &layout : *layouts)
    options.given.emplace_back(given).layout = std::move(layout);
  if (hasLayouts() && failed(checkLayerCosts(options.given.front(), diags)))
    return failure();
  bool anyEven = any_of(options.given, [](const GivenSettings &one) {
    return !one.layout || one.layout->isEven();
  });
  if (args.has(Opt::Chunks) && !anyEven)
    return diags.report(DiagLoc(), diag::OptionWithoutEffect,
                        args.written(Opt::Chunks),
                        "on layouts, whose stages give the chunks");
  return success();
}

/// Without layouts, schedules are compared under costs per part of one model,
/// which is the only unit that all of them share.
LogicalResult Compare::setParts(GivenSettings &given) {
  if (given.layersSource.isValid())
    return diags.report(given.layersSource, diag::ProfileLayers);
  if (given.per == CostPer::Stage)
    return diags.report(given.source, diag::ProfilePerStage);
  if (!given.parts)
    given.parts = options.ranks;
  if (!given.per && given.source.isValid())
    (void)diags.report(given.source, diag::ProfilePer, *given.parts);
  given.per = CostPer::Part;
  return success(!diags.hadErrors()); // with -Werror a warning is an error
}

LogicalResult Compare::readOptions() {
  FailureOr<Grid> sizes = Grid::read(args, Grid::Values::Many, inputs, diags);
  if (failed(sizes))
    return failure();
  grid = std::move(*sizes);
  auto ranks = grid.only("ranks", diags);
  auto microbatches = grid.only("microbatches", diags);
  if (failed(ranks) || failed(microbatches))
    return failure();
  if (!*ranks || !*microbatches)
    return unusable(diags, "schedules are compared at one size: --ranks and "
                           "--microbatches give it");
  if (**ranks < 1 || **microbatches < 1)
    return unusable(diags, "--ranks and --microbatches must be at least 1");
  if (**ranks > maxRanks || **microbatches > maxMicrobatches)
    return unusable(diags, "--ranks must be at most " + Twine(maxRanks) +
                               " and --microbatches at most " +
                               Twine(maxMicrobatches));
  options.ranks = **ranks;
  options.microbatches = **microbatches;
  options.model = readModel(args);
  if (failed(readCosts()))
    return failure();
  numGiven = inputs.size();
  if (args.isOn(Opt::Library, true))
    llvm::append_range(inputs, search.libraryFiles());
  if (inputs.empty())
    return reportNoInput(diags);
  return success();
}

LogicalResult Compare::openSources() {
  for (size_t i = 0; i != inputs.size(); ++i)
    if (failed(schedules.add(
            inputs[i], i < numGiven ? args.text(Opt::Schedule) : StringRef(),
            search, args, diags)))
      return failure();
  std::vector<const ast::ScheduleDecl *> decls = schedules.decls();
  if (failed(
          checkInputOptions(args, !decls.empty(), schedules.hasSteps(), diags)))
    return failure();
  return grid.fit(decls, schedules.hasSteps(), diags);
}

/// Evaluates every schedule under one of the given settings.
void Compare::evaluate(CandidateEvaluator &evaluator,
                       const GivenSettings &given) {
  Grid points = grid;
  std::optional<unsigned> stages =
      given.layout ? given.layout->numStages() : std::nullopt;
  points.setDefault("chunks", stages ? *stages / options.ranks : 2);
  for (const auto &[source, schedule] : schedules.entries()) {
    progress.advance();
    if (!schedule) {
      candidates.push_back(evaluator.evaluate(*source, given));
      continue;
    }
    points.forEachPoint(
        *schedule->decl,
        [&, source = source, schedule = schedule](const ParamValues &params) {
          candidates.push_back(
              evaluator.evaluate(*source, *schedule, params, given));
        });
  }
}

LogicalResult Compare::evaluate() {
  auto evaluator = CandidateEvaluator::make(options, diags);
  if (failed(evaluator))
    return failure();
  progress.phase("comparing");
  progress.setTotal(schedules.entries().size() * options.given.size());
  for (const GivenSettings &given : options.given)
    evaluate(*evaluator, given);
  llvm::stable_sort(candidates, [](const Candidate &a, const Candidate &b) {
    return a.isBefore(b);
  });
  sortByKey();
  keepTop();
  return success();
}

/// The figure for --sort; sorting by name is separate.
static Rational figureOf(const Report &figures, StringRef key) {
  if (key == "makespan")
    return figures.makespan;
  if (key == "bubble_makespan")
    return figures.bubbleMakespan;
  if (key == "span")
    return figures.span;
  if (key == "bubble_span")
    return figures.bubbleSpan;
  if (key == "peak")
    return figures.memory.activations;
  if (key == "memory")
    return figures.memory.total;
  if (key == "transfers")
    return Rational(int64_t(figures.transfers));
  assert(key == "exposed" && "all keys are handled");
  return figures.waiting.exposed;
}

/// Sorts by --sort; equal candidates keep their order.
void Compare::sortByKey() {
  if (!args.has(Opt::Sort))
    return;
  StringRef key = args.text(Opt::Sort);
  llvm::stable_sort(candidates, [&](const Candidate &a, const Candidate &b) {
    if (a.outcome != b.outcome)
      return a.outcome < b.outcome;
    if (key == "name")
      return a.name < b.name;
    if (a.outcome != Candidate::Outcome::Fits)
      return false;
    return figureOf(*a.figures, key) < figureOf(*b.figures, key);
  });
}

/// Removes candidates beyond --top.
void Compare::keepTop() {
  if (std::optional<unsigned> top = args.number(Opt::Top)) {
    size_t fits = llvm::count_if(candidates, [](const Candidate &candidate) {
      return candidate.outcome == Candidate::Outcome::Fits;
    });
    size_t kept = std::min<size_t>(*top, fits);
    numHidden = candidates.size() - kept;
    candidates.resize(kept);
  }
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

void Compare::printText(raw_ostream &os) const {
  os << options.ranks << " ranks, " << options.microbatches
     << " micro-batches; " << costText(options.given.front().allCosts());
  if (!hasLayouts())
    os << " for 1/" << *options.given.front().parts << " of the model";
  else if (options.given.size() == 1)
    os << " for one layer; layout " << options.given.front().layout->text();
  else
    os << " for one layer; " << options.given.size() << " layouts";
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
  // A column of empty cells is omitted.
  table.column("layout", Align::Left);
  for (StringRef heading :
       {"makespan", "bubble_makespan", "span", "bubble_span", "peak"})
    table.column(heading.str());
  if (sizes)
    table.column("memory");
  table.column("transfers");
  table.column("exposed");
  table.column("copies");
  // Equal rows of one schedule are merged into one row with all parameters.
  unsigned place = 0;
  std::vector<std::string> last;
  auto flush = [&] {
    if (!last.empty())
      table.row(std::exchange(last, {}));
  };
  for (const Candidate &candidate : candidates) {
    if (candidate.outcome != Candidate::Outcome::Fits)
      continue;
    ++place;
    const Report &figures = *candidate.figures;
    std::vector<std::string> row = {std::to_string(place),
                                    candidate.name,
                                    candidate.params,
                                    options.given.size() > 1 ? candidate.layout
                                                             : "",
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
    if (!last.empty() && last[1] == row[1] &&
        std::equal(last.begin() + 3, last.end(), row.begin() + 3)) {
      last[2] += "; " + row[2];
      continue;
    }
    flush();
    last = std::move(row);
  }
  flush();
  table.print(os);
  if (numHidden)
    os << "... " << numHidden << " more\n";
  for (auto [outcome, title] :
       {std::pair(Candidate::Outcome::TooLarge, "no room for:"),
        std::pair(Candidate::Outcome::Refused, "not at these sizes:")}) {
    TextTable others(/*indent=*/2);
    for (unsigned column = 0; column != 4; ++column)
      others.column("", Align::Left);
    bool any = false;
    for (const Candidate &candidate : candidates) {
      if (candidate.outcome != outcome)
        continue;
      any = true;
      others.row({candidate.name, candidate.params,
                  options.given.size() > 1 ? candidate.layout : "",
                  candidate.reason});
    }
    if (!any)
      continue;
    os << '\n' << title << '\n';
    others.print(os);
  }
}

//===----------------------------------------------------------------------===//
// CSV
//===----------------------------------------------------------------------===//

/// A cell, quoted if necessary.
static std::string csvCell(StringRef text) {
  if (text.find_first_of(",\"\r\n") == StringRef::npos)
    return text.str();
  std::string quoted = "\"";
  for (char c : text) {
    quoted += c;
    if (c == '"')
      quoted += c;
  }
  return quoted + '"';
}

void Compare::printCsv(raw_ostream &os) const {
  os << "schedule,parameters,fits,reason,makespan,bubble_makespan,span,"
        "bubble_span,peak,memory,transfers,exposed,copies,layout\n";
  for (const Candidate &candidate : candidates) {
    bool fits = candidate.outcome == Candidate::Outcome::Fits;
    os << csvCell(candidate.name) << ',' << csvCell(candidate.params) << ','
       << (fits ? "true" : "false") << ',' << csvCell(candidate.reason);
    if (!candidate.figures) {
      os << ",,,,,,,,,," << csvCell(candidate.layout) << '\n';
      continue;
    }
    const Report &figures = *candidate.figures;
    for (Rational figure :
         {figures.makespan, figures.bubbleMakespan, figures.span,
          figures.bubbleSpan, figures.memory.activations, figures.memory.total})
      os << ',' << toDecimal(figure, /*exactDigits=*/15, 15).text;
    os << ',' << figures.transfers << ','
       << toDecimal(figures.waiting.exposed, /*exactDigits=*/15, 15).text << ','
       << candidate.copies << ',' << csvCell(candidate.layout) << '\n';
  }
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static void printCandidate(json::OStream &json, const Candidate &candidate) {
  json.attribute("name", candidate.name);
  json.attribute("file", candidate.path);
  writeParams(json, candidate.values);
  if (candidate.layout.empty())
    json.attribute("layout", nullptr);
  else
    json.attribute("layout", candidate.layout);
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
  const GivenSettings &given = options.given.front();
  json.attribute("per",
                 costPerName(hasLayouts() ? CostPer::Layer : CostPer::Part));
  if (hasLayouts())
    json.attribute("parts", nullptr);
  else
    json.attribute("parts", *given.parts);
  json.attribute("costs", costText(given.allCosts()));
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

/// A table without a schedule that could be measured is not an answer.
LogicalResult Compare::checkAny() const {
  if (any_of(candidates,
             [](const Candidate &candidate) {
               return candidate.figures.has_value();
             }) ||
      numHidden != 0)
    return success();
  return diags.report(DiagLoc(), diag::NothingCompared);
}

LogicalResult Compare::run() {
  if (failed(readOptions()) || failed(openSources()) || failed(evaluate()))
    return failure();
  if (failed(print()))
    return failure();
  return checkAny();
}

LogicalResult Compare::print() const {
  if (form == "csv")
    return write([&](raw_ostream &os) {
      printCsv(os);
      return success();
    });
  return write([&](raw_ostream &os) { printText(os); },
               [&](json::OStream &json) { printJson(json); });
}

LogicalResult runCompare(const CommandRun &run) { return Compare(run).run(); }

} // namespace pipec
