//===- PlanCommand.cpp - The plan command ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Command/PlanCommand.h"

#include "Driver/Grid.h"
#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

#include <cmath>

using namespace llvm;

namespace pipec {

namespace {

/// One run of the command.
class PlanRun : CommandRun {
public:
  explicit PlanRun(const CommandRun &run) : CommandRun(run), inner(*this) {}

  LogicalResult run();

private:
  LogicalResult readOptions();
  LogicalResult readProfile();
  LogicalResult plan();
  LogicalResult compare();
  LogicalResult findNow();
  LogicalResult search();
  void certify();
  LogicalResult addIntervals();
  LogicalResult reportNothingFits();
  LogicalResult write();
  CommandWords common(bool isFixed) const;
  std::string inFolder(StringRef name) const {
    SmallString<128> path(folder);
    sys::path::append(path, name);
    return path.str().str();
  }
  bool runs(const json::Object &candidate) const;
  bool findLayout(json::Object &row);
  bool isBuiltIn(const json::Object &candidate) const;
  json::Object rowOf(const json::Object &candidate) const;
  CommandWords wordsOf(const json::Object &row) const;
  void addAssumptions();
  void print(json::OStream &json) const;
  std::string memoryText(const json::Object &row) const;
  void printText(raw_ostream &os) const;

  InnerRuns inner;
  std::string profile, folder, now = "one_f_one_b";
  const PlanConsumer *consumer = nullptr;
  unsigned ranks = 0, microbatches = 0, chunks = 2;
  /// The profile has costs of layers, so layouts are searched.
  bool hasLayers = false;
  bool hasLatency = false;
  /// Sizes are in bytes.
  bool inBytes = false;
  /// The largest spread of a measured cost, over the cost; 0 if none has one.
  double spread = 0;
  std::vector<std::string> assumptions;
  std::optional<json::Object> nowRow, best, builtIn;
  json::Array alternatives;
  /// The placements, forms and layouts of the search, as `search` lists them.
  json::Value searched = nullptr;
  std::vector<std::string> files;
};

} // namespace

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

LogicalResult PlanRun::readOptions() {
  std::vector<std::string> inputs;
  Grid sizes;
  if (failed(store(Grid::read(args, Grid::Values::One, inputs, diags), sizes)))
    return failure();
  if (std::string other = sizes.writtenBut({"ranks", "microbatches", "chunks"});
      !other.empty())
    return diags.report(DiagLoc(), diag::OptionWithoutEffect, other,
                        "on a plan, whose sizes are `ranks`, `microbatches` "
                        "and `chunks`");
  if (inputs.empty())
    return diags.report(DiagLoc(), diag::OptionNeeds, "pipec plan",
                        "a cost profile");
  if (inputs.size() > 1)
    return diags.report(DiagLoc(), diag::GivenCount,
                        countText(inputs.size(), "profile"), "one is",
                        shortened(inputs.back()));
  for (Opt option : {Opt::Split, Opt::Layout})
    if (args.has(option))
      return args.reportUseless(option, "on a plan, which finds the layout",
                                diags);
  profile = inputs.front();
  if (!args.has(Opt::Output))
    return diags.report(DiagLoc(), diag::OptionNeeds, "pipec plan",
                        "a folder: -o FOLDER");
  folder = args.text(Opt::Output).str();
  StringRef key = args.text(Opt::PlanFor, "any");
  consumer = find_if(planConsumers,
                     [&](const PlanConsumer &one) { return one.key == key; });
  now = args.text(Opt::Now, now).str();
  return success(
      succeeded(store(sizes.required(args, "ranks", maxRanks, diags), ranks)) &&
      succeeded(store(sizes.required(args, "microbatches", maxUnits, diags),
                      microbatches)) &&
      succeeded(store(
          sizes.required(args, "chunks", maxStages / ranks, diags, chunks),
          chunks)));
}

/// The largest spread of the times of a kind of layer, as the standard
/// deviation over the time: quartiles of a normal distribution are 1.349
/// deviations apart.
static double spreadOf(const json::Object &times, const json::Object &spreads) {
  constexpr double quartiles = 1.349;
  double largest = 0;
  for (const auto &[figure, range] : spreads) {
    const json::Array *ends = range.getAsArray();
    double time = times.getNumber(figure).value_or(0);
    if (!ends || ends->size() != 2 || time <= 0)
      continue;
    double low = ends->front().getAsNumber().value_or(0);
    double high = ends->back().getAsNumber().value_or(0);
    largest = std::max(largest, (high - low) / quartiles / time);
  }
  return largest;
}

/// Finds out which costs there are. The commands check the rest.
LogicalResult PlanRun::readProfile() {
  FailureOr<StringRef> text = openInput(profile, diags, uint64_t(16) << 20);
  if (failed(text))
    return failure();
  hasLayers = args.has(Opt::Layers);
  inBytes = args.text(Opt::MemoryLimit).ends_with("B");
  auto isTransfer = [](StringRef cost) {
    return cost.contains("p2p") || cost.contains("occupancy");
  };
  hasLatency = any_of(args.list(Opt::Cost), isTransfer);
  Expected<json::Value> value = json::parse(*text);
  if (!value) {
    consumeError(value.takeError());
    return success();
  }
  const json::Object *object = value->getAsObject();
  if (!object)
    return success();
  hasLayers |= object->get("sequence") || object->get("layout");
  hasLatency |= any_of(*object, [&](const auto &entry) {
    return isTransfer(StringRef(entry.first)) || entry.first == "edges" ||
           entry.first == "nodes";
  });
  const json::Object *measured = object->getObject("measured");
  if (!measured)
    return success();
  inBytes |= measured->getString("unit").value_or("").contains("bytes");
  auto count = [&](StringRef key) {
    const json::Array *list = measured->getArray(key);
    return list ? list->size() : 0;
  };
  if (size_t ties = count("ties"))
    assumptions.push_back(
        countText(ties, "group") +
        " of layers share parameters: sums of their gradients take no time");
  if (size_t skips = count("skips"))
    assumptions.push_back(countText(skips, "output") +
                          " of layers skip others: handing them from stage to "
                          "stage takes no time and no memory");
  const json::Object *kinds = measured->getObject("kinds");
  const json::Object *layers = object->getObject("layers");
  for (const auto &[name, kind] : kinds &&layers ? *kinds : json::Object()) {
    const json::Object *spreads =
        kind.getAsObject() ? kind.getAsObject()->getObject("spread") : nullptr;
    const json::Object *times = layers->getObject(name);
    if (spreads && times)
      spread = std::max(spread, spreadOf(*times, *spreads));
  }
  return success();
}

/// The options that all commands have: costs, and how the model is cut.
CommandWords PlanRun::common(bool isFixed) const {
  CommandWords words = {"ranks=" + std::to_string(ranks),
                        "microbatches=" + std::to_string(microbatches),
                        "--cost-profile=" + profile};
  for (StringRef cost : args.list(Opt::Cost))
    words.push_back("--cost=" + cost.str());
  if (args.has(Opt::MemoryLimit))
    words.push_back("--memory-limit=" + args.text(Opt::MemoryLimit).str());
  if (!hasLayers)
    words.push_back("--parts=" +
                    args.text(Opt::Parts, std::to_string(ranks)).str());
  else if (!isFixed && args.has(Opt::Layers))
    words.push_back("--layers=" + args.text(Opt::Layers).str());
  return words;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// True if the framework runs a row of compare, with one copy of the model.
bool PlanRun::runs(const json::Object &candidate) const {
  if (candidate.getInteger("copies").value_or(1) != 1)
    return false;
  const json::Object *all = candidate.getObject("frameworks");
  const json::Object *one = all ? all->getObject(consumer->framework) : nullptr;
  std::optional<StringRef> how = one ? one->getString("runs_as") : std::nullopt;
  SmallVector<StringRef> ways;
  StringRef(consumer->runsAs).split(ways, ' ');
  return how && is_contained(ways, *how);
}

/// True if the framework runs it without a file.
bool PlanRun::isBuiltIn(const json::Object &candidate) const {
  if (!runs(candidate))
    return false;
  if (consumer->builtIn.empty())
    return *candidate.getObject("frameworks")
                ->getObject(consumer->framework)
                ->getString("runs_as") == "built-in";
  SmallVector<StringRef> names;
  StringRef(consumer->builtIn).split(names, ' ');
  return is_contained(names, candidate.getString("name").value_or(""));
}

/// The row of a schedule of the library.
json::Object PlanRun::rowOf(const json::Object &candidate) const {
  json::Object row;
  row["schedule"] = candidate.getString("name").value_or("").str();
  const json::Object *params = candidate.getObject("params");
  row["params"] = params ? json::Value(json::Object(*params)) : nullptr;
  row["placement"] = nullptr;
  row["chunks"] = candidate.getInteger("stages").value_or(0) / ranks;
  row["backward"] = nullptr;
  row["layout"] = candidate.get("layout") ? *candidate.get("layout") : nullptr;
  copyFigure(candidate, "makespan", row, "makespan");
  row["bound"] = nullptr;
  copyFigure(candidate, "peak", row, "peak");
  copyFigure(candidate, "memory", row, "memory");
  row["memory_by"] =
      candidate.get("memory_by") ? *candidate.get("memory_by") : nullptr;
  row["fits"] = candidate.getBoolean("fits").value_or(false);
  return row;
}

/// The parameters of a schedule of the library, as words.
static CommandWords paramsOf(const json::Object &row) {
  CommandWords words;
  if (const json::Object *params = row.getObject("params"))
    for (const auto &[name, value] : *params)
      words.push_back(name.str() + "=" +
                      std::to_string(value.getAsInteger().value_or(0)));
  llvm::sort(words);
  return words;
}

/// Copies the figures of a report into a row.
static void readReport(const json::Object &report, json::Object &row) {
  for (StringRef key : {"makespan", "peak"})
    copyFigure(report, key, row, key);
  if (const json::Object *memory = report.getObject("memory"))
    copyFigure(*memory, "total", row, "memory");
}

/// The words that compile a schedule of the library.
CommandWords PlanRun::wordsOf(const json::Object &row) const {
  CommandWords words = {row.getString("schedule")->str()};
  llvm::append_range(words, common(/*isFixed=*/true));
  llvm::append_range(words, paramsOf(row));
  if (hasLayers)
    words.push_back("--layout=" + row.getString("layout").value_or("").str());
  if (std::optional<StringRef> by = row.getString("memory_by"))
    words.push_back(("--passes=inject-" + *by).str());
  return words;
}

//===----------------------------------------------------------------------===//
// The parts of the answer
//===----------------------------------------------------------------------===//

/// The makespan of `now` on the even layout.
LogicalResult PlanRun::findNow() {
  progress.phase("measuring the schedule of now");
  CommandWords words = {now};
  llvm::append_range(words, common(/*isFixed=*/false));
  llvm::append_values(words, std::string("--emit=report"));
  FailureOr<json::Object> report = inner.ask(std::move(words));
  if (failed(report))
    return failure();
  json::Object row;
  row["schedule"] = now;
  row["placement"] = nullptr;
  row["chunks"] = report->getInteger("num_stages").value_or(0) / ranks;
  row["backward"] = nullptr;
  row["layout"] = report->get("layout") ? *report->get("layout") : nullptr;
  row["bound"] = nullptr;
  readReport(*report, row);
  row["fits"] = !report->getBoolean("over_limit").value_or(false);
  nowRow = std::move(row);
  if (const json::Array *assumed = report->getArray("assumed"))
    for (const json::Value &kind : *assumed)
      if (auto name = kind.getAsString())
        assumptions.push_back(
            ("no cost of " + *name + " is given: it follows from the others")
                .str());
  return success();
}

/// Searches a layout for a schedule of the library. Returns true if the
/// schedule fits with the layout of the row, which is that of the search if it
/// is better than the even one.
bool PlanRun::findLayout(json::Object &row) {
  bool fits = row.getBoolean("fits").value_or(false);
  row.erase("fits");
  if (!hasLayers || row.getString("memory_by"))
    return fits;
  std::string steps = inFolder("layout.steps"), printed;
  auto remove = make_scope_exit([&] { sys::fs::remove(steps); });
  CommandWords words = {"search", "--layouts",
                        "--schedule=" + row.getString("schedule")->str(),
                        "--effort=1", "--format=json"};
  llvm::append_range(words, common(/*isFixed=*/false));
  llvm::append_range(words, paramsOf(row));
  llvm::append_values(words, std::string("-o"), steps);
  if (inner.call(words, printed) != 0)
    return fits;
  FailureOr<json::Object> report = inner.ask({steps, "--emit=report"});
  if (failed(report) || !report->get("layout"))
    return fits;
  if (fits && figureOf(*report, "makespan") >= figureOf(row, "makespan"))
    return true;
  row["layout"] = *report->get("layout");
  readReport(*report, row);
  return !report->getBoolean("over_limit").value_or(false);
}

/// The best schedules of the library for the framework.
LogicalResult PlanRun::compare() {
  progress.phase("comparing the schedules of the library");
  CommandWords words = {"compare"};
  llvm::append_range(words, common(/*isFixed=*/false));
  words.push_back("chunks=1.." + std::to_string(chunks));
  FailureOr<json::Object> table = inner.ask(std::move(words));
  if (failed(table))
    return failure();
  if (hasLayers)
    progress.phase("searching layouts for the schedules of the library");
  // The rows, and if the framework runs them without a file.
  std::vector<std::pair<json::Object, bool>> rows;
  if (const json::Array *candidates = table->getArray("schedules"))
    for (const json::Value &value : *candidates) {
      const json::Object &candidate = *value.getAsObject();
      if (!runs(candidate))
        continue;
      json::Object row = rowOf(candidate);
      if (findLayout(row))
        rows.emplace_back(std::move(row), isBuiltIn(candidate));
    }
  llvm::stable_sort(rows, [](const auto &a, const auto &b) {
    return figureOf(a.first, "makespan") < figureOf(b.first, "makespan");
  });
  for (const auto &[row, isBuiltIn] : rows) {
    if (!builtIn && isBuiltIn)
      builtIn = row;
    if (!best)
      best = row;
    if (alternatives.size() != 5)
      alternatives.push_back(json::Object(row));
  }
  return success();
}

/// Searches placements, chunks, forms and layouts in one run.
LogicalResult PlanRun::search() {
  if (!consumer->anyOrder)
    return success();
  progress.phase(hasLayers ? "searching placements, forms and layouts"
                           : "searching placements and forms");
  CommandWords words = {"search"};
  llvm::append_range(words, common(/*isFixed=*/false));
  llvm::append_values(words, "--chunks=" + std::to_string(chunks),
                      std::string("--placement=best"), "-o",
                      inFolder(planSchedule));
  if (hasLayers)
    words.push_back("--layouts");
  for (Opt option : {Opt::Effort, Opt::TimeLimit, Opt::Seed})
    if (args.has(option))
      words.push_back(optionInfo(option).spelling() + "=" +
                      args.text(option).str());
  words.push_back("--format=json");
  std::string printed;
  if (inner.call(words, printed) != 0) {
    if (!best)
      return reportNothingFits();
    StringRef why = StringRef(inner.messages).split("error: ").second;
    assumptions.push_back(
        ("nothing was searched: " + why.split('\n').first).str());
    return success();
  }
  Expected<json::Value> value = json::parse(printed);
  json::Object *result = value ? value->getAsObject() : nullptr;
  if (!result) {
    consumeError(value.takeError());
    return failure();
  }
  json::Object row;
  row["schedule"] = "found";
  for (StringRef key : {"placement", "chunks", "backward", "memory_by"})
    row[key] = result->get(key) ? *result->get(key) : nullptr;
  row["layout"] = result->get("layout") ? *result->get("layout") : nullptr;
  copyFigure(*result, "bound_all", row, "bound");
  FailureOr<json::Object> report =
      inner.ask({inFolder(planSchedule), "--emit=report"});
  if (failed(report))
    return failure();
  readReport(*report, row);
  if (const json::Value *all = result->get("searched"))
    searched = *all;
  if (!best || figureOf(row, "makespan") <= figureOf(*best, "makespan"))
    best = std::move(row);
  else
    copyFigure(row, "bound", *best, "bound");
  return success();
}

/// Writes a proof of the bound of the layout and form of the schedule that was
/// found. There is none for mixed backwards, with recomputation or copies, and
/// where overlaps gain. A short search has to find the words of the schedule.
void PlanRun::certify() {
  std::string form = best->getString("backward").value_or("").str();
  if ((form != "split" && form != "whole") || best->getString("memory_by"))
    return;
  std::string proof = inFolder(planCertificate),
              again = inFolder("found.steps");
  std::string printed;
  bool isProof =
      inner.call({"search", inFolder(planSchedule), "--backward=" + form,
                  "--effort=1", "--certificate=" + proof, "-o", again,
                  "--format=json"},
                 printed) == 0;
  FailureOr<json::Object> report = failure();
  if (isProof)
    report = inner.ask({again, "--emit=report"});
  isProof = succeeded(report) &&
            figureOf(*report, "makespan") <= figureOf(*best, "makespan") &&
            !sys::fs::rename(again, inFolder(planSchedule));
  if (!isProof) {
    sys::fs::remove(proof);
    sys::fs::remove(again);
    return;
  }
  readReport(*report, *best);
}

/// Adds the makespans under costs that vary like the measured ones.
LogicalResult PlanRun::addIntervals() {
  if (spread == 0)
    return success();
  std::string jitter = formatv("--jitter=step:{0:f4}", std::min(spread, 10.0));
  for (auto *row : {&nowRow, &best, &builtIn}) {
    if (!*row)
      continue;
    CommandWords words =
        row == &best ? CommandWords{inFolder(planSchedule)} : wordsOf(**row);
    llvm::append_values(words, std::string("--emit=report"), jitter,
                        std::string("--draws=200"));
    FailureOr<json::Object> report = inner.ask(std::move(words));
    if (failed(report))
      return failure();
    if (const json::Object *drawn = report->getObject("jitter"))
      (**row)["jitter"] = json::Object(*drawn);
  }
  return success();
}

/// Names the schedule of the library that needs the least memory.
LogicalResult PlanRun::reportNothingFits() {
  CommandWords words = {"compare"};
  for (std::string &word : common(/*isFixed=*/false))
    if (!StringRef(word).starts_with("--memory-limit"))
      words.push_back(std::move(word));
  words.push_back("chunks=1.." + std::to_string(chunks));
  FailureOr<json::Object> table = inner.ask(std::move(words));
  if (failed(table))
    return failure();
  const json::Object *least = nullptr;
  if (const json::Array *rows = table->getArray("schedules"))
    for (const json::Value &value : *rows) {
      const json::Object &candidate = *value.getAsObject();
      if (runs(candidate) && (!least || figureOf(candidate, "memory") <
                                            figureOf(*least, "memory")))
        least = &candidate;
    }
  if (!least)
    return diags.report(DiagLoc(), diag::PlanNothingRuns, consumer->key);
  return diags.report(DiagLoc(), diag::PlanNothingFits,
                      args.text(Opt::MemoryLimit, "the limit"),
                      least->getString("name").value_or(""),
                      formatv("{0}", *least->get("memory")).str(),
                      formatv("{0}", *least->get("makespan")).str());
}

LogicalResult PlanRun::plan() {
  if (failed(findNow()) || failed(compare()) || failed(search()))
    return failure();
  if (!best)
    return reportNothingFits();
  if (best->getString("schedule") == "found") {
    certify();
    return success();
  }
  // A schedule of the library, as step IR with its costs and layout.
  CommandWords words = wordsOf(*best);
  llvm::append_values(words, std::string("--emit=ir"), std::string("-o"),
                      inFolder(planSchedule));
  return inner.write(words);
}

void PlanRun::addAssumptions() {
  if (!hasLayers)
    assumptions.push_back("costs are of equal parts of the model, so no layout "
                          "was searched");
  if (!args.has(Opt::MemoryLimit))
    assumptions.push_back("no limit of memory is given");
  if (!hasLatency)
    assumptions.push_back("transfers take no time: no cost of p2p is given");
}

//===----------------------------------------------------------------------===//
// Output
//===----------------------------------------------------------------------===//

/// The attributes of plan.json.
void PlanRun::print(json::OStream &json) const {
  auto row = [&](StringRef key, const std::optional<json::Object> &of) {
    json.attributeBegin(key);
    json.value(of ? json::Value(json::Object(*of)) : json::Value(nullptr));
    json.attributeEnd();
  };
  json.attribute("for", consumer->key);
  json.attribute("ranks", ranks);
  json.attribute("microbatches", microbatches);
  json.attributeArray("assumptions", [&] {
    for (const std::string &text : assumptions)
      json.value(text);
  });
  row("now", nowRow);
  row("best", best);
  row("built_in", builtIn);
  json.attribute("alternatives", json::Value(json::Array(alternatives)));
  json.attribute("searched", searched);
  json.attributeArray("files", [&] {
    for (const std::string &name : files)
      json.value(name);
  });
}

LogicalResult PlanRun::write() {
  FailureOr<std::vector<std::string>> written =
      writePlanFiles(inner, *consumer, folder, *this);
  FailureOr<StringRef> costs = openInput(profile, diags, uint64_t(16) << 20);
  if (failed(written) || failed(costs) ||
      failed(writePlanText(inFolder("costs.json"), *costs, *this)))
    return failure();
  files = std::move(*written);
  if (sys::fs::exists(inFolder(planCertificate)))
    files.push_back(planCertificate.str());
  llvm::append_values(files, "costs.json", "plan.json");
  std::string text;
  raw_string_ostream os(text);
  json::OStream object(os, /*IndentSize=*/2);
  object.object([&] { print(object); });
  os << '\n';
  return writePlanText(inFolder("plan.json"), text, *this);
}

/// A figure with at most 12 significant digits.
static std::string numberText(const json::Value &value) {
  std::string text;
  raw_string_ostream(text) << format("%.12g", value.getAsNumber().value_or(0));
  return text;
}

/// The memory of a row, in GiB, MiB or KiB if sizes are bytes.
std::string PlanRun::memoryText(const json::Object &row) const {
  double size = figureOf(row, "memory");
  for (auto [unit, name] :
       {std::pair(1u << 30, "GiB"), {1u << 20, "MiB"}, {1u << 10, "KiB"}})
    if (inBytes && std::isfinite(size) && size >= unit)
      return formatv("{0:f2} {1}", size / unit, name);
  const json::Value *value = row.get("memory");
  return value ? numberText(*value) : "unknown";
}

void PlanRun::printText(raw_ostream &os) const {
  auto text = [](const json::Object &row, StringRef key) {
    const json::Value *value = row.get(key);
    if (!value || value->kind() == json::Value::Null)
      return std::string();
    if (auto word = value->getAsString())
      return word->str();
    return numberText(*value);
  };
  for (const auto &[title, row] :
       {std::pair<StringRef, const std::optional<json::Object> &>("now",
                                                                  nowRow),
        {"best", best},
        {"built-in", builtIn}}) {
    if (!row)
      continue;
    os << left_justify(title, 10) << left_justify(text(*row, "schedule"), 24)
       << " makespan " << text(*row, "makespan");
    if (title != "now" && nowRow)
      os << formatv(" ({0:P1})",
                    figureOf(*row, "makespan") / figureOf(*nowRow, "makespan") -
                        1);
    if (const json::Object *drawn = row->getObject("jitter"))
      os << format(", 95 %% of runs within %.6g", figureOf(*drawn, "p95"));
    os << ", memory " << memoryText(*row);
    for (StringRef key : {"placement", "chunks", "backward", "layout"})
      if (std::string value = text(*row, key); !value.empty())
        os << ", " << key << ' ' << value;
    os << '\n';
  }
  if (best && !text(*best, "bound").empty())
    os << "no schedule of what was searched has less than "
       << text(*best, "bound") << '\n';
  for (const std::string &one : assumptions)
    os << "assumed: " << one << '\n';
  os << "files: " << folder << ": " << join(files, " ") << '\n';
}

LogicalResult PlanRun::run() {
  form = args.text(Opt::Format, "text");
  if (args.has(Opt::CheckPlan))
    return checkPlan(inner, args.text(Opt::CheckPlan), *this);
  if (failed(readOptions()) || failed(readProfile()))
    return failure();
  if (std::error_code error = sys::fs::create_directories(folder))
    return reportUnwritable(diags, folder, error);
  // Of an earlier plan.
  sys::fs::remove(inFolder(planCertificate));
  if (failed(plan()) || failed(addIntervals()))
    return failure();
  addAssumptions();
  if (failed(write()))
    return failure();
  return CommandRun::print([&](raw_ostream &os) { printText(os); },
                           [&](json::OStream &json) { print(json); });
}

LogicalResult runPlan(const CommandRun &run) { return PlanRun(run).run(); }

} // namespace pipec
