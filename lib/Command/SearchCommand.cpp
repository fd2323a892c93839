//===- SearchCommand.cpp - The search command -----------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command/CommandRun.h"
#include "Driver/Input.h"
#include "Driver/OutputFile.h"
#include "Search/CertificateWriter.h"
#include "Search/ProgramWriter.h"
#include "SearchRun/SearchReport.h"
#include "StepText/StepPrinter.h"
#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Diagnostics/SearchDiags.h"
#include "Support/StopWatch.h"
#include "Support/Words.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <filesystem>
#include <limits>

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
  LogicalResult readMinimize();
  LogicalResult checkLayouts();
  LogicalResult checkEdges();
  FailureOr<PlacementResult> find(ScheduleSearch &searcher);
  FailureOr<PlacementResult> findAll();
  LogicalResult certify(const FoundSchedule &found, SearchReport &report);
  LogicalResult checkCertificate(std::error_code error);

  SearchRequest request;
  bool asProgram = false;
  std::string wordsFor;
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
  FailureOr<Grid> sizes = Grid::read(args, Grid::Values::One, inputs, diags);
  if (failed(sizes))
    return failure();
  if (!inputs.empty())
    return reportUsageError(diags,
                            "`" + shortened(inputs[0]) +
                                "` where no input is taken; --start names a "
                                "schedule to start from");
  if (std::string other =
          sizes->writtenBut({"ranks", "microbatches", "chunks"});
      !other.empty())
    return diags.report(DiagLoc(), diag::OptionWithoutEffect, other,
                        "on a search, whose sizes are `ranks`, `microbatches` "
                        "and `chunks`");
  auto read = [&](StringRef name, unsigned most, unsigned &into) {
    FailureOr<std::optional<int64_t>> value = sizes->only(name, diags);
    if (failed(value))
      return false;
    if (!*value && into)
      return true;
    if (!*value || **value < 1 || **value > int64_t(most)) {
      (void)reportUsageError(diags, "--" + name + " must be from 1 to " +
                                        Twine(most) +
                                        (*value ? "" : ", and is not given"));
      return false;
    }
    into = **value;
    return true;
  };
  request.ranks = request.microbatches = 0;
  // The largest number to compare.
  if (args.text(Opt::PlacementName) == "best")
    request.chunks = 2;
  return success(read("ranks", maxRanks, request.ranks) &&
                 read("microbatches", maxMicrobatches, request.microbatches) &&
                 read("chunks", maxStages / request.ranks, request.chunks));
}

/// A number with one of `units`, as multiples of the unit of the last one.
static std::optional<Rational>
parseQuantity(StringRef text, ArrayRef<std::pair<StringRef, Rational>> units) {
  for (const auto &[unit, factor] : units) {
    StringRef number = text;
    if (!number.consume_back(unit))
      continue;
    std::optional<Rational> value = Rational::parse(number.trim());
    if (value && !value->isNegative())
      return Rational::mul(*value, factor);
  }
  return std::nullopt;
}

/// A share such as `1%`, in millionths.
static std::optional<uint64_t> parseShare(StringRef text) {
  auto share = parseQuantity(text, {{"%", 10'000}, {"", 1'000'000}});
  if (!share || *share > Rational(1'000'000'000))
    return std::nullopt;
  return share->floor();
}

/// `memory`, or `memory,within=1%`.
LogicalResult SearchRun::readMinimize() {
  if (!args.has(Opt::Minimize))
    return success();
  StringRef text = args.text(Opt::Minimize), rest = text;
  if (rest.consume_front("memory")) {
    if (rest.empty())
      slack = 0;
    else if (rest.consume_front(",within="))
      slack = parseShare(rest);
  }
  if (!slack)
    return diags.report(DiagLoc(), diag::OptionValue, shortened(text),
                        "--minimize", "memory, or memory,within=1%");
  if (args.has(Opt::Frontier))
    return reportUsageError(diags,
                            "--minimize looks for one limit of memory, and "
                            "--frontier for several: give one of them");
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
    return reportUsageError(diags, "--layouts cuts the layers of --layers, "
                                   "which is not given");
  for (Opt option : {Opt::Split, Opt::Layout})
    if (args.has(option))
      return reportUsageError(diags, "--layouts searches for what " +
                                         optionInfo(option).spelling() +
                                         " gives: give one of them");
  if (anyPlacement)
    return reportUsageError(diags, "--layouts needs one placement, and "
                                   "--placement=best compares several");
  return success();
}

/// Edges name stages, so the stages must be known.
LogicalResult SearchRun::checkEdges() {
  if (request.graph.empty())
    return success();
  if (anyPlacement)
    return reportUsageError(diags, "edges name stages, and --placement=best "
                                   "compares several numbers of them");
  if (args.has(Opt::Layouts))
    return reportUsageError(diags,
                            "edges name stages, and --layouts compares several "
                            "ways to cut the layers into them");
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
  form = args.text(Opt::ReportFormat, "text");
  StringRef file = args.text(Opt::Output);
  if (args.has(Opt::Certificate) && args.has(Opt::Output) &&
      areSameFile(args.text(Opt::Certificate), file))
    return reportUsageError(diags, "--certificate and -o name the same file");
  StringRef extension = sys::path::extension(file);
  asProgram = extension.equals_insensitive(".pipe");
  if (args.has(Opt::Output) && !asProgram &&
      !extension.equals_insensitive(".steps"))
    return reportUsageError(diags,
                            "a schedule is written as .steps or .pipe, and `" +
                                shortened(file) + "` has another name");
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
  request.certified = args.has(Opt::Certificate);
  request.library = args.isOn(Opt::Library, true);
  for (StringRef input : args.list(Opt::Start))
    request.starts.push_back(input.str());
  if (args.has(Opt::TimeLimit)) {
    StringRef text = args.text(Opt::TimeLimit);
    auto time = parseQuantity(
        text,
        {{"ms", 1}, {"s", 1000}, {"min", 60000}, {"m", 60000}, {"", 1000}});
    if (!time || *time > Rational(int64_t(1) << 31))
      return diags.report(DiagLoc(), diag::OptionValue, shortened(text),
                          "--time", "a time such as 10s, 2m or 500ms");
    timeLimit = std::chrono::milliseconds(time->floor());
  }
  request.threads = args.number(Opt::Threads).value_or(1);
  if (request.threads < 1 || request.threads > 1024)
    return reportUsageError(diags, "--threads must be from 1 to 1024, got " +
                                       Twine(request.threads));
  request.seed = args.count(Opt::Seed, 1);
  constexpr uint64_t most = std::numeric_limits<uint32_t>::max();
  if (timeLimit)
    request.effort = std::max<uint64_t>(
        1, (timeLimit->count() * request.threads + 999) / 1000);
  request.effort = args.count(Opt::Effort, request.effort);
  if (request.seed > most || request.effort > most || !request.effort)
    return reportUsageError(diags, "--seed must be at most " + Twine(most) +
                                       ", and --effort from 1 to " +
                                       Twine(most));
  if (args.has(Opt::Within)) {
    StringRef text = args.text(Opt::Within);
    std::optional<uint64_t> within = parseShare(text);
    if (!within)
      return diags.report(DiagLoc(), diag::OptionValue, shortened(text),
                          "--within", "a share such as 1% or 0.01");
    request.within = *within;
  }
  if (args.has(Opt::RequireWithin) && !args.has(Opt::Within))
    return diags.report(DiagLoc(), diag::OptionWithoutEffect,
                        args.written(Opt::RequireWithin), "without --within");
  request.prove = args.has(Opt::Prove);
  if (args.has(Opt::ShowProgress))
    request.log = &err;
  if (failed(readMinimize()))
    return failure();
  LowerOptions lowering;
  if (failed(readLowering(args, lowering, diags)) ||
      failed(readMemoryLimit(args, lowering.given, diags)))
    return failure();
  request.given = std::move(lowering.given);
  request.graph = std::move(lowering.graph);
  if (failed(checkLayouts()) || failed(checkEdges()))
    return failure();
  if (anyPlacement && !request.given.perPart())
    return reportUsageError(diags,
                            "--placement=best compares different numbers of "
                            "stages, so costs must be per part: with --parts, "
                            "or \"per\": \"part\" in the profile");
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
    return diags.report(DiagLoc(), diag::OptionWithoutEffect,
                        args.written(Opt::Certificate),
                        "on a lower bound of 0");
  progress.phase("proving");
  search::Budget budget(request.work());
  search::Refutation proof =
      found.cases
          ? *found.cases
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

/// The search alone.
FailureOr<PlacementResult> SearchRun::find(ScheduleSearch &searcher) {
  if (anyPlacement)
    return searchPlacements(searcher, request, diags);
  if (args.has(Opt::Layouts)) {
    FailureOr<LayoutResult> all = searchLayouts(searcher, request, diags);
    if (failed(all))
      return failure();
    layouts = std::move(all->summary);
    return std::move(all->result);
  }
  return searchForms(searcher, request, diags);
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
    auto least = minimizeMemory(searcher, *slack, request.work(),
                                result->problem, result->found, diags);
    if (failed(least))
      return failure();
    minimal = *least;
  }
  if (args.has(Opt::Frontier)) {
    auto points = searchFrontier(searcher, request.work(), result->problem,
                                 result->found, diags);
    if (failed(points))
      return failure();
    frontier = std::move(*points);
  }
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
