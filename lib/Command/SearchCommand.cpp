//===- SearchCommand.cpp - The search command -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Command/OrderCommand.h"
#include "Driver/Input.h"
#include "SearchRun/SearchCertificate.h"
#include "SearchRun/SearchReport.h"
#include "SearchRun/WeightedSearch.h"
#include "StepText/StepPrinter.h"
#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Diagnostics/SearchDiags.h"
#include "Support/Progress.h"
#include "Support/Words.h"
#include "Verify/Verifier.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <filesystem>

using namespace llvm;

namespace pipec {

namespace {

/// One run of the command.
class SearchRun : CommandRun {
public:
  explicit SearchRun(const CommandRun &run) : CommandRun(run) {}

  LogicalResult run();

private:
  LogicalResult readSizes();
  LogicalResult readOptions();
  LogicalResult readModel(const LowerOptions &lowering);
  LogicalResult checkModel();
  LogicalResult checkBothWays();
  LogicalResult checkLayouts();
  LogicalResult checkEdges();
  LogicalResult checkSlices();
  /// Reports that an option needs `what`.
  LogicalResult needs(Opt option, StringRef what) {
    return diags.report(DiagLoc(), diag::OptionNeeds, args.written(option),
                        what);
  }
  FailureOr<PlacementResult> find(ScheduleSearch &searcher);
  FailureOr<PlacementResult> findAll();
  LogicalResult runWeighted();
  LogicalResult certify(const FoundSchedule &found, SearchReport &report);
  void certifyOthers(const PlacementResult &result, SearchReport &report);
  LogicalResult checkCertificate(std::error_code error);

  SearchRequest request;
  Grid sizes;
  /// The schedule whose placement is kept; empty if there is none.
  std::string input;
  bool asProgram = false;
  std::string wordsFor;
  /// Recomputation and copies are tried.
  bool savesMemory = false;
  /// Memory is minimized, with this slack of the makespan in millionths.
  std::optional<uint64_t> slack;
  std::optional<MinimalMemory> minimal;
  std::vector<MemoryPoint> frontier;
  std::optional<LayoutSummary> layouts;
  std::optional<std::chrono::milliseconds> timeLimit;
  /// The certificate, which becomes final after the schedule.
  std::optional<OutputFile> certificate;
};

} // namespace

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

LogicalResult SearchRun::readSizes() {
  std::vector<std::string> inputs;
  if (failed(store(Grid::read(args, Grid::Values::One, inputs, diags), sizes)))
    return failure();
  request.isFixed = args.has(Opt::Layouts) && args.has(Opt::Schedule);
  if (!inputs.empty())
    input = inputs.front();
  else if (request.isFixed)
    input = args.text(Opt::Schedule).str();
  if (!input.empty())
    return success();
  if (failed(checkInputOptions(args, /*hasPrograms=*/false, /*hasSteps=*/false,
                               diags)))
    return failure();
  if (std::string other = sizes.writtenBut({"ranks", "microbatches", "chunks"});
      !other.empty())
    return diags.report(DiagLoc(), diag::OptionWithoutEffect, other,
                        "on a search, whose sizes are `ranks`, `microbatches` "
                        "and `chunks`");
  // With --placement=best the largest number to compare.
  unsigned chunks =
      args.text(Opt::PlacementName) == "best" ? 2 : request.chunks;
  if (failed(
          store(sizes.required(args, "ranks", maxRanks, diags), request.ranks)))
    return failure();
  // Enough for both ramps, and for blocks without idle time to pay.
  std::optional<unsigned> microbatches;
  if (args.has(Opt::EveryM))
    microbatches = std::min(8 * request.ranks + 8, maxUnits);
  return success(
      succeeded(store(
          sizes.required(args, "microbatches", maxUnits, diags, microbatches),
          request.microbatches)) &&
      succeeded(store(sizes.required(args, "chunks", maxStages / request.ranks,
                                     diags, chunks),
                      request.chunks)));
}

/// Reports options that an input makes useless.
LogicalResult SearchRun::checkModel() {
  if (args.has(Opt::PlacementName))
    return args.reportUseless(Opt::PlacementName,
                              "on an input, whose placement is kept", diags);
  if (!request.isFixed)
    return args.has(Opt::Layouts)
               ? needs(Opt::Layouts, "--schedule with an input, whose order "
                                     "then remains")
               : success();
  for (Opt option : {Opt::Backward, Opt::MemoryBy, Opt::Seed, Opt::Within,
                     Opt::RequireWithin, Opt::Prove, Opt::Start, Opt::Minimize,
                     Opt::Frontier, Opt::Readable, Opt::EveryM,
                     Opt::Certificate, Opt::Library})
    if (args.has(option))
      return args.reportUseless(
          option, "on a search for the layout of a schedule", diags);
  if (asProgram)
    return needs(Opt::Output, "a name with .steps for a search for the layout "
                              "of a schedule");
  request.library = false;
  return success();
}

/// Reports options that need words or several threads.
LogicalResult SearchRun::checkBothWays() {
  for (Opt option :
       {Opt::Layouts, Opt::Certificate, Opt::Readable, Opt::EveryM,
        Opt::Minimize, Opt::Frontier, Opt::Weights, Opt::Prove, Opt::Threads})
    if (args.has(option))
      return needs(option, "a placement of one direction");
  StringRef two = ", with a placement of two directions";
  if (asProgram)
    return needs(Opt::Output, ("a name with .steps" + two).str());
  if (args.has(Opt::MemoryBy) && args.text(Opt::MemoryBy) != "plain")
    return needs(Opt::MemoryBy, ("plain" + two).str());
  savesMemory = false;
  return success();
}

/// Reads the schedule whose placement is kept.
LogicalResult SearchRun::readModel(const LowerOptions &lowering) {
  auto source = ScheduleSource::find(input, search, args, diags);
  if (failed(source))
    return failure();
  // The name is that of the input or of a schedule in it.
  bool isName = input == args.text(Opt::Schedule);
  LowerOptions own = lowering;
  FailureOr<Schedule> made = failure();
  if (isName && (*source)->isProgram()) {
    auto chosen = (*source)->schedule("", diags);
    if (failed(chosen) ||
        failed(sizes.fit((*chosen)->decl, /*otherInputs=*/false, diags)))
      return failure();
    own.params = sizes.point(*(*chosen)->decl);
    made = (*source)->lower(**chosen, own, diags);
  } else {
    made = InputRequest{args, input, sizes}.makeSchedule(**source,
                                                         std::move(own), diags);
  }
  if (failed(made) || (request.isFixed && failed(verify(*made, diags))))
    return failure();
  auto refuse = [&](const Twine &why) {
    return diags.report(DiagLoc(), diag::SearchModel, made->name, why.str());
  };
  if (made->forwardOnly)
    return refuse("it has no backward steps");
  if (!made->streams.empty())
    return refuse("its stages have streams");
  if (!made->sections.empty())
    return refuse("its stages have sections");
  request.ranks = made->numRanks;
  request.microbatches = made->numMicrobatches();
  request.slices = made->numSlices;
  std::vector<unsigned> stages(request.ranks);
  for (unsigned d = 0; d != made->placement.numDirections(); ++d)
    for (uint32_t rank : made->placement.map(d))
      ++stages[rank];
  request.chunks = *llvm::max_element(stages);
  if (made->placement.bidirectional() && failed(checkBothWays()))
    return failure();
  if (request.isFixed) {
    BackwardForm form = formOf(*made);
    request.anyForm = false;
    request.split = form != BackwardForm::Whole;
    request.mixed = form == BackwardForm::Mixed;
  }
  request.model = std::make_shared<Schedule>(std::move(*made));
  return success();
}

LogicalResult SearchRun::checkLayouts() {
  if (!args.has(Opt::Layouts))
    return success();
  std::optional<LayerLayout> &layout = request.given.layout;
  // The layers of a fixed layout, such as that of a profile, are cut anew.
  std::string layers;
  if (layout && !layout->isEven())
    layers = join(*layout->cut(*layout->numStages()), "");
  if (!layers.empty())
    layout = LayerLayout::even(std::move(layers));
  if (!layout || !layout->isEven())
    return needs(Opt::Layouts, "--layers, whose layers it divides");
  return success();
}

LogicalResult SearchRun::checkSlices() {
  if (!request.model)
    request.slices = args.number(Opt::Slices).value_or(1);
  for (Opt option : {Opt::Readable, Opt::EveryM, Opt::Layouts})
    if (request.slices != 1 && args.has(option))
      return needs(option, "whole micro-batches, without --slices");
  return success();
}

/// Edges name stages, so the stages must be known.
LogicalResult SearchRun::checkEdges() {
  if (request.graph.empty())
    return success();
  Opt edges = args.has(Opt::Graph) ? Opt::Graph : Opt::Connect;
  if (request.anyPlacement)
    return needs(edges, "one --placement, and best compares several");
  if (args.has(Opt::Layouts))
    return needs(edges, "fixed stages, and --layouts compares several");
  return success();
}

/// True if two paths lead to one file, which need not exist.
static bool areSameFile(StringRef a, StringRef b) {
  if (a == b || sys::fs::equivalent(a, b))
    return true;
  namespace fs = std::filesystem;
  std::error_code error;
  auto whole = [&](StringRef path) {
    return fs::weakly_canonical(fs::absolute(path.str(), error), error);
  };
  return whole(a) == whole(b) && !error;
}

LogicalResult SearchRun::readOptions() {
  form = args.text(Opt::Format, "text");
  StringRef file = args.text(Opt::Output);
  if (args.has(Opt::Certificate) && args.has(Opt::Output) &&
      areSameFile(args.text(Opt::Certificate), file))
    return reportUsageError(diags, "--certificate and -o name the same file");
  StringRef extension = sys::path::extension(file);
  asProgram = extension.equals_insensitive(".pipe");
  if (args.has(Opt::Output) && !asProgram &&
      !extension.equals_insensitive(".steps"))
    return diags.report(DiagLoc(), diag::OptionValue, shortened(file), "-o",
                        "a name with .steps or .pipe");
  StringRef placement = args.text(Opt::PlacementName, "loop");
  request.anyPlacement = placement == "best";
  request.isV = placement == "v";
  StringRef form = args.text(Opt::Backward, "best");
  request.anyForm = form == "best";
  request.split = form != "whole";
  request.mixed = form == "mixed";
  // These take a word per rank.
  for (Opt option : {Opt::Certificate, Opt::Readable, Opt::EveryM,
                     Opt::Minimize, Opt::Frontier})
    if (args.has(option) && wordsFor.empty())
      wordsFor = optionInfo(option).spelling();
  request.oneForm = !wordsFor.empty();
  // A program has lists, with recomputation and copies, too.
  std::string plainFor = wordsFor;
  if (asProgram && wordsFor.empty())
    wordsFor = "-o " + shortened(file);
  request.onlyWords = !wordsFor.empty();
  if (request.mixed && request.oneForm)
    return needs(Opt::Backward, "best, split or whole, with " + wordsFor);
  bool plain = args.text(Opt::MemoryBy) == "plain";
  if (args.has(Opt::Layouts))
    plainFor = "--layouts";
  if (args.has(Opt::MemoryBy) && !plain && !plainFor.empty())
    return needs(Opt::MemoryBy, "plain, with " + plainFor);
  if (args.has(Opt::EveryM) && args.has(Opt::Output) && !asProgram)
    return needs(Opt::Output, "a name with .pipe for --every-m");
  savesMemory = !plain && plainFor.empty();
  request.certified = args.has(Opt::Certificate) ? "a certificate"
                      : args.has(Opt::EveryM)    ? "--every-m"
                                                 : "";
  request.library = args.isOn(Opt::Library, true);
  for (StringRef input : args.list(Opt::Start))
    request.starts.push_back(input.str());
  timeLimit = parseDuration(args.text(Opt::TimeLimit));
  request.threads = args.number(Opt::Threads).value_or(1);
  request.seed = args.count(Opt::Seed, 1);
  if (timeLimit)
    request.effort = std::max<uint64_t>(
        1, (timeLimit->count() * request.threads + 999) / 1000);
  request.effort = args.count(Opt::Effort, request.effort);
  request.within = parseShare(args.text(Opt::Within)).value_or(request.within);
  request.prove = args.has(Opt::Prove);
  if (args.has(Opt::ShowProgress))
    request.log = &err;
  slack = parseGoal(args.text(Opt::Minimize));
  LowerOptions lowering;
  if (failed(readLowering(args, lowering, diags)) ||
      failed(checkNoSections(lowering.given, diags)))
    return failure();
  if (!input.empty() && (failed(checkModel()) || failed(readModel(lowering))))
    return failure();
  request.given = std::move(lowering.given);
  if (!request.model)
    request.graph = std::move(lowering.graph);
  const CostSettings costs =
      request.model ? request.model->costs : request.given.allCosts();
  bool orders = hasFactors(costs, request.microbatches);
  if (!orders && args.has(Opt::KeepOrder))
    return args.reportUseless(Opt::KeepOrder,
                              "on micro-batches of equal factors", diags);
  request.keepsOrder = args.has(Opt::KeepOrder) ? "--keep-order"
                       : args.has(Opt::Layouts) ? "--layouts"
                       : request.model && !request.model->order.empty()
                           ? "an input that has one"
                       : wordsFor.empty() ? plainFor
                                          : wordsFor;
  savesMemory &= request.model ? request.model->memory.hasLimit()
                               : request.given.allMemory().hasLimit();
  // Half of the time is for recomputation and copies, and for orders.
  for (bool more : {savesMemory, orders && request.keepsOrder.empty()})
    if (more && timeLimit && !args.has(Opt::Effort))
      request.effort = (request.effort + 1) / 2;
  if (failed(checkSlices()) || failed(checkLayouts()) || failed(checkEdges()))
    return failure();
  if (request.anyPlacement && !args.has(Opt::Layouts) &&
      !request.given.perPart())
    return needs(Opt::PlacementName,
                 "costs per part, for different numbers of stages: with "
                 "--parts, or \"per\": \"part\" in the profile");
  return success();
}

//===----------------------------------------------------------------------===//
// The search
//===----------------------------------------------------------------------===//

LogicalResult SearchRun::checkCertificate(std::error_code error) {
  if (!error)
    return success();
  return reportUnwritable(diags, args.text(Opt::Certificate), error);
}

/// Writes the certificate.
LogicalResult SearchRun::certify(const FoundSchedule &found,
                                 SearchReport &report) {
  auto open = [&] {
    certificate.emplace(args.text(Opt::Certificate));
    return checkCertificate(certificate->open(standardOutput()));
  };
  if (report.everyM) {
    report.everyIsCertified = true;
    if (failed(open()))
      return failure();
    writeProofText(report.everyM->proof, certificate->stream());
    return success();
  }
  if (found.boundTicks == 0)
    return args.reportUseless(Opt::Certificate, "on a lower bound of 0", diags);
  progress.phase("proving");
  search::Budget budget(request.work());
  search::Refutation proof =
      found.proof
          ? *found.proof
          : search::prove(found.model.problem, found.boundTicks, budget);
  report.certified = found.model.time(proof.refuted + 1);
  if (failed(open()))
    return failure();
  search::writeCertificate(found.model, layouts ? layouts->best : "",
                           found.words, found.makespan, proof,
                           certificate->stream());
  return success();
}

/// Writes the bound of all placements, forms and layouts.
void SearchRun::certifyOthers(const PlacementResult &result,
                              SearchReport &report) {
  ScheduleSearch searcher(search, args, progress, diags);
  auto all =
      certifyAll(searcher, request, result, layouts ? &*layouts : nullptr,
                 *report.certified, diags);
  if (!all)
    return;
  report.certifiedAll = all->bound;
  search::writeVariants(all->bound, all->variants, certificate->stream());
}

/// The search alone.
FailureOr<PlacementResult> SearchRun::find(ScheduleSearch &searcher) {
  if (args.has(Opt::Layouts)) {
    FailureOr<LayoutResult> all = searchLayouts(searcher, request, diags);
    if (failed(all))
      return failure();
    layouts = std::move(all->summary);
    return std::move(all->result);
  }
  return savesMemory ? searchWithinMemory(searcher, request, diags)
                     : searchPlacements(searcher, request, diags);
}

/// The search and all that comes after it.
FailureOr<PlacementResult> SearchRun::findAll() {
  StopWatch watch(timeLimit);
  request.stop = &watch.flag();
  ScheduleSearch searcher(search, args, progress, diags);
  FailureOr<PlacementResult> result = find(searcher);
  if (failed(result) ||
      failed(orderMicrobatches(searcher, request, *result, diags)))
    return failure();
  if (slack) {
    progress.phase("minimizing memory");
    if (failed(store(minimizeMemory(searcher, *slack, request.work(),
                                    result->problem, result->found, diags),
                     minimal)))
      return failure();
  }
  if (args.has(Opt::Frontier) &&
      failed(store(searchFrontier(searcher, request.work(), result->problem,
                                  result->found, diags),
                   frontier)))
    return failure();
  if ((args.has(Opt::Readable) || args.has(Opt::EveryM)) &&
      failed(searcher.makeReadable(
          result->problem, SearchLimits{request.work()}, result->found)))
    return failure();
  return result;
}

/// The search of lists and an order of one batch.
LogicalResult SearchRun::runWeighted() {
  if (request.anyPlacement)
    return needs(Opt::Weights, "one --placement, and best compares several");
  if (asProgram)
    return needs(Opt::Output, "a name with .steps for a search with --weights");
  if (args.has(Opt::Certificate))
    return args.reportUseless(
        Opt::Certificate,
        "with --weights; `pipec order` certifies the orders of one schedule",
        diags);
  BatchWeights batch;
  if (failed(store(readWeights(args, diags), batch)))
    return failure();
  if (batch.limit) {
    MemorySettings &own = request.given.memory.emplace_back();
    own.set(Figure::Limit, *batch.limit);
  }
  StopWatch watch(timeLimit);
  request.stop = &watch.flag();
  ScheduleSearch searcher(search, args, progress, diags);
  FailureOr<WeightedResult> result =
      searchWeighted(searcher, request, batch, diags);
  if (failed(result))
    return failure();
  warnOfRounding(result->order.rounding, batch.loc, diags);
  if (args.has(Opt::Output) && failed(CommandRun::write([&](raw_ostream &os) {
        printSteps(result->schedule, os);
        return success();
      })))
    return failure();
  return print(
      [&](raw_ostream &os) {
        os << result->title << '\n';
        printOrder(result->order, os);
      },
      [&](json::OStream &json) {
        json.attribute("schedule", result->title);
        printOrder(result->order, json);
      });
}

LogicalResult SearchRun::run() {
  if (failed(readSizes()) || failed(readOptions()))
    return failure();
  if (args.has(Opt::Weights))
    return runWeighted();
  FailureOr<PlacementResult> result = findAll();
  if (failed(result))
    return failure();
  FoundSchedule *found = &result->found;
  SearchReport report(*result);
  report.wordsFor = wordsFor;
  report.savesMemory = savesMemory;
  warnOfRounding(found->schedule.rounding, DiagLoc(), diags);
  warnOfAssumed(report.assumed(), DiagLoc(), diags);
  report.layouts = layouts;
  report.minimal = minimal;
  report.frontier = std::move(frontier);
  if (args.has(Opt::EveryM)) {
    progress.phase("proving");
    if (failed(store(makeEveryM(*found, search, diags), report.everyM)))
      return failure();
  }
  if (args.has(Opt::Certificate)) {
    if (failed(certify(*found, report)))
      return failure();
    // A problem with the least memory is that of the best alone.
    if (!slack && !report.everyM)
      certifyOthers(*result, report);
  }
  if (args.has(Opt::Output) && failed(CommandRun::write([&](raw_ostream &os) {
        if (report.everyM)
          os << report.everyM->program;
        else if (asProgram &&
                 (found->schedule.numSlices != 1 || !found->memoryBy.empty()))
          search::writeLists(found->schedule, found->makespan, found->peaks,
                             os);
        else if (asProgram)
          search::writeProgram(found->model, found->words, found->blocks,
                               found->makespan, found->peaks, os);
        else
          printSteps(found->schedule, os);
        return success();
      })))
    return failure();
  if (certificate && failed(checkCertificate(certificate->commit())))
    return failure();
  if (failed(print([&](raw_ostream &os) { report.print(os); },
                   [&](json::OStream &json) { report.print(json); })))
    return failure();
  auto within = Rational::make(int64_t(request.within), 1'000'000);
  if (args.has(Opt::RequireWithin) && report.gap() > *within)
    return diags.report(DiagLoc(), diag::SearchWithin, gapText(report.gap()),
                        args.text(Opt::Within));
  return success();
}

LogicalResult runSearch(const CommandRun &run) { return SearchRun(run).run(); }

} // namespace pipec
