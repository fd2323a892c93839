//===- Comparison.cpp - The table of pipec compare ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Compare/Comparison.h"

#include "Cost/SettingsText.h"
#include "Emit/Emitter.h"
#include "Support/TextTable.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <map>
#include <numeric>
#include <set>

using namespace llvm;

namespace pipec {

//===----------------------------------------------------------------------===//
// Columns
//===----------------------------------------------------------------------===//

static constexpr FigureColumn columnTable[] = {
#define PIPEC_FIGURE_KEY(Key, IsRate, Value)                                   \
  {Key, IsRate, [](const Candidate &one) { return Value; }},
#include "Driver/SortKeys.def"
};

const ArrayRef<FigureColumn> figureColumns = columnTable;

/// Candidates with a bound come first.
static int compareBounds(std::optional<Rational> a, std::optional<Rational> b) {
  if (!a || !b)
    return int(b.has_value()) - int(a.has_value());
  return Rational::compare(*a, *b);
}

static int compareDrawn(Rational JitterReport::*time, const Candidate &a,
                        const Candidate &b) {
  return Rational::compare(*a.figures->jitter.*time, *b.figures->jitter.*time);
}

/// Compares two candidates that fit by a column; negative if `a` comes first.
static int compareBy(StringRef key, const Candidate &a, const Candidate &b) {
  for (const FigureColumn &column : figureColumns)
    if (column.key == key)
      return Rational::compare(column.of(a), column.of(b));
#define PIPEC_SORT_KEY(Key, Order)                                             \
  if (key == Key)                                                              \
    return Order;
#include "Driver/SortKeys.def"
  // Candidates that run there come first.
  const FrameworkInfo *info = findFramework(key);
  assert(info && "all keys are handled");
  auto runs = [&](const Candidate &one) {
    return one.verdicts[size_t(info->framework)].how != RunsAs::No;
  };
  return int(runs(b)) - int(runs(a));
}

/// The figures as the table shows them.
static std::vector<std::string> figureCells(const Candidate &candidate) {
  std::vector<std::string> cells;
  for (const FigureColumn &column : figureColumns)
    cells.push_back(column.isRate ? rateText(column.of(candidate))
                                  : decimalText(column.of(candidate)));
  if (const auto &jitter = candidate.figures->jitter)
    jitter->forEach(
        [&](StringRef, Rational time) { cells.push_back(jitterText(time)); });
  return cells;
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

void Comparison::sort(StringRef key) {
  using Outcome = Candidate::Outcome;
  sortKey = key.str();
  std::map<std::string, std::set<std::string>> origins;
  for (const Candidate &candidate : candidates)
    origins[candidate.name].insert(candidate.origin);
  for (Candidate &candidate : candidates) {
    if (origins[candidate.name].size() == 1)
      candidate.origin.clear();
    simulated |= candidate.figures.has_value();
    anyFits |= candidate.outcome == Outcome::Fits;
    kinds |= candidate.kinds;
    assumed.add(candidate.assumed);
    if (!rounding.any())
      rounding = candidate.rounding;
  }
  std::ranges::stable_sort(candidates, &Candidate::isBefore);
  if (!key.empty())
    llvm::stable_sort(candidates, [&](const Candidate &a, const Candidate &b) {
      if (a.outcome != b.outcome || a.outcome != Outcome::Fits)
        return a.outcome != b.outcome ? a.outcome < b.outcome
                                      : key == "name" && a.name < b.name;
      return compareBy(key, a, b) < 0;
    });
  fold();
}

void Comparison::fold() {
  std::map<std::vector<std::string>, unsigned> known;
  unsigned rows = 0;
  const Candidate *last = nullptr;
  for (Candidate &candidate : candidates) {
    if (candidate.outcome != Candidate::Outcome::Fits)
      continue;
    std::vector<std::string> cells = figureCells(candidate);
    std::vector<std::string> key = cells;
    llvm::append_values(key, candidate.layout, candidate.target,
                        std::to_string(candidate.order.first),
                        std::to_string(candidate.order.second));
    bool sameName = last && last->shownName() == candidate.shownName() &&
                    last->layout == candidate.layout &&
                    last->target == candidate.target &&
                    figureCells(*last) == cells;
    auto [row, isNew] = known.try_emplace(key, rows + 1);
    if (isNew && sameName)
      row->second = last->place;
    else if (isNew)
      ++rows;
    candidate.place = row->second;
    last = &candidate;
  }
  llvm::stable_sort(candidates, [](const Candidate &a, const Candidate &b) {
    return a.place != 0 && (b.place == 0 || a.place < b.place);
  });
}

void Comparison::warnOfCosts(DiagEngine &diags) const {
  DiagLoc loc = options.given.front().source;
  warnOfRounding(rounding, loc, diags);
  warnOfAssumed(assumed, loc, diags);
}

/// The given costs of a part or a layer, of the kinds that are used.
std::string Comparison::costs() const {
  const GivenSettings &given = options.given.front();
  CostSettings costs = given.allCosts();
  LayerSettings layers = given.layers;
  CostRounding known;
  roundCosts(costs, known, layers);
  // The layer is a `t`.
  if (const auto &decoder = layers[size_t(LayerKind::Decoder)])
    for (auto [figure, value] : decoder->costs)
      costs.set(figure, value);
  return costText(costs, CostUse(given.parts.value_or(1),
                                 kinds ? kinds : CostUse::allKinds));
}

void Comparison::keepTop(unsigned rows) {
  if (!anyFits)
    return;
  llvm::erase_if(candidates, [&](const Candidate &candidate) {
    bool hidden = candidate.place == 0 || candidate.place > rows;
    if (hidden)
      ++numHidden[size_t(candidate.outcome)];
    return hidden;
  });
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

void Comparison::printHeading(raw_ostream &os) const {
  const GivenSettings &given = options.given.front();
  os << options.ranks << " ranks, " << options.microbatches << " micro-batches"
     << (options.slices == 1 ? "" : " of " + countText(options.slices, "slice"))
     << "; " << costs();
  if (!hasLayouts())
    os << " for 1/" << *given.parts << " of the model";
  else if (!showsLayout())
    os << " for one layer; layout " << given.layout->text();
  else
    os << " for one layer; " << options.given.size() << " layouts";
  if (auto limit = given.allMemory().get(Figure::Limit))
    os << "; room for " << decimalText(*limit);
  os << "\n\n";
}

static constexpr StringLiteral tooLargeTitle = "no room for";
static constexpr StringLiteral refusedTitle = "not at these sizes";

/// Says how many candidates `keepTop` removed.
void Comparison::printHidden(raw_ostream &os) const {
  size_t all = std::accumulate(numHidden.begin(), numHidden.end(), size_t(0));
  if (all == 0)
    return;
  os << "... " << all << " more (";
  StringRef separator;
  for (auto [number, title] :
       zip_equal(numHidden, std::array<StringRef, Candidate::numOutcomes>{
                                "fit", tooLargeTitle, refusedTitle}))
    if (number != 0) {
      os << separator << title << ": " << number;
      separator = ", ";
    }
  os << ")\n";
}

/// The columns that a narrow terminal does not show, the first ones first. The
/// last lines of the output say which framework runs which schedule.
static SmallVector<StringRef> columnsToOmit(StringRef sortKey) {
  SmallVector<StringRef> omit{"span",           "bubble_span", "transfers",
                              "exposed",        "also",        "copies",
                              "bubble_makespan"};
  llvm::erase(omit, sortKey);
  for (const FrameworkInfo &info : reverse(frameworkTable))
    if (info.key != sortKey)
      omit.push_back(info.column);
  return omit;
}

void Comparison::printRows(raw_ostream &os, size_t width) const {
  bool sizes = any_of(candidates, [](const Candidate &candidate) {
    return candidate.figures && !(candidate.figures->memory.total ==
                                  candidate.figures->memory.activations);
  });
  // A column of empty cells is omitted.
  TextTable table("<|<schedule|<parameters|<layout|<target");
  for (const FigureColumn &column : figureColumns)
    table.column(column.key.str());
  if (options.jitter)
    JitterReport().forEach(
        [&](StringRef name, Rational) { table.column(name.str()); });
  table.column("bound");
  for (const FrameworkInfo &info : frameworkTable)
    table.column(info.column.str(), TextTable::Align::Left);
  table.column("also", TextTable::Align::Left);
  for (size_t begin = 0; begin != candidates.size();) {
    const Candidate &first = candidates[begin];
    if (first.place == 0)
      break;
    std::string params, also, bound;
    size_t end = begin;
    for (; end != candidates.size() && candidates[end].place == first.place;
         ++end) {
      const Candidate &one = candidates[end];
      if (one.bound && bound.empty())
        bound = decimalText(*one.bound);
      if (one.shownName() == first.shownName())
        params += (params.empty() ? "" : "; ") + one.params;
      else
        also += (also.empty() ? "" : ", ") + one.title();
    }
    std::vector<std::string> cells = {
        std::to_string(first.place),
        first.shownName() + (first.assumed.empty() ? "" : " ~"), params,
        showsLayout() ? first.layout : "", first.target};
    std::vector<std::string> figures = figureCells(first);
    for (auto [column, cell] : zip(figureColumns, figures))
      if (column.key == "memory")
        cell = !first.memoryBy.empty() ? cell + " " + first.memoryBy
               : sizes                 ? cell
                                       : "";
    llvm::append_range(cells, figures);
    cells.push_back(bound);
    for (const Verdict &verdict : first.verdicts)
      cells.push_back(
          verdict.how == RunsAs::No ? "-" : runsAsName(verdict.how).str());
    cells.push_back(also);
    table.row(std::move(cells));
    begin = end;
  }
  std::vector<std::string> omitted;
  if (width != 0)
    omitted = table.fit(width, columnsToOmit(sortKey));
  table.print(os);
  printHidden(os);
  if (!omitted.empty())
    os << "(columns left out, which a pipe (| cat) and --format=csv show: "
       << join(omitted, ", ") << ")\n";
  if (!assumed.empty())
    os << "~ with costs that are not given: " << assumed.text() << '\n';
}

/// Instead of the rows: the schedule that needs least, and how to find one.
void Comparison::printNothingFits(raw_ostream &os) const {
  const Candidate *least = nullptr;
  for (const Candidate &candidate : candidates)
    if (candidate.figures && (!least || candidate.figures->memory.total <
                                            least->figures->memory.total))
      least = &candidate;
  os << "no schedule fits";
  if (least)
    os << "; " << least->title() << " needs "
       << decimalText(least->figures->memory.total);
  if (!finder.empty())
    os << "; `" << finder << "` finds one";
  os << '\n';
}

void Comparison::printOthers(raw_ostream &os, Candidate::Outcome outcome,
                             StringRef title) const {
  TextTable others("<|<|<|<|<", /*indent=*/2);
  bool any = false;
  for (const Candidate &candidate : candidates) {
    if (candidate.outcome != outcome)
      continue;
    any = true;
    others.row({candidate.shownName(), candidate.params,
                showsLayout() ? candidate.layout : "", candidate.target,
                candidate.reason});
  }
  if (!any)
    return;
  os << '\n' << title << ":\n";
  others.print(os);
}

void Comparison::printChoices(raw_ostream &os) const {
  if (choices.empty())
    return;
  os << "\nthe best for each framework:\n";
  TextTable table(showsLayout() ? "<|<|<" : "<|<", /*indent=*/2);
  for (const FrameworkChoice &choice : choices) {
    std::vector<std::string> cells = {
        frameworkTable[size_t(choice.framework)].column.str() +
        (choice.how == RunsAs::Executor ? " executor" : "")};
    if (showsLayout())
      cells.push_back(choice.layout);
    auto addRow = [&](std::string text) {
      cells.push_back(std::move(text));
      table.row(cells);
      cells.assign(cells.size() - 1, "");
    };
    if (choice.commands.empty())
      addRow("built-in " + choice.schedule + ": " + choice.settings);
    for (const std::string &command : choice.commands)
      addRow(command);
  }
  table.print(os);
}

void Comparison::print(raw_ostream &os, size_t width) const {
  printHeading(os);
  if (anyFits)
    printRows(os, width);
  else if (simulated)
    printNothingFits(os);
  printOthers(os, Candidate::Outcome::TooLarge, tooLargeTitle);
  printOthers(os, Candidate::Outcome::Refused, refusedTitle);
  printChoices(os);
}

} // namespace pipec
