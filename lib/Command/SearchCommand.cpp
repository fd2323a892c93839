//===- SearchCommand.cpp - The search command -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Command/CommandRun.h"
#include "Driver/Input.h"
#include "Search/Writers.h"
#include "SearchRun/SearchReport.h"
#include "StepText/StepPrinter.h"
#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Diagnostics/SearchDiags.h"
#include "Support/Progress.h"
#include "Support/Words.h"

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
  LogicalResult checkLayouts();
  LogicalResult checkEdges();
  LogicalResult checkSlices();
  /// Reports that an option needs `what`.
  LogicalResult needs(Opt option, StringRef what) {
    return diags.report(DiagLoc(), diag::OptionNeeds, args.written(option),
                        what);
  }
  FailureOr<PlacementResult> find(ScheduleSearch &searcher);
  FailureOr<PlacementResult> findOrder(ScheduleSearch &searcher,
                                       const SearchRequest &request);
  FailureOr<PlacementResult> findAll();
  LogicalResult certify(const FoundSchedule &found, SearchReport &report);
  LogicalResult checkCertificate(std::error_code error);

  SearchRequest request;
  bool asProgram = false;
  std::string wordsFor;
  /// Recomputation and copies are tried.
  bool savesMemory = false;
  /// Placements are compared.
  bool anyPlacement = false;
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
  Grid sizes;
  if (failed(store(Grid::read(args, Grid::Values::One, inputs, diags), sizes)))
    return failure();
  if (std::string other = sizes.writtenBut({"ranks", "microbatches", "chunks"});
      !other.empty())
    return diags.report(DiagLoc(), diag::OptionWithoutEffect, other,
                        "on a search, whose sizes are `ranks`, `microbatches` "
                        "and `chunks`");
  // With --placement=best the largest number to compare.
  unsigned chunks =
      args.text(Opt::PlacementName) == "best" ? 2 : request.chunks;
  return success(
      succeeded(store(sizes.required(args, "ranks", maxRanks, diags),
                      request.ranks)) &&
      succeeded(store(sizes.required(args, "microbatches", maxUnits, diags),
                      request.microbatches)) &&
      succeeded(store(sizes.required(args, "chunks", maxStages / request.ranks,
                                     diags, chunks),
                      request.chunks)));
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
  if (anyPlacement)
    return needs(Opt::Layouts, "one --placement, and best compares several");
  return success();
}

/// The words of sliced micro-batches are not in the order in which a program
/// counts them.
LogicalResult SearchRun::checkSlices() {
  request.slices = args.number(Opt::Slices).value_or(1);
  for (Opt option : {Opt::Readable, Opt::Layouts})
    if (request.slices != 1 && args.has(option))
      return needs(option, "whole micro-batches, without --slices");
  if (request.slices != 1 && asProgram)
    return needs(Opt::Output, "a name with .steps for a search with --slices");
  return success();
}

/// Edges name stages, so the stages must be known.
LogicalResult SearchRun::checkEdges() {
  if (request.graph.empty())
    return success();
  Opt edges = args.has(Opt::Graph) ? Opt::Graph : Opt::Connect;
  if (anyPlacement)
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
  anyPlacement = placement == "best";
  request.isV = placement == "v";
  StringRef form = args.text(Opt::Backward, "best");
  request.anyForm = form == "best";
  request.split = form != "whole";
  // These take a word per rank.
  for (Opt option : {Opt::Certificate, Opt::Readable, Opt::Minimize,
                     Opt::Frontier, Opt::Layouts})
    if (args.has(option) && wordsFor.empty())
      wordsFor = optionInfo(option).spelling();
  if (asProgram && wordsFor.empty())
    wordsFor = "-o " + shortened(file);
  request.onlyWords = !wordsFor.empty();
  bool plain = args.text(Opt::MemoryBy) == "plain";
  if (args.has(Opt::MemoryBy) && !plain && request.onlyWords)
    return needs(Opt::MemoryBy, "plain, with " + wordsFor);
  savesMemory = !plain && !request.onlyWords;
  request.certified = args.has(Opt::Certificate);
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
  request.given = std::move(lowering.given);
  request.graph = std::move(lowering.graph);
  savesMemory &= request.given.allMemory().hasLimit();
  // The other half of the time is for recomputation and copies.
  if (savesMemory && timeLimit && !args.has(Opt::Effort))
    request.effort = (request.effort + 1) / 2;
  if (failed(checkSlices()) || failed(checkLayouts()) || failed(checkEdges()))
    return failure();
  if (anyPlacement && !request.given.perPart())
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
  if (found.boundTicks == 0)
    return args.reportUseless(Opt::Certificate, "on a lower bound of 0", diags);
  progress.phase("proving");
  search::Budget budget(request.work());
  search::Refutation proof =
      found.proof
          ? *found.proof
          : search::prove(found.model.problem, found.boundTicks, budget);
  report.certified = found.model.time(proof.refuted + 1);
  certificate.emplace(args.text(Opt::Certificate));
  if (failed(checkCertificate(certificate->open(standardOutput()))))
    return failure();
  search::writeCertificate(found.model, layouts ? layouts->best : "",
                           found.words, found.makespan, proof,
                           certificate->stream());
  return success();
}

/// The search of one placement, or of the best one.
FailureOr<PlacementResult> SearchRun::findOrder(ScheduleSearch &searcher,
                                                const SearchRequest &request) {
  return anyPlacement ? searchPlacements(searcher, request, diags)
                      : searchForms(searcher, request, diags);
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
  if (!savesMemory)
    return findOrder(searcher, request);
  return searchWithinMemory(
      searcher, request,
      [&](const SearchRequest &own) { return findOrder(searcher, own); },
      diags);
}

/// The search and all that comes after it.
FailureOr<PlacementResult> SearchRun::findAll() {
  StopWatch watch(timeLimit);
  request.stop = &watch.flag();
  ScheduleSearch searcher(search, args, progress, diags);
  FailureOr<PlacementResult> result = find(searcher);
  if (failed(result))
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
  if (args.has(Opt::Readable) &&
      failed(searcher.makeReadable(
          result->problem, SearchLimits{request.work()}, result->found)))
    return failure();
  return result;
}

LogicalResult SearchRun::run() {
  if (failed(readSizes()) || failed(readOptions()))
    return failure();
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
  if (args.has(Opt::Certificate) && failed(certify(*found, report)))
    return failure();
  if (args.has(Opt::Output) && failed(CommandRun::write([&](raw_ostream &os) {
        if (asProgram)
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
