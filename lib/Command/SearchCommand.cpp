//===- SearchCommand.cpp - The search command -----------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command/CommandRun.h"
#include "Driver/Input.h"
#include "Driver/OutputFile.h"
#include "Results/Figures.h"
#include "Results/SearchStarts.h"
#include "Search/CertificateWriter.h"
#include "Search/ProgramWriter.h"
#include "Search/Search.h"
#include "Simulation/Memory.h"
#include "StepText/StepPrinter.h"
#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Diagnostics/SearchDiags.h"
#include "Support/Words.h"
#include "Verify/Verifier.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

#include <condition_variable>
#include <csignal>
#include <limits>

using namespace llvm;

namespace pipec {

//===----------------------------------------------------------------------===//
// What ends a search early
//===----------------------------------------------------------------------===//

static std::atomic<bool> stopped;

namespace {

/// While it lives, Ctrl-C and the end of a time set `stopped`. A second Ctrl-C
/// ends the program.
class StopWatch {
public:
  explicit StopWatch(std::optional<std::chrono::milliseconds> time) {
    stopped = false;
    before = std::signal(SIGINT, [](int) {
      stopped = true;
      std::signal(SIGINT, SIG_DFL);
    });
    if (time)
      timer = std::thread([this, time = *time] {
        std::unique_lock<std::mutex> lock(mutex);
        if (!wake.wait_for(lock, time, [this] { return over; }))
          stopped = true;
      });
  }
  ~StopWatch() {
    {
      std::lock_guard<std::mutex> lock(mutex);
      over = true;
    }
    wake.notify_one();
    if (timer.joinable())
      timer.join();
    std::signal(SIGINT, before);
  }

private:
  void (*before)(int);
  std::mutex mutex;
  std::condition_variable wake;
  bool over = false;
  std::thread timer;
};

/// One run of the command.
class SearchRun : CommandRun {
public:
  explicit SearchRun(const CommandRun &run) : CommandRun(run) {}

  LogicalResult run();

private:
  LogicalResult readSizes();
  LogicalResult readOptions();
  FailureOr<search::Model> readModel();
  LogicalResult find(const search::Model &model, SearchStarts &starts);
  LogicalResult check(const search::Model &model);
  LogicalResult certify(const search::Model &model);
  void report(const search::Model &model, const SearchStarts &starts) const;
  void printText(raw_ostream &os, const search::Model &model,
                 const SearchStart *library) const;
  void printJson(json::OStream &json, const search::Model &model,
                 const SearchStart *library) const;
  StringRef boundSource() const;

  unsigned ranks = 0, microbatches = 0, chunks = 1;
  bool isV = false, split = true, asProgram = false;
  search::SearchOptions options;
  uint64_t effort = 10;
  std::optional<std::chrono::milliseconds> timeLimit;

  search::SearchResult result;
  search::Words words;
  Schedule found;
  /// The bound that the certificate proves.
  std::optional<Rational> certified;
  Rational makespan, bound, gap;
  std::vector<Rational> peaks;
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
    return unusable(diags, "`" + shortened(inputs[0]) +
                               "` where no input is taken; --start names a "
                               "schedule to start from");
  auto read = [&](StringRef name, unsigned most, unsigned &into) {
    FailureOr<std::optional<int64_t>> value = sizes->only(name, diags);
    if (failed(value))
      return false;
    if (!*value && into)
      return true;
    if (!*value || **value < 1 || **value > int64_t(most)) {
      (void)unusable(diags, "--" + name + " must be from 1 to " + Twine(most) +
                                (*value ? "" : ", and is not given"));
      return false;
    }
    into = **value;
    return true;
  };
  return success(read("ranks", maxRanks, ranks) &&
                 read("microbatches", maxMicrobatches, microbatches) &&
                 read("chunks", maxStages / std::max(ranks, 1u), chunks));
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

LogicalResult SearchRun::readOptions() {
  form = args.text(Opt::ReportFormat, "text");
  StringRef file = args.text(Opt::Output);
  StringRef extension = sys::path::extension(file);
  asProgram = extension.equals_insensitive(".pipe");
  if (args.has(Opt::Output) && !asProgram &&
      !extension.equals_insensitive(".steps"))
    return unusable(diags, "a schedule is written as .steps or .pipe, and `" +
                               shortened(file) + "` has another name");
  isV = args.text(Opt::PlacementName, "loop") == "v";
  split = args.text(Opt::Backward, "split") == "split";
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
  options.threads = args.number(Opt::Threads).value_or(1);
  if (options.threads < 1 || options.threads > 1024)
    return unusable(diags, "--threads must be from 1 to 1024, got " +
                               Twine(options.threads));
  options.seed = args.count(Opt::Seed, 1);
  constexpr uint64_t most = std::numeric_limits<uint32_t>::max();
  if (timeLimit)
    effort = std::max<uint64_t>(
        1, (timeLimit->count() * options.threads + 999) / 1000);
  effort = args.count(Opt::Effort, effort);
  options.work = effort * search::workPerEffort;
  if (options.seed > most || effort > most || !effort)
    return unusable(diags, "--seed must be at most " + Twine(most) +
                               ", and --effort from 1 to " + Twine(most));
  if (args.has(Opt::Within)) {
    StringRef text = args.text(Opt::Within);
    auto within = parseQuantity(text, {{"%", 10'000}, {"", 1'000'000}});
    if (!within || *within > Rational(1'000'000'000))
      return diags.report(DiagLoc(), diag::OptionValue, shortened(text),
                          "--within", "a share such as 1% or 0.01");
    options.within = within->floor();
  }
  return success();
}

FailureOr<search::Model> SearchRun::readModel() {
  LowerOptions lowering;
  if (failed(readLowering(args, lowering, diags)) ||
      failed(readMemoryLimit(args, lowering.given, diags)))
    return failure();
  ScheduleHeader header;
  header.name = "found";
  header.numRanks = ranks;
  header.numStages = ranks * chunks;
  header.numMicrobatches = microbatches;
  header.placement = Placement({search::placementMap(isV, ranks, chunks)});
  if (failed(applyCosts(header, lowering.given, diags)) ||
      failed(applyMemory(header, lowering.given, diags)))
    return failure();
  bool receives = false;
  for (unsigned stage = 0; stage != header.numStages; ++stage)
    receives |= !header.memory.receive(stage).isZero();
  if (receives && header.memory.hasLimit())
    (void)diags.report(DiagLoc(), diag::SearchReceives);
  if (diags.hadErrors())
    return failure();
  return search::makeModel(header, split, diags);
}

//===----------------------------------------------------------------------===//
// The search
//===----------------------------------------------------------------------===//

LogicalResult SearchRun::find(const search::Model &model,
                              SearchStarts &starts) {
  progress.phase("reading schedules");
  if (args.isOn(Opt::Library, true))
    starts.addLibrary();
  for (StringRef input : args.list(Opt::Start))
    if (failed(starts.add(input)))
      return failure();

  std::vector<search::Words> orders;
  for (const SearchStart &start : starts.all())
    orders.push_back(start.words);
  progress.phase("searching");
  options.stop = &stopped;
  options.progress = [&](search::Ticks makespan, search::Ticks bound,
                         const char *phase) {
    progress.phase((Twine("searching (") + phase + "), makespan " +
                    decimalText(model.time(makespan)) + ", bound " +
                    decimalText(model.time(bound)))
                       .str());
  };
  {
    StopWatch watch(timeLimit);
    result = search::search(model.problem, orders, options);
  }
  words = result.best.words;
  found = search::makeSchedule(model, words);
  std::optional<Rational> measured = makespanOf(found, diags);
  assert(measured && "what is found can run");
  makespan = *measured;
  // The problem may leave out costs that the simulator counts.
  for (const SearchStart &start : starts.all())
    if (start.makespan < makespan) {
      words = start.words;
      found = search::makeSchedule(model, words);
      makespan = start.makespan;
    }
  bound = model.time(result.bound);
  return check(model);
}

/// Measures what was found, with what measures all schedules.
LogicalResult SearchRun::check(const search::Model &model) {
  if (failed(verify(found, diags)))
    return failure();
  FailureOr<MemoryModel> memory = MemoryModel::make(found, diags);
  if (failed(memory))
    return failure();
  assert((model.isRelaxed || makespan == model.time(result.best.makespan)) &&
         bound <= makespan);
  for (unsigned rank = 0; rank != ranks; ++rank)
    peaks.push_back(memory->peaks(rank).activations);
  if (!bound.isZero()) {
    auto ratio = Rational::div(makespan, bound);
    auto over = ratio ? Rational::sub(*ratio, 1) : std::nullopt;
    if (over)
      gap = *over;
  }
  found.params = {{"search_seed", int64_t(options.seed)},
                  {"search_effort", int64_t(effort)}};
  using Metric = Expectation::Metric;
  using Relation = Expectation::Relation;
  found.expectations.push_back(
      {Metric::Makespan, Relation::EQ, std::nullopt, makespan, {}});
  for (unsigned rank = 0; rank != ranks; ++rank)
    found.expectations.push_back(
        {Metric::Peak, Relation::EQ, rank, peaks[rank], {}});
  return success();
}

/// Writes the certificate.
LogicalResult SearchRun::certify(const search::Model &model) {
  if (result.bound == 0)
    return diags.report(DiagLoc(), diag::OptionWithoutEffect,
                        args.written(Opt::Certificate),
                        "on a lower bound of 0");
  progress.phase("proving");
  search::Budget budget(options.work);
  search::Refutation proof = search::prove(model.problem, result.bound, budget);
  certified = model.time(proof.refuted + 1);
  StringRef path = args.text(Opt::Certificate);
  OutputFile file(path);
  auto check = [&](std::error_code error) -> LogicalResult {
    if (!error)
      return success();
    return diags.report(DiagLoc(), diag::FileUnwritable, path, error.message());
  };
  if (failed(check(file.open(standardOutput()))))
    return failure();
  search::writeCertificate(model, words, makespan, proof, file.stream());
  return check(file.commit());
}

//===----------------------------------------------------------------------===//
// The report
//===----------------------------------------------------------------------===//

StringRef SearchRun::boundSource() const {
  switch (result.source) {
  case search::BoundSource::Paths:
    return "paths";
  case search::BoundSource::Rank:
    return "rank";
  case search::BoundSource::Windows:
    return "windows";
  }
  llvm_unreachable("all sources are handled");
}

/// `3.1 %`: a share to one decimal, or to the first that is not 0.
static std::string percentText(Rational share) {
  std::optional<Rational> percent = Rational::mul(share, 100);
  if (!percent)
    return "many %";
  return toDecimal(*percent, 0, *percent < Rational(1) ? 3 : 1).text + " %";
}

void SearchRun::printText(raw_ostream &os, const search::Model &model,
                          const SearchStart *library) const {
  os << "search: " << countText(ranks, "rank") << ", "
     << (isV ? "placement v" : "placement loop") << ", "
     << countText(chunks, "chunk") << ", "
     << countText(microbatches, "micro-batch", "es") << ": makespan "
     << decimalText(makespan) << '\n';
  os << "  bound " << decimalText(bound) << " (" << boundSource() << "): ";
  if (makespan == bound)
    os << "optimal for this placement, split and memory\n";
  else
    os << "at most " << percentText(gap) << " above the optimum\n";
  if (model.isRelaxed)
    os << "  the bound leaves out the occupancy of edges and takes the "
          "cheapest "
          "micro-batch\n";
  if (certified)
    os << "  certificate: no schedule has less than " << decimalText(*certified)
       << '\n';
  if (library) {
    os << "  best of the library: " << library->name;
    if (!library->params.empty())
      os << " (" << paramText(library->params) << ')';
    os << ' ' << decimalText(library->makespan);
    auto ratio = makespan.isZero() ? std::nullopt
                                   : Rational::div(library->makespan, makespan);
    auto over = ratio ? Rational::sub(*ratio, 1) : std::nullopt;
    if (over)
      os << " (+" << percentText(*over) << ')';
    os << '\n';
  } else if (args.isOn(Opt::Library, true)) {
    os << "  the library has no schedule that fits\n";
  }
  os << "  peak activations:";
  for (Rational peak : peaks)
    os << ' ' << decimalText(peak);
  if (model.header.memory.hasLimit()) {
    os << "; limit of memory";
    for (unsigned rank = 0; rank != ranks; ++rank) {
      std::optional<Rational> limit = model.header.memory.limit(rank);
      bool same = true;
      for (unsigned other = 0; other != ranks; ++other)
        same &= model.header.memory.limit(other) == limit;
      os << ' ' << (limit ? decimalText(*limit) : "-");
      if (same)
        break;
    }
  }
  os << "\n  seed " << options.seed << ", effort " << effort << ": "
     << (result.stopped ? "stopped early, not reproducible" : "reproducible")
     << '\n';
}

void SearchRun::printJson(json::OStream &json, const search::Model &model,
                          const SearchStart *library) const {
  writeExact(json, "makespan", makespan);
  writeExact(json, "bound", bound);
  writeExact(json, "gap", gap);
  json.attribute("optimal", makespan == bound);
  json.attribute("bound_by", boundSource());
  if (certified)
    writeExact(json, "certified", *certified);
  json.attribute("bound_relaxed", model.isRelaxed);
  json.attribute("ranks", ranks);
  json.attribute("microbatches", microbatches);
  json.attribute("chunks", chunks);
  json.attribute("placement", isV ? "v" : "loop");
  json.attribute("backward", split ? "split" : "whole");
  json.attributeArray("peaks", [&] {
    for (Rational peak : peaks) {
      if (peak.isInteger())
        json.value(peak.numerator());
      else
        json.value(peak.toDouble());
    }
  });
  if (!library)
    json.attribute("library", nullptr);
  else
    json.attributeObject("library", [&] {
      json.attribute("name", library->name);
      writeParams(json, library->params);
      writeExact(json, "makespan", library->makespan);
    });
  json.attribute("seed", options.seed);
  json.attribute("effort", effort);
  json.attribute("reproducible", !result.stopped);
}

LogicalResult SearchRun::run() {
  if (failed(readSizes()) || failed(readOptions()))
    return failure();
  FailureOr<search::Model> model = readModel();
  if (failed(model))
    return failure();
  SearchStarts starts(*model, search, args, diags);
  if (failed(find(*model, starts)))
    return failure();
  if (args.has(Opt::Certificate) && failed(certify(*model)))
    return failure();
  if (args.has(Opt::Output) && failed(CommandRun::write([&](raw_ostream &os) {
        if (asProgram)
          search::writeProgram(*model, words, makespan, peaks, os);
        else
          printSteps(found, os);
        return success();
      })))
    return failure();
  return print(
      [&](raw_ostream &os) { printText(os, *model, starts.bestOfLibrary()); },
      [&](json::OStream &json) {
        printJson(json, *model, starts.bestOfLibrary());
      });
}

LogicalResult runSearch(const CommandRun &run) { return SearchRun(run).run(); }

} // namespace pipec
