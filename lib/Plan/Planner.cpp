//===- Planner.cpp - Making a plan ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Cost/LayoutText.h"
#include "Driver/Io.h"
#include "Driver/Program.h"
#include "Plan/Plan.h"
#include "Plan/PlanRow.h"
#include "Support/Decimal.h"
#include "Support/Diagnostics/CommandDiags.h"
#include "Support/InputFile.h"
#include "Support/Json.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

#include <set>

using namespace llvm;

namespace pipec {

/// The output file of a search.
static constexpr StringLiteral foundSchedule = "found.steps";

namespace {

/// Fills a plan.
class Planner {
public:
  Planner(PlanRequest &request, InnerRuns &inner, Progress &progress,
          raw_ostream &out, DiagEngine &diags)
      : request(request), inner(inner), progress(progress), out(out),
        diags(diags), earlier(filesOfPlan(request.folder)) {}

  LogicalResult run();
  LogicalResult addIntervals();
  LogicalResult write();

  Plan plan;

private:
  void noteBound(const json::Object &row, StringRef key);
  void addBounds();
  bool findLayout(json::Object &row);
  void place(json::Object &row, CommandWords words);
  LogicalResult findNow();
  void noteAssumed(const json::Object &report);
  std::vector<unsigned> stagesOfLayers(const json::Object &row);
  std::string addSkips(json::Object &row);
  LogicalResult addTies();
  void addAssumptions();
  bool isCandidate(const json::Object &candidate) const;
  CommandWords compareWords() const;
  LogicalResult compare();
  LogicalResult search();
  LogicalResult take(const json::Object &result);
  void certify();
  LogicalResult reportNothingFits();

  PlanRequest &request;
  InnerRuns &inner;
  Progress &progress;
  raw_ostream &out;
  DiagEngine &diags;
  /// The files of an earlier plan in the folder.
  const std::vector<std::string> earlier;
  /// The smallest bound of all candidates, as `bound`.
  json::Object least;
  /// The kinds of steps whose costs were not given.
  std::set<std::string> assumed;
};

} // namespace

//===----------------------------------------------------------------------===//
// The parts of the answer
//===----------------------------------------------------------------------===//

/// The makespan of `now` on the even layout.
LogicalResult Planner::findNow() {
  progress.phase("measuring the schedule of now");
  CommandWords own = {request.now};
  llvm::append_range(own, request.words(/*isFixed=*/false));
  CommandWords words = own;
  words.push_back("--emit=report");
  FailureOr<json::Object> report = inner.ask(std::move(words));
  if (failed(report))
    return failure();
  if (StringRef(inner.messages).contains("limit-unit"))
    request.assumptions.push_back("the limit of memory is in bytes, but no "
                                  "sizes are given: an activation takes 1");
  json::Object row;
  row["schedule"] = request.now;
  row["placement"] = nullptr;
  row["chunks"] = report->getInteger("num_stages").value_or(0) / request.ranks;
  row["backward"] = nullptr;
  row["layout"] = report->get("layout") ? *report->get("layout") : nullptr;
  readReport(*report, row);
  row["fits"] = !report->getBoolean("over_limit").value_or(false);
  place(row, std::move(own));
  plan.now = std::move(row);
  noteAssumed(*report);
  return success();
}

/// Notes the costs that a schedule has and that were not given.
void Planner::noteAssumed(const json::Object &report) {
  if (const json::Array *kinds = report.getArray("assumed"))
    for (const json::Value &kind : *kinds)
      assumed.insert(kind.getAsString().value_or("").str());
}

/// Names the costs that the others stand for, with what that changes.
void Planner::addAssumptions() {
  auto has = [&](StringRef kind) { return assumed.erase(kind.str()) != 0; };
  if (bool input = has("I"), weight = has("W"); input || weight)
    request.assumptions.push_back(
        (Twine("no cost of ") +
         (input && weight ? "I and W"
          : input         ? "I"
                          : "W") +
         " is given: it follows from the others; in PyTorch I + W is about 1.5 "
         "B, so split backwards may take longer")
            .str());
  if (has("B"))
    request.assumptions.push_back("no cost of B is given: it follows from the "
                                  "others; whole backwards may take less");
  if (plan.best->getString("memory_by") == "recompute" && !request.hasStash)
    request.assumptions.push_back("no stash is given: a forward that is run "
                                  "again keeps nothing, not even its input");
  for (const std::string &kind : assumed)
    request.assumptions.push_back("no cost of " + kind +
                                  " is given: it follows from the others");
  for (std::optional<json::Object> *row : {&plan.now, &plan.builtIn})
    if (*row)
      addSkips(**row);
  if (std::string edges = addSkips(*plan.best); !request.skips.empty())
    request.assumptions.push_back(
        countText(request.skips.size(), "output") + " of layers skip others" +
        (edges.empty() ? "" : ", between stages " + edges) +
        ": handing them on takes no time and no memory");
}

/// The stage of each layer in the layout of a row; none without one.
std::vector<unsigned> Planner::stagesOfLayers(const json::Object &row) {
  std::vector<unsigned> stageOf;
  std::optional<StringRef> text = row.getString("layout");
  if (!text)
    return stageOf;
  Expected<StringRef> kept =
      diags.sourceFiles().add(MemoryBuffer::getMemBufferCopy(*text, "layout"));
  if (!kept)
    return consumeError(kept.takeError()), stageOf;
  FailureOr<LayerLayout> layout = parseLayout(*kept, diags);
  if (succeeded(layout))
    for (auto [stage, layers] : enumerate(*layout->cut(*layout->numStages())))
      stageOf.resize(stageOf.size() + layers.size(), stage);
  return stageOf;
}

/// Adds the edges of the stage graph for outputs that skip layers, those
/// between stages that are not neighbours, and returns them as `--connect`
/// takes them.
std::string Planner::addSkips(json::Object &row) {
  std::vector<unsigned> stageOf = stagesOfLayers(row);
  if (request.skips.empty() || stageOf.empty())
    return "";
  std::set<std::pair<unsigned, unsigned>> edges;
  for (auto [from, to] : request.skips)
    if (to < stageOf.size() && from < to && stageOf[to] > stageOf[from] + 1)
      edges.insert({stageOf[from], stageOf[to]});
  json::Array list;
  std::string words;
  for (auto [from, to] : edges) {
    list.push_back(json::Array{from, to});
    words += (words.empty() ? "" : ",") + std::to_string(from) + "->" +
             std::to_string(to);
  }
  row["skips"] = std::move(list);
  return words;
}

/// Adds the groups of stages whose layers share parameters to the schedule of
/// the plan, which can have as many groups as stages.
LogicalResult Planner::addTies() {
  std::vector<unsigned> stageOf = stagesOfLayers(*plan.best);
  std::set<std::set<unsigned>> groups;
  for (const std::vector<size_t> &layers : request.ties) {
    std::set<unsigned> stages;
    for (size_t layer : layers)
      if (layer < stageOf.size())
        stages.insert(stageOf[layer]);
    if (stages.size() > 1)
      groups.insert(std::move(stages));
  }
  if (groups.empty())
    return success();
  if (unsigned numStages = stageOf.back() + 1; groups.size() > numStages) {
    request.assumptions.push_back(
        countText(groups.size(), "group") + " of stages share parameters, " +
        "more than the " + countText(numStages, "stage") +
        ": the schedule has no ties, and does not sum their gradients");
    return success();
  }
  std::string path = request.inFolder(planSchedule), lines;
  for (const std::set<unsigned> &stages : groups) {
    lines += "  tie";
    for (unsigned stage : stages)
      lines += " " + std::to_string(stage);
    lines += '\n';
  }
  FailureOr<StringRef> text = openInput(path, diags, uint64_t(1) << 30);
  if (failed(text))
    return failure();
  // Ties follow the placement.
  size_t place = text->find('\n', text->find("\n  map ") + 1) + 1;
  return writeFile(path, out, diags, [&](raw_ostream &os) {
    os << text->take_front(place) << lines << text->drop_front(place);
  });
}

/// Lowers the common bound to a figure.
void Planner::noteBound(const json::Object &row, StringRef key) {
  if (figureOf(row, key) < figureOf(least, "bound")) {
    least.clear();
    copyFigure(row, key, least, "bound");
  }
}

/// Gives each row the common bound. A row outside of the search, such as `now`
/// above the limit of memory, gets at most its makespan.
void Planner::addBounds() {
  auto add = [&](json::Object &row) {
    bool isOutside = figureOf(row, "makespan") < figureOf(least, "bound");
    row.erase("bound_exact");
    copyFigure(isOutside ? row : least, isOutside ? "makespan" : "bound", row,
               "bound");
  };
  for (auto *row : {&plan.now, &plan.best, &plan.builtIn})
    if (*row)
      add(**row);
  for (json::Value &row : plan.alternatives)
    add(*row.getAsObject());
}

/// Searches a layout for a schedule of the library, and replaces the even one
/// if it is better. Returns true if the schedule fits with its layout.
bool Planner::findLayout(json::Object &row) {
  bool fits = row.getBoolean("fits").value_or(false);
  row.erase("fits");
  auto note = make_scope_exit([&] {
    if (fits)
      noteBound(row, "makespan");
  });
  if (!request.hasLayers || row.getString("memory_by"))
    return fits;
  std::string steps = request.inFolder("layout.steps");
  auto remove = make_scope_exit([&] { sys::fs::remove(steps); });
  CommandWords words = {"search", "--layouts",
                        "--schedule=" + row.getString("schedule")->str(),
                        "--effort=1"};
  llvm::append_range(words, request.words(/*isFixed=*/false));
  llvm::append_range(words, paramsOf(row));
  llvm::append_values(words, std::string("-o"), steps);
  FailureOr<json::Object> found = inner.tryToAsk(std::move(words));
  if (failed(found))
    return fits;
  noteBound(*found, "bound_all");
  FailureOr<json::Object> report = inner.tryToAsk({steps, "--emit=report"});
  if (failed(report) || !report->get("layout") ||
      report->getBoolean("over_limit").value_or(false) ||
      (fits && figureOf(*report, "makespan") >= figureOf(row, "makespan")))
    return fits;
  row["layout"] = *report->get("layout");
  readReport(*report, row);
  return fits = true;
}

/// Measures a schedule with its transfers as the framework runs them, one at a
/// time per rank: `placed` is its makespan then, null if that is not known.
void Planner::place(json::Object &row, CommandWords words) {
  row["placed"] = nullptr;
  if (!request.isPlaced() || row.getString("memory_by"))
    return;
  StringRef passes = request.consumer->passes(/*byTime=*/true);
  llvm::append_values(words, ("--passes=" + passes).str(),
                      std::string("--model=stream"),
                      std::string("--emit=report"));
  if (FailureOr<json::Object> report = inner.tryToAsk(std::move(words));
      succeeded(report))
    copyFigure(*report, "makespan", row, "placed");
}

/// The words that compare the schedules of the library.
CommandWords Planner::compareWords() const {
  CommandWords words = {"compare"};
  llvm::append_range(words, request.words(/*isFixed=*/false));
  words.push_back("chunks=1.." + std::to_string(request.chunks));
  return words;
}

/// True if the framework runs a schedule of the library, and it has no more
/// chunks than allowed.
bool Planner::isCandidate(const json::Object &candidate) const {
  return runsIn(*request.consumer, candidate) &&
         candidate.getInteger("stages").value_or(0) <=
             int64_t(request.chunks) * request.ranks;
}

/// The best schedules of the library for the framework.
LogicalResult Planner::compare() {
  progress.phase("comparing the schedules of the library");
  FailureOr<json::Object> table = inner.ask(compareWords());
  if (failed(table))
    return failure();
  if (request.hasLayers)
    progress.phase("searching layouts for the schedules of the library");
  struct Candidate {
    json::Object row;
    bool isOwn;
  };
  std::vector<Candidate> all;
  if (const json::Array *candidates = table->getArray("schedules"))
    for (const json::Value &value : *candidates) {
      const json::Object &candidate = *value.getAsObject();
      if (!isCandidate(candidate))
        continue;
      noteAssumed(candidate);
      json::Object row = rowOf(candidate, request.ranks);
      if (findLayout(row))
        all.push_back(
            {std::move(row), isBuiltIn(*request.consumer, candidate)});
    }
  auto isFasterRow = [](const Candidate &a, const Candidate &b) {
    return isFaster(a.row, b.row);
  };
  llvm::stable_sort(all, isFasterRow);
  // The fastest rows, and the fastest that the framework runs without a file.
  constexpr size_t most = 5;
  size_t number = 0, ownNumber = 0;
  llvm::erase_if(all, [&](const Candidate &one) {
    bool isAmong = number++ < most;
    return !(one.isOwn && ownNumber++ < most) && !isAmong;
  });
  for (Candidate &one : all)
    place(one.row, rowWords(request, one.row));
  llvm::stable_sort(all, isFasterRow);
  for (Candidate &one : all) {
    if (one.isOwn && !plan.builtIn)
      plan.builtIn = one.row;
    if (!plan.best)
      plan.best = one.row;
    if (plan.alternatives.size() != most)
      plan.alternatives.push_back(std::move(one.row));
  }
  return success();
}

/// Searches placements, chunks, forms and layouts in one run. If the framework
/// does not run the schedule that this finds, the forms are searched apart.
LogicalResult Planner::search() {
  if (!request.consumer->anyOrder)
    return success();
  progress.phase(request.hasLayers ? "searching placements, forms and layouts"
                                   : "searching placements and forms");
  std::string steps = request.inFolder(foundSchedule);
  auto remove = make_scope_exit([&] { sys::fs::remove(steps); });
  CommandWords words = {"search"};
  llvm::append_range(words, request.words(/*isFixed=*/false));
  llvm::append_values(words, "--chunks=" + std::to_string(request.chunks),
                      std::string("--placement=best"), std::string("-o"),
                      steps);
  if (request.hasLayers)
    words.push_back("--layouts");
  for (Opt option : {Opt::Effort, Opt::TimeLimit, Opt::Seed})
    if (request.args.has(option))
      words.push_back(optionInfo(option).spelling() + "=" +
                      request.args.text(option).str());
  FailureOr<json::Object> result = inner.tryToAsk(words);
  // Frameworks run the batch as it is given.
  if (succeeded(result) && result->get("order")) {
    words.push_back("--keep-order");
    result = inner.tryToAsk(words);
  }
  if (failed(result)) {
    if (!plan.best)
      return reportNothingFits();
    request.assumptions.push_back("nothing was searched: " +
                                  inner.firstError());
    return success();
  }
  noteBound(*result, "bound_all");
  if (const json::Value *all = result->get("searched"))
    plan.searched = *all;
  if (canWriteFramework(inner, request, steps))
    return take(*result);
  request.assumptions.push_back(
      (request.consumer->key +
       " does not run the best schedule that was found: " + inner.firstError())
          .str());
  for (StringRef form : {"whole", "split"}) {
    CommandWords again = words;
    again.push_back(("--backward=" + form).str());
    result = inner.tryToAsk(std::move(again));
    if (succeeded(result) && canWriteFramework(inner, request, steps) &&
        failed(take(*result)))
      return failure();
  }
  return plan.best ? success() : reportNothingFits();
}

/// Adds the schedule that a search has found, which is the best one or an
/// alternative.
LogicalResult Planner::take(const json::Object &result) {
  std::string steps = request.inFolder(foundSchedule);
  json::Object row;
  row["schedule"] = "found";
  for (StringRef key :
       {"placement", "chunks", "backward", "memory_by", "layout"})
    row[key] = result.get(key) ? *result.get(key) : nullptr;
  FailureOr<json::Object> report = inner.ask({steps, "--emit=report"});
  if (failed(report))
    return failure();
  readReport(*report, row);
  place(row, {steps});
  if (!plan.best || !isFaster(*plan.best, row)) {
    if (std::error_code error =
            sys::fs::rename(steps, request.inFolder(planSchedule)))
      return reportUnwritable(diags, request.folder, error);
    plan.best = std::move(row);
    return success();
  }
  plan.alternatives.insert(plan.alternatives.begin(), std::move(row));
  return success();
}

/// Writes a proof of the bound of the layout and form of the schedule that was
/// found. There is none for mixed backwards, with recomputation or copies, and
/// where overlaps gain. A short search has to find the words of the schedule.
void Planner::certify() {
  std::string form = plan.best->getString("backward").value_or("").str();
  if ((form != "split" && form != "whole") || plan.best->getString("memory_by"))
    return;
  std::string proof = request.inFolder(planCertificate),
              again = request.inFolder(foundSchedule);
  bool isProof = succeeded(inner.tryToWrite(
      {"search", request.inFolder(planSchedule), "--backward=" + form,
       "--effort=1", "--certificate=" + proof, "-o", again}));
  FailureOr<json::Object> report = failure();
  if (isProof)
    report = inner.tryToAsk({again, "--emit=report"});
  isProof = succeeded(report) &&
            figureOf(*report, "makespan") <= figureOf(*plan.best, "makespan") &&
            canWriteFramework(inner, request, again) &&
            !sys::fs::rename(again, request.inFolder(planSchedule));
  if (!isProof) {
    sys::fs::remove(proof);
    sys::fs::remove(again);
    return;
  }
  readReport(*report, *plan.best);
  place(*plan.best, {request.inFolder(planSchedule)});
}

/// Adds the makespans under costs that vary like the measured ones.
LogicalResult Planner::addIntervals() {
  if (!request.spread)
    return success();
  std::string jitter = "--jitter=step:" + toDecimal(*request.spread).text;
  for (auto *row : {&plan.now, &plan.best, &plan.builtIn}) {
    if (!*row)
      continue;
    CommandWords words = row == &plan.best
                             ? CommandWords{request.inFolder(planSchedule)}
                             : rowWords(request, **row);
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
LogicalResult Planner::reportNothingFits() {
  CommandWords words = compareWords();
  llvm::erase_if(
      words, [](StringRef word) { return word.starts_with("--memory-limit"); });
  FailureOr<json::Object> table = inner.ask(std::move(words));
  if (failed(table))
    return failure();
  const json::Object *least = nullptr;
  if (const json::Array *rows = table->getArray("schedules"))
    for (const json::Value &value : *rows) {
      const json::Object &candidate = *value.getAsObject();
      if (isCandidate(candidate) && (!least || figureOf(candidate, "memory") <
                                                   figureOf(*least, "memory")))
        least = &candidate;
    }
  if (!least)
    return diags.report(DiagLoc(), diag::PlanNothingRuns,
                        request.consumer->key);
  return diags.report(DiagLoc(), diag::PlanNothingFits,
                      request.args.text(Opt::MemoryLimit, "the limit"),
                      least->getString("name").value_or(""),
                      request.memoryText(*least),
                      roundedText(figureOf(*least, "makespan")));
}

LogicalResult Planner::run() {
  if (failed(findNow()) || failed(compare()) || failed(search()))
    return failure();
  if (!plan.best)
    return reportNothingFits();
  addAssumptions();
  // Of an earlier plan.
  sys::fs::remove(request.inFolder(planCertificate));
  if (plan.best->getString("schedule") == "found") {
    certify();
    addBounds();
    return addTies();
  }
  addBounds();
  // A schedule of the library, as step IR with its costs and layout.
  CommandWords words = rowWords(request, *plan.best);
  llvm::append_values(words, std::string("--emit=ir"), std::string("-o"),
                      request.inFolder(planSchedule));
  return success(succeeded(inner.write(words)) && succeeded(addTies()));
}

LogicalResult Planner::write() {
  FailureOr<std::vector<std::string>> written =
      writePlanFiles(inner, request, out, diags);
  FailureOr<StringRef> costs =
      openInput(request.profile, diags, uint64_t(16) << 20);
  if (failed(written) || failed(costs) ||
      failed(writeFile(request.inFolder("costs.json"), out, diags,
                       [&](raw_ostream &os) { os << *costs; })))
    return failure();
  plan.files = std::move(*written);
  if (sys::fs::exists(request.inFolder(planCertificate)))
    plan.files.push_back(planCertificate.str());
  llvm::append_values(plan.files, "costs.json", "plan.json");
  auto text = [&] {
    std::string text;
    raw_string_ostream os(text);
    json::OStream object(os, /*IndentSize=*/2);
    object.object([&] { plan.print(request, object); });
    os << '\n';
    return text;
  };
  json::Value printed = cantFail(parseJson(text()));
  plan.digests = planDigests(request.folder, *printed.getAsObject());
  removeEarlierFiles(request.folder, earlier, plan.files);
  return writeFile(request.inFolder("plan.json"), out, diags,
                   [&](raw_ostream &os) { os << text(); });
}

FailureOr<Plan> makePlan(PlanRequest &request, InnerRuns &inner,
                         Progress &progress, raw_ostream &out,
                         DiagEngine &diags) {
  if (std::error_code error = sys::fs::create_directories(request.folder))
    return reportUnwritable(diags, request.folder, error);
  Planner planner(request, inner, progress, out, diags);
  if (failed(planner.run()) || failed(planner.addIntervals()) ||
      failed(planner.write()))
    return failure();
  return std::move(planner.plan);
}

} // namespace pipec
