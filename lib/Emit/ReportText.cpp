//===- ReportText.cpp - Reports as text -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers are decimals: all digits if the expansion terminates, otherwise
// rounded, with a preceding `~`. Empty columns are omitted, as are the middle
// of a long path and parts that do not apply to a schedule.
//
//===----------------------------------------------------------------------===//

#include "Cost/SettingsText.h"
#include "Emit/Emitter.h"
#include "Explain/Report.h"
#include "IR/StepPlaces.h"
#include "Support/Decimal.h"
#include "Support/TextTable.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace pipec {

/// The number of lines of the critical path that are shown at each of its ends.
static constexpr size_t shownStays = 15;

namespace {

class ReportPrinter {
public:
  ReportPrinter(const Schedule &schedule, const Report &report, raw_ostream &os)
      : schedule(schedule), report(report), numbers(schedule), places(schedule),
        os(os) {}

  void print();

private:
  void printHead();
  void printRanks();
  void printWaiting();
  void printEdges();
  void printPath();
  void printGaps();

  std::string time(int64_t ticks) const {
    return decimalText(report.time(ticks));
  }
  std::string overLimit(const RankReport &rank) const;
  std::string stepText(uint32_t step) const {
    StepRef at = numbers.at(step);
    return places.eventText(at.rank, at.index);
  }

  const Schedule &schedule;
  const Report &report;
  StepNumbers numbers;
  StepPlaces places;
  raw_ostream &os;
};

} // namespace

std::string jitterText(Rational time) {
  unsigned digits = time < Rational(10) ? 4 : 1;
  return toDecimal(time, /*exactDigits=*/digits, digits).text;
}

/// A figure of a column that is omitted if all its figures are 0.
static std::string unlessAllZero(bool allZero, Rational value) {
  return allZero ? "" : decimalText(value);
}

void ReportPrinter::print() {
  printHead();
  printRanks();
  printWaiting();
  printEdges();
  printPath();
  printGaps();
}

//===----------------------------------------------------------------------===//
// Figures
//===----------------------------------------------------------------------===//

void ReportPrinter::printHead() {
  os << terminalText(schedule.name) << ": " << sizesText(schedule);
  if (report.model)
    os << "; transfers as steps, " << report.model->name() << ": "
       << report.model->phrase();
  else
    os << "; free arrival";
  os << '\n'
     << costTitle(schedule) << ": "
     << costText(schedule.costs, schedule.costUse()) << '\n';
  if (!schedule.layers.empty())
    os << "layout " << layoutText(schedule.layers) << '\n';
  os << '\n';

  TextTable table("<|time|bubble");
  table.row({"makespan", decimalText(report.makespan),
             decimalText(report.bubbleMakespan)});
  table.row({"span", decimalText(report.span), decimalText(report.bubbleSpan)});
  if (report.freeMakespan)
    table.row(
        {"makespan with free arrival", decimalText(*report.freeMakespan), ""});
  table.row({"work of all ranks", decimalText(report.work), ""});
  table.print(os);
  if (!report.jitter)
    return;
  os << "\nmakespan in " << countText(report.jitter->draws, "draw")
     << " of the costs, seed " << report.jitter->seed << '\n';
  TextTable quantiles("mean|p50|p95|p99");
  std::vector<std::string> cells;
  report.jitter->forEach(
      [&](StringRef, Rational time) { cells.push_back(jitterText(time)); });
  quantiles.row(cells);
  quantiles.print(os);
}

/// By how much a rank exceeds its memory limit; empty if it
/// does not.
std::string ReportPrinter::overLimit(const RankReport &rank) const {
  if (!rank.isOverLimit())
    return "";
  auto over = Rational::sub(rank.memory.total, *rank.memoryLimit);
  return over ? decimalText(*over) : "yes";
}

void ReportPrinter::printRanks() {
  os << '\n';
  TextTable table("rank|start|end|work|gaps|idle|bubble|idle (span)|"
                  "bubble (span)|peak|receives|parameters|total|limit|over|"
                  "host");
  // If there are only activations, their peak is sufficient.
  bool noReceives = report.memory.receives.isZero();
  bool noParameters = report.memory.parameters.isZero();
  for (auto [rank, self] : enumerate(report.ranks))
    table.row(
        {std::to_string(rank), decimalText(self.start), decimalText(self.end),
         decimalText(self.work), decimalText(self.gaps), decimalText(self.idle),
         decimalText(self.bubbleMakespan), decimalText(self.idleSpan),
         decimalText(self.bubbleSpan), decimalText(self.memory.activations),
         unlessAllZero(noReceives, self.memory.receives),
         unlessAllZero(noParameters, self.memory.parameters),
         unlessAllZero(noReceives && noParameters, self.memory.total),
         self.memoryLimit ? decimalText(*self.memoryLimit) : "",
         overLimit(self),
         unlessAllZero(report.memory.host.isZero(), self.memory.host)});
  table.print(os);
}

void ReportPrinter::printWaiting() {
  if (report.waiting.dependency.isZero() && report.waiting.exposed.isZero() &&
      report.unshards == 0 && !report.sendWaits)
    return;
  os << "\nwaiting before compute steps\n";
  TextTable table("rank");
  const WaitingTime &all = report.waiting;
  // The parts that no rank waits for have no column.
  StringSet<> shown;
  all.forEachPart([&](StringRef part, Rational time) {
    if (!time.isZero() && shown.insert(part).second)
      table.column(part.str());
  });
  for (const char *heading :
       {"exposed", "outstanding sends", "unshards", "refetches"})
    table.column(heading);
  auto row = [&](std::string name, const WaitingTime &self,
                 std::string outstanding, uint64_t unshards,
                 uint64_t refetches) {
    std::vector<std::string> cells = {std::move(name)};
    self.forEachPart([&](StringRef part, Rational time) {
      if (shown.contains(part))
        cells.push_back(decimalText(time));
    });
    cells.insert(cells.end(),
                 {decimalText(self.exposed), std::move(outstanding)});
    bool sharded = report.unshards != 0;
    cells.push_back(sharded ? std::to_string(unshards) : "");
    cells.push_back(sharded ? std::to_string(refetches) : "");
    table.row(std::move(cells));
  };
  for (auto [rank, self] : enumerate(report.ranks))
    row(std::to_string(rank), self.waiting,
        report.sendWaits ? std::to_string(self.outstandingSends) : "",
        self.unshards, self.refetches);
  row("all", all, "", report.unshards, report.refetches);
  table.print(os);
}

void ReportPrinter::printEdges() {
  os << '\n' << countText(report.transfers, "transfer");
  if (report.volume)
    os << ", volume " << decimalText(*report.volume);
  os << '\n';
  if (report.edges.empty())
    return;
  TextTable table("from|to|<what|transfers|volume");
  for (const EdgeReport &edge : report.edges)
    table.row({std::to_string(edge.from), std::to_string(edge.to),
               edge.gradients ? "gradients" : "activations",
               std::to_string(edge.transfers),
               edge.volume ? decimalText(*edge.volume) : ""});
  table.print(os);
}

//===----------------------------------------------------------------------===//
// Reasons
//===----------------------------------------------------------------------===//

namespace {
/// The links [begin, end) of a path that are adjacent on one rank.
struct Stay {
  size_t begin;
  size_t end;
};
} // namespace

void ReportPrinter::printPath() {
  if (report.path.empty())
    return;
  std::vector<Stay> stays;
  int64_t computing = 0;
  for (auto [i, link] : enumerate(report.path)) {
    StepRef at = numbers.at(link.step);
    if (isCompute(schedule.ranks[at.rank][at.index].kind()))
      computing += link.end - link.start;
    if (link.reason == Reason::Order && !stays.empty())
      ++stays.back().end;
    else
      stays.push_back({i, i + 1});
  }
  int64_t all = report.path.back().end - report.path.front().start;
  os << "\ncritical path: " << countText(report.path.size(), "step") << ", "
     << time(computing) << " of " << time(all) << " computing\n";

  TextTable table("start|end|rank|<steps|number|<waited for");
  for (size_t i = 0; i != stays.size(); ++i) {
    if (i == shownStays && stays.size() > 2 * shownStays + 1) {
      size_t skipped = stays.size() - 2 * shownStays;
      i += skipped;
      table.line("... " + std::to_string(skipped) + " lines, until " +
                 time(report.path[stays[i].begin].start) + " ...");
    }
    const PathStep &first = report.path[stays[i].begin];
    const PathStep &last = report.path[stays[i].end - 1];
    size_t number = stays[i].end - stays[i].begin;
    std::string steps = stepText(first.step);
    if (number > 1)
      steps += (number > 2 ? " ... " : ", ") + stepText(last.step);
    table.row(
        {time(first.start), time(last.end),
         std::to_string(numbers.rankOf(first.step)), steps,
         number > 1 ? std::to_string(number) : "",
         first.reason == Reason::First ? "" : reasonName(first.reason).str()});
  }
  table.print(os);
}

void ReportPrinter::printGaps() {
  if (report.gaps.empty())
    return;
  os << "\nlargest idle gaps\n";
  TextTable table("length|start|end|rank|<before|<binds|<waits for|<would fit");
  for (const IdleGap &gap : report.gaps) {
    std::string waitsFor;
    if (gap.cause && numbers.rankOf(gap.cause->step) != gap.rank)
      waitsFor = "rank " + std::to_string(numbers.rankOf(gap.cause->step)) +
                 ", " + stepText(gap.cause->step);
    else if (gap.cause)
      waitsFor = stepText(gap.cause->step);
    table.row({time(gap.length()), time(gap.start), time(gap.end),
               std::to_string(gap.rank),
               places.groupText(gap.rank, gap.before.index),
               bindingName(gap.binding).str(), waitsFor,
               gap.ready ? places.groupText(gap.rank, gap.ready->index) : ""});
  }
  table.print(os);
}

LogicalResult emitReport(const Schedule &schedule, const EmitOptions &options,
                         raw_ostream &os, DiagEngine &diags) {
  ReportOptions what;
  what.model = options.model;
  what.jitter = options.jitter;
  FailureOr<Report> report = makeReport(schedule, what, diags);
  FailureOr<Report> second = failure();
  if (options.with && succeeded(report))
    second = makeReport(*options.with, what, diags);
  if (failed(report) || (options.with && failed(second)))
    return failure();
  if (!options.json) {
    ReportPrinter(schedule, *report, os).print();
    if (options.with) {
      os << '\n';
      ReportPrinter(*options.with, *second, os).print();
    }
    return success();
  }
  json::OStream json(os, /*IndentSize=*/2);
  writeReport(schedule, *report, json, [&] {
    if (!options.with)
      return;
    json.attributeBegin("with");
    writeReport(*options.with, *second, json);
    json.attributeEnd();
  });
  os << '\n';
  return success();
}

} // namespace pipec
