//===- DrawingLayout.cpp - The layout of a drawn timeline -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Emit/DrawingLayout.h"

#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Words.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/StringExtras.h"

#include <optional>

using namespace llvm;

namespace pipec {

/// The name of a kind of box in the legend.
static StringRef legendText(StepKind kind) {
  static constexpr std::pair<StepKind, StringLiteral> texts[] = {
      {StepKind::F, "F forward"},
      {StepKind::B, "B backward"},
      {StepKind::I, "I input gradient"},
      {StepKind::W, "W weight gradient"},
      {StepKind::Unshard, "unshard"},
      {StepKind::Reshard, "reshard"},
      {StepKind::R, "R recomputation"},
      {StepKind::Update, "U optimizer step"},
      {StepKind::Offload, "copy to the host"},
      {StepKind::Reload, "copy from the host"},
      {StepKind::ReduceTied, "sum tied gradients"}};
  for (const auto &[known, text] : texts)
    if (known == kind)
      return text;
  return "reduce gradients";
}

FailureOr<int64_t> DrawingLayout::maxWidthOf(const EmitOptions &options,
                                             DiagEngine &diags) {
  if (!options.width)
    return 0;
  const Rational &scale = options.scale;
  auto maxWidth = int64_t(__int128(options.width) * 10 * scale.denominator() /
                          scale.numerator());
  if (maxWidth >= leastWidth)
    return maxWidth;
  __int128 tenths = __int128(leastWidth) * scale.numerator();
  __int128 unit = __int128(10) * scale.denominator();
  auto least = int64_t((tenths + unit - 1) / unit);
  return diags.report(
      DiagLoc(), diag::OptionValue, std::to_string(options.width), "--width",
      ("at least " + Twine(least) + ", the smallest width of a picture").str());
}

DrawingLayout::DrawingLayout(const Picture &picture, const EmitOptions &options,
                             int64_t maxWidth)
    : picture(picture), schedule(picture.schedule()),
      shades(numShades(picture.numShaded())), memoryView(options.memoryView),
      facts(picture), name(options.title.value_or(schedule.name)) {
  survey();
  findPhases();
  description = sizes() + "; " + figures();
  if (name.empty())
    name = schedule.name;
  else
    title.push_back(name);
  about.push_back(description);
  if (std::string part = picture.windowText(); !part.empty())
    note.push_back("Shown: " + part);
  chooseWidth(maxWidth);
  layOut();
}

//===----------------------------------------------------------------------===//
// Contents
//===----------------------------------------------------------------------===//

void DrawingLayout::survey() {
  BitVector hasSide(size(SideLane::all(schedule)));
  for (unsigned rank = 0; rank != picture.shownRanks(); ++rank) {
    const StepList &list = schedule.ranks[rank];
    picture.forEachGroup(rank, [&](const Picture::Group &group) {
      for (size_t i = group.begin; i != group.end; ++i) {
        Step step = list[i];
        if (isP2P(step.kind())) {
          if (std::optional<unsigned> peer = picture.receiver(step))
            arrows.push_back({rank, *peer, group.start, group.finish,
                              step.kind() == StepKind::SendB});
          continue;
        }
        if (std::optional<SideLane> lane = SideLane::of(schedule, step)) {
          hasSide.set(lane->number());
        } else if (isCompute(step.kind())) {
          labelLetters = std::max(labelLetters, number(rank, step).size());
          hasPairs |= group.end - group.begin > 1;
        }
      }
    });
    picture.forEachWait(rank, [&](Step step, int64_t) {
      waitKinds |= step_facts::bit(step.kind());
    });
  }
  for (SideLane lane : SideLane::all(schedule))
    if (hasSide.test(lane.number()))
      sides.push_back(lane);
}

/// Finds the phases of the first rank. Timed phases usually alternate, so a run
/// may be short.
void DrawingLayout::findPhases() {
  const StepList &list = schedule.ranks[0];
  picture.forEachCompute(0, [&](const Picture::Group &group) {
    Step step = list[group.begin];
    if (step.phase() >= schedule.phases.size())
      return;
    int64_t finish = std::min(group.finish, picture.to());
    if (!phases.empty() && phases.back().phase == step.phase())
      phases.back().finish = finish;
    else
      phases.push_back(
          {step.phase(), std::max(group.start, picture.from()), finish});
  });
  if (phases.size() == 1)
    phases.clear();
}

std::string DrawingLayout::sizes() const {
  std::string text = sizesText(schedule);
  for (const auto &[name, value] : schedule.params)
    text += (&name == &schedule.params.front().first ? "; " : ", ") + name +
            " = " + std::to_string(value);
  return text;
}

std::string DrawingLayout::figures() const {
  const Simulation &run = picture.simulation();
  std::string text = "makespan " + picture.time(run.makespan());
  if (std::optional<Rational> bubble = run.bubbleRate(run.makespan()))
    text += ", bubble " + percentText(*bubble);
  std::string costs = facts.costsText();
  if (!costs.empty())
    text += "; " + costs;
  return text;
}

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

/// The number of characters of UTF-8 text.
static size_t letters(StringRef text) {
  return text.size() - count_if(text, isContinuationByte);
}

/// The first `most` characters of a text that has more.
static StringRef firstLetters(StringRef text, size_t most) {
  size_t end = 0;
  for (size_t seen = 0; seen != most || isContinuationByte(text[end]); ++end)
    seen += !isContinuationByte(text[end]);
  return text.take_front(end);
}

std::string DrawingLayout::sideName(SideLane lane) const {
  constexpr size_t most = 11;
  StringRef name = lane.name(schedule);
  return letters(name) <= most
             ? name.str()
             : firstLetters(name, most - 2).rtrim(' ').str() + "...";
}

/// Breaks a line where it is longer than `most` characters: after a semicolon
/// or a comma, at a blank, or inside a word that is longer.
static void wrap(std::vector<std::string> &lines, size_t most) {
  while (!lines.empty() && letters(lines.back()) > most) {
    StringRef line = lines.back();
    StringRef head = firstLetters(line, most);
    size_t cut = StringRef::npos;
    for (StringRef mark : {"; ", ", ", " "})
      if (cut == StringRef::npos || cut < head.size() / 2)
        if (size_t found = head.rfind(mark); found != StringRef::npos)
          cut = found + mark.size();
    if (cut == StringRef::npos || cut == 0)
      cut = head.size();
    std::string rest = line.drop_front(cut).str();
    lines.back() = line.take_front(cut).rtrim(' ').str();
    lines.push_back(std::move(rest));
  }
}

void DrawingLayout::chooseWidth(int64_t maxWidth) {
  if (memoryView != MemoryView::None)
    for (unsigned rank = 0; rank != picture.shownRanks(); ++rank) {
      int64_t size = peakText(rank).size();
      rightMargin = std::max(rightMargin, 80 + sideLetterWidth * size + 20);
    }
  // The number of a step of average duration must fit, and the number of a step
  // of the shortest kind too, unless it is very short.
  int64_t typical =
      std::max({facts.average() / 2, facts.smallestAverage(), int64_t(1)});
  int64_t cell = 80 + digitWidth * int64_t(labelLetters);
  int64_t shown = std::max<int64_t>(picture.to() - picture.from(), 1);
  __int128 wanted = __int128(shown) * cell / typical;
  plotWidth = int64_t(std::clamp<__int128>(wanted, 4800, 160000));
  width = leftMargin + plotWidth + rightMargin;
  // The lines at the top are not cut off.
  for (const auto *lines : {&about, &note})
    for (const std::string &line : *lines)
      width = std::max(width, 2 * edge + letterWidth * int64_t(letters(line)));
  if (maxWidth && width > maxWidth) {
    width = maxWidth;
    plotWidth = std::min(plotWidth, width - leftMargin - rightMargin);
  }
  boxWidth = int64_t(__int128(plotWidth) * typical / shown);
  // Smaller numbers if the usual size does not fit.
  if (boxWidth < digitWidth * int64_t(labelLetters) + 10)
    digitWidth = 48;
}

void DrawingLayout::layOut() {
  wrap(title, size_t((width - 2 * edge) / titleLetterWidth));
  wrap(about, size_t((width - 2 * edge) / letterWidth));
  wrap(note, size_t((width - 2 * edge) / letterWidth));
  aboutTop = title.empty() ? 230 : 250 + 180 * int64_t(title.size());
  noteTop = aboutTop + 150 * int64_t(about.size()) + 10;
  int64_t y = noteTop + 160 * int64_t(note.size()) - 110;
  legendTop = y + 60;
  y = legendTop;
  layOutLegend(y);
  y += 180 + 120 + (phases.empty() ? 0 : 120);

  lanesTop = y;
  bool marks = waitKinds != 0;
  bool hasHeat = memoryView == MemoryView::Heat;
  laneGap = arrows.empty() && !marks ? 50 : 130;
  int64_t heats = facts.hasHost() ? hostTop() : heatTop();
  lanePitch = (hasHeat ? heats + heatHeight : laneDepth()) + laneGap;
  axisTop = lanesBottom() + (marks && !hasHeat ? 80 : 30);
  memoryTop = axisTop + 430;
  height = memoryView == MemoryView::Panel
               ? memoryTop + picture.shownRanks() * memoryPitch + 100
               : axisTop + 270;
}

void DrawingLayout::forEachColor(
    Scheme scheme,
    function_ref<void(const Twine &, ColorUse, Color)> visit) const {
  visit("lane", ColorUse::Fill, idleColor(scheme));
  if (facts.hasHost() && memoryView != MemoryView::None)
    visit("host", ColorUse::Line, fillColor(scheme, StepKind::Reload));
  for (unsigned number = 0; number != unsigned(StepKind::Bubble); ++number) {
    auto kind = StepKind(number);
    bool marked =
        isWait(kind) && !isSendWait(kind) && waitKinds & step_facts::bit(kind);
    if (!facts.of(kind).count && !marked)
      continue;
    if (!isCompute(kind)) {
      visit("k" + Twine(number), ColorUse::Fill, fillColor(scheme, kind));
      continue;
    }
    visit("t" + Twine(number), ColorUse::Text, textColor(scheme, kind));
    for (unsigned shade = 0; shade != shades; ++shade)
      visit("k" + Twine(number) + "s" + Twine(shade), ColorUse::Fill,
            fillColor(scheme, kind, shade, shades));
  }
}

/// Breaks the legend into lines; `y` becomes the last one.
void DrawingLayout::layOutLegend(int64_t &y) {
  int64_t legendX = edge;
  auto item = [&](StringRef text, LegendItem::Symbol symbol, std::string style,
                  int64_t room = 160) {
    int64_t itemWidth = room + 50 + 54 * int64_t(text.size()) + 160;
    if (legendX != edge && legendX + itemWidth > width - edge) {
      legendX = edge;
      y += 180;
    }
    legend.push_back({legendX, y, text.str(), symbol, std::move(style), room});
    legendX += itemWidth;
  };
  for (unsigned kind = 0; kind != unsigned(StepKind::Bubble); ++kind)
    if (facts.of(StepKind(kind)).count)
      item(legendText(StepKind(kind)),
           isCompute(StepKind(kind)) ? LegendItem::Shades : LegendItem::Box,
           ("k" + Twine(kind)).str());
  if (unsigned number = picture.numShaded(); number > 1) {
    std::string text = picture.chunks().most() > 1 ? "chunks" : "slices";
    if (number > maxShades)
      text += " " + shadedName(0) + " to " + shadedName(number - 1);
    item(text, LegendItem::Chunks, "", 110 * int64_t(shades));
  }
  if (hasPairs)
    item("overlap", LegendItem::Pair, "", 220);
  item("idle", LegendItem::Box, "lane");
  if (!arrows.empty()) {
    item("activations", LegendItem::Arrow, "act");
    item("gradients", LegendItem::Arrow, "grad");
  }
  if (hasSendWaits())
    item("wait for a send", LegendItem::Mark, "head-act");
  for (auto [kind, text] :
       {std::pair(StepKind::WaitReduceGrad, "wait for a reduction"),
        {StepKind::WaitOffload, "wait for a copy"}})
    if (waitKinds & step_facts::bit(kind))
      item(text, LegendItem::Mark, ("k" + Twine(unsigned(kind))).str());
  if (memoryView == MemoryView::Heat)
    item("memory, up to the peak", LegendItem::Heat, "", 300);
  if (memoryView != MemoryView::None && facts.hasHost())
    item("memory on the host", LegendItem::Arrow, "host");
}

} // namespace pipec
