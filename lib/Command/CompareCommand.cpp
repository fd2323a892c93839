//===- CompareCommand.cpp - The compare command ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Command/CommandRun.h"
#include "Compare/Comparison.h"
#include "Driver/Input.h"
#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Diagnostics/ImportDiags.h"
#include "Support/Diagnostics/SearchDiags.h"
#include "Support/Progress.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

#include <set>

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
  LogicalResult readTargets();
  LogicalResult checkSort();
  LogicalResult openSources();
  LogicalResult evaluate();
  void evaluate(CandidateEvaluator &evaluator, const GivenSettings &given,
                const Grid &points);
  void addFound(CandidateEvaluator &evaluator, const GivenSettings &given,
                const Grid &points);
  void chooseCommands(ScheduleSearch &searcher);
  std::string fittingSearch(ScheduleSearch &searcher,
                            const CommandCosts &costs);
  std::vector<SearchRequest> searchesOf(const GivenSettings &given,
                                        const Grid &points) const;
  std::vector<CandidateForm> formsOf(const GivenSettings &given);
  LogicalResult print() const;

  Grid grid;
  CandidateOptions options;
  /// The inputs of the command line, then the library.
  std::vector<std::string> inputs;
  size_t numGiven = 0;
  ScheduleList schedules;
  Comparison table{options};
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
  auto layouts = readLayouts(args, given.layout, options.ranks, diags);
  if (failed(layouts))
    return failure();
  if (layouts->empty() && failed(setParts(given)))
    return failure();
  if (failed(checkNoSections(given, diags)) ||
      failed(checkKeys(given,
                       {options.ranks, given.parts.value_or(maxStages),
                        options.microbatches, options.slices},
                       diags)))
    return failure();
  if (layouts->empty())
    options.given.push_back(std::move(given));
  std::set<std::string> texts;
  for (const LayerLayout &layout : *layouts)
    if (!texts.insert(layout.text()).second)
      return diags.report(DiagLoc(), diag::ValueTwice, shortened(layout.text()),
                          "--layout");
  for (LayerLayout &layout : *layouts)
    options.given.emplace_back(given).layout = std::move(layout);
  if (!layouts->empty() &&
      failed(checkLayerCosts(options.given.front(), diags)))
    return failure();
  for (const GivenSettings &one : options.given)
    if (one.layout &&
        failed(checkKinds(one.layout->letters(), one, DiagLoc(), diags)))
      return failure();
  bool allEven = all_of(options.given, [](const GivenSettings &one) {
    return one.layout && one.layout->isEven();
  });
  if (args.has(Opt::Layouts) && !allEven)
    return diags.report(DiagLoc(), diag::OptionNeeds,
                        args.written(Opt::Layouts),
                        "--layers, whose layers it divides");
  bool anyEven = any_of(options.given, [](const GivenSettings &one) {
    return !one.layout || one.layout->isEven();
  });
  if (args.has(Opt::Chunks) && !anyEven)
    return args.reportUseless(
        Opt::Chunks, "on layouts, whose stages give the chunks", diags);
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
  if (failed(
          store(Grid::read(args, Grid::Values::Many, inputs, diags), grid)) ||
      failed(store(grid.required(args, "ranks", maxRanks, diags),
                   options.ranks)) ||
      failed(store(grid.required(args, "microbatches", maxUnits, diags),
                   options.microbatches)))
    return failure();
  options.slices = args.number(Opt::Slices).value_or(1);
  if (failed(store(readModel(args, diags), options.model)) ||
      failed(readJitter(args, options.jitter, diags)))
    return failure();
  if (failed(readCosts()) ||
      failed(checkJitterUsed(args, options.jitter,
                             options.given.front().allCosts(), diags)) ||
      failed(readTargets()) || failed(checkSort()))
    return failure();
  numGiven = inputs.size();
  if (args.isOn(Opt::Library, true))
    llvm::append_range(inputs, search.libraryFiles());
  if (inputs.empty() && !args.has(Opt::SearchRows))
    return reportMissingInput(diags);
  return success();
}

/// Reports a sort key that is the same in all rows.
LogicalResult Compare::checkSort() {
  StringRef key = args.text(Opt::Sort);
  if (key == "bound" && !args.has(Opt::SearchRows))
    return args.reportUseless(Opt::Sort, "without --search", diags);
  static constexpr StringLiteral drawn[] = {"mean", "p50", "p95", "p99"};
  if (is_contained(drawn, key) && !options.jitter)
    return args.reportUseless(Opt::Sort, "without --jitter", diags);
  if (key == "target" && options.targets.empty())
    return args.reportUseless(Opt::Sort, "without --target", diags);
  if (key == "layout" && options.given.size() == 1)
    return args.reportUseless(Opt::Sort, "without several layouts", diags);
  return success();
}

/// The targets of --target. With --communicators, a target of PyTorch is
/// followed by those with the other orders of transfers.
LogicalResult Compare::readTargets() {
  std::optional<CommunicatorForm> form = readCommunicatorForm(args);
  options.communicators = form;
  std::set<StringRef> seen;
  std::vector<std::string> names;
  bool anySearch = false;
  for (StringRef word : args.items(Opt::ShippedTargets)) {
    if (!seen.insert(word).second)
      return diags.report(DiagLoc(), diag::ValueTwice, word, "--target");
    std::string searched = (word + "-search").str();
    bool hasOrders = form && passesFor(searched, *form);
    anySearch |= hasOrders || (form && passesFor(word, *form));
    names.push_back(word.str());
    if (hasOrders)
      llvm::append_values(names, (word + "-timed").str(), searched);
  }
  if (form && !anySearch)
    return args.reportUseless(Opt::Communicators,
                              "without a target of PyTorch with transfers",
                              diags);
  for (StringRef name : names) {
    if (any_of(options.targets,
               [&](const ShippedTarget &other) { return other.name == name; }))
      continue;
    FailureOr<ShippedTarget> target = makeShippedTarget(name, diags, form);
    if (failed(target))
      return failure();
    options.targets.push_back(std::move(*target));
  }
  return success();
}

LogicalResult Compare::openSources() {
  bool anyProgram = false; // among the inputs of the command line
  for (size_t i = 0; i != inputs.size(); ++i) {
    bool isGiven = i < numGiven;
    if (failed(schedules.add(inputs[i],
                             isGiven ? args.text(Opt::Schedule) : StringRef(),
                             search, args, diags)))
      return failure();
    anyProgram |= isGiven && !schedules.decls().empty();
  }
  if (args.has(Opt::Schedule) && !anyProgram)
    return args.reportUseless(Opt::Schedule,
                              "without an input that is a program", diags);
  std::vector<const ast::ScheduleDecl *> decls = schedules.decls();
  if (failed(
          checkInputOptions(args, !decls.empty(), schedules.hasSteps(), diags)))
    return failure();
  // A search alone has no parameters but the sizes.
  if (schedules.entries().empty()) {
    std::string other = grid.writtenBut({"ranks", "microbatches", "chunks"});
    if (other.empty())
      return success();
    return diags.report(DiagLoc(), diag::OptionWithoutEffect, other,
                        "on a search without further schedules");
  }
  return grid.fit(decls, schedules.hasSteps(), diags);
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

std::vector<CandidateForm> Compare::formsOf(const GivenSettings &given) {
  std::vector<CandidateForm> forms;
  for (ShippedTarget &target : options.targets)
    forms.push_back({&given, &target});
  if (forms.empty())
    forms.push_back({&given, nullptr});
  return forms;
}

/// Evaluates every schedule under one of the given settings.
void Compare::evaluate(CandidateEvaluator &evaluator,
                       const GivenSettings &given, const Grid &points) {
  auto add = [&](Candidate candidate, const ScheduleSource &source) {
    StringRef path = source.inputPath();
    bool isLibrary = sys::path::parent_path(path) == search.libraryFolder();
    std::string input = (isLibrary ? sys::path::stem(path) : path).str();
    candidate.origin = isLibrary ? "library" : source.path().str();
    if (input.size() > 1 && input[0] == '-') // not an option
      input.insert(0, "./");
    candidate.input.push_back(std::move(input));
    if (candidate.isProgram && source.schedules().size() != 1)
      candidate.input.push_back("--schedule=" + candidate.name);
    table.add(std::move(candidate));
  };
  for (const auto &[source, schedule] : schedules.entries()) {
    progress.advance();
    for (CandidateForm form : formsOf(given)) {
      if (!schedule) {
        add(evaluator.evaluate(*source, form), *source);
        continue;
      }
      points.forEachPoint(
          *schedule->decl,
          [&, source = source, schedule = schedule](const ParamValues &params) {
            add(evaluator.evaluate(*source, *schedule, params, form), *source);
          });
    }
  }
}

/// The searches of every placement and number of chunks.
std::vector<SearchRequest> Compare::searchesOf(const GivenSettings &given,
                                               const Grid &points) const {
  std::set<int64_t> chunks;
  for (int64_t number : points.valuesOf("chunks"))
    chunks.insert(number);
  if (!given.layout || given.layout->isEven())
    chunks.insert(1);
  std::vector<SearchRequest> requests;
  for (int64_t number : chunks) {
    if (number < 1 || number > maxStages / options.ranks)
      continue;
    for (bool isV : {false, true}) {
      if (isV && number == 1)
        continue;
      SearchRequest &request = requests.emplace_back();
      request.ranks = options.ranks;
      request.microbatches = options.microbatches;
      request.chunks = number;
      request.slices = options.slices;
      request.isV = isV;
      request.anyForm = true;
      request.anyLayout = args.has(Opt::Layouts);
      request.given = given;
      request.effort = args.count(Opt::SearchRows, request.effort);
      request.library = args.isOn(Opt::Library, true);
    }
  }
  return requests;
}

/// Searches a schedule for every placement and number of chunks.
void Compare::addFound(CandidateEvaluator &evaluator,
                       const GivenSettings &given, const Grid &points) {
  StopWatch watch(/*time=*/std::nullopt);
  ScheduleSearch searcher(search, args, progress, diags);
  for (SearchRequest &request : searchesOf(given, points)) {
    request.stop = &watch.flag();
    for (Candidate &found : evaluator.search(searcher, request, formsOf(given)))
      table.add(std::move(found));
  }
}

/// The values of `chunks` follow from a layout.
static Grid pointsOf(const Grid &grid, const GivenSettings &given,
                     const CandidateOptions &options) {
  Grid points = grid;
  std::optional<unsigned> stages =
      given.layout ? given.layout->numStages() : std::nullopt;
  points.setDefault("chunks", stages ? *stages / options.ranks : 2);
  points.setDefault("slices", options.slices);
  return points;
}

LogicalResult Compare::evaluate() {
  FrameworkJudge judge(diags);
  auto evaluator = CandidateEvaluator::make(options, judge, diags);
  if (failed(evaluator))
    return failure();
  for (const GivenSettings &given : options.given) {
    Grid points = pointsOf(grid, given, options);
    progress.phase("comparing");
    progress.setTotal(schedules.entries().size());
    evaluate(*evaluator, given, points);
    if (args.has(Opt::SearchRows))
      addFound(*evaluator, given, points);
  }
  // Makespans that vary are compared by a quantile.
  table.sort(args.text(Opt::Sort, options.jitter ? "p95" : ""));
  table.warnOfCosts(diags);
  ScheduleSearch searcher(search, args, progress, diags);
  chooseCommands(searcher);
  if (std::optional<unsigned> top = args.number(Opt::Top))
    table.keepTop(*top);
  return success();
}

/// The command line of a search that finds a schedule, where no other one fits;
/// empty if a rank has too little memory for a micro-batch.
std::string Compare::fittingSearch(ScheduleSearch &searcher,
                                   const CommandCosts &costs) {
  DiagEngine::ScopedFilter quiet(diags, [](Diagnostic &) { return false; });
  for (const GivenSettings &given : options.given)
    for (SearchRequest &request :
         searchesOf(given, pointsOf(grid, given, options))) {
      request.library = true;
      FailureOr<SearchProblem> problem = searcher.prepare(request);
      if (succeeded(problem))
        return searchCommand(request, request.isV ? "v" : "loop",
                             problem->model.header.layers.empty()
                                 ? ""
                                 : layoutText(problem->model.header.layers),
                             costs, options, {});
    }
  return "";
}

/// The commands that make the best schedules repeat the costs of this one.
void Compare::chooseCommands(ScheduleSearch &searcher) {
  CommandCosts costs;
  if (args.has(Opt::CostProfile))
    costs.options.push_back("--cost-profile=" +
                            args.text(Opt::CostProfile).str());
  for (StringRef cost : args.list(Opt::Cost))
    costs.options.push_back("--cost=" + cost.str());
  costs.limit = args.text(Opt::MemoryLimit).str();
  table.choose(costs, diags);
  if (!table.hasFitting() && !args.has(Opt::SearchRows))
    table.setFinder(fittingSearch(searcher, costs));
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

LogicalResult Compare::print() const {
  if (form == "csv")
    return write([&](raw_ostream &os) {
      table.printCsv(os);
      return success();
    });
  return write(
      [&](raw_ostream &os) {
        table.print(os, os.is_displayed() ? terminalWidth() : 0);
      },
      [&](json::OStream &json) { table.print(json); });
}

LogicalResult Compare::run() {
  if (failed(readOptions()) || failed(openSources()) || failed(evaluate()) ||
      failed(print()))
    return failure();
  // A table without a schedule that could be measured is not an answer.
  if (!table.hasAny())
    return diags.report(DiagLoc(), diag::NothingCompared);
  return success(table.hasFitting());
}

LogicalResult runCompare(const CommandRun &run) { return Compare(run).run(); }

} // namespace pipec
