//===- SvgLayout.cpp - The layout of the SVG timeline ---------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emit/SvgLayout.h"

#include "llvm/ADT/StringExtras.h"

#include <cstring>

using namespace llvm;

namespace pipec {

/// The name of a kind of box in the legend.
static StringRef legendText(StepKind kind) {
  switch (kind) {
  case StepKind::F:
    return "F forward";
  case StepKind::B:
    return "B backward";
  case StepKind::I:
    return "I input gradient";
  case StepKind::W:
    return "W weight gradient";
  case StepKind::Unshard:
    return "unshard";
  case StepKind::Reshard:
    return "reshard";
  case StepKind::ReduceTied:
    return "sum tied gradients";
  default:
    return "reduce gradients";
  }
}

SvgLayout::SvgLayout(const Picture &picture)
    : picture(picture), schedule(picture.schedule()),
      shades(numShades(picture.chunks().most())) {
  survey();
  layOut();
}

void SvgLayout::survey() {
  for (unsigned rank = 0; rank != picture.shownRanks(); ++rank) {
    const StepList &list = schedule.ranks[rank];
    picture.forEachGroup(rank, [&](const Picture::Group &group) {
      for (size_t i = group.begin; i != group.end; ++i) {
        Step step = list[i];
        if (isP2P(step.kind())) {
          const DataFlow::Port *port =
              isSend(step.kind()) ? picture.flow().transfer(step) : nullptr;
          if (port && port->rank < picture.shownRanks())
            arrows.push_back({rank, port->rank, group.start, group.finish,
                              step.kind() == StepKind::SendB});
          continue;
        }
        KindFacts &facts = kinds[unsigned(step.kind())];
        facts.add(group.end - group.begin == 1 ? group.finish - group.start
                                               : picture.alone(rank, i));
        if (isCompute(step.kind()))
          labelLetters = std::max(labelLetters, number(step).size());
        hasFsdp |= isCollective(step.kind());
      }
    });
    picture.forEachWait(rank, [&](Step step, int64_t) {
      (isSendWait(step.kind()) ? hasSendWaits : hasReductionWaits) = true;
    });
  }
}

std::string SvgLayout::costsText() const {
  std::string text;
  raw_string_ostream os(text);
  auto add = [&](StringRef name, const KindFacts &facts) {
    if (!facts.count)
      return;
    os << (text.empty() ? "costs: " : ", ") << name << ' '
       << picture.time(facts.shortest);
    if (facts.longest != facts.shortest)
      os << " to " << picture.time(facts.longest);
  };
  for (StepKind kind : {StepKind::F, StepKind::B, StepKind::I, StepKind::W})
    add(stepKindName(kind), kinds[unsigned(kind)]);
  for (const CostSettings::Overlap &overlap : schedule.costs.overlaps) {
    if (overlap.isFactor)
      continue;
    ListSeparator between(" & ");
    os << ", ";
    for (StepKind member : overlap.members)
      os << between << stepKindName(member);
    os << ' ' << roundedText(overlap.cost);
  }
  if (Rational p2p = schedule.costs.general(Figure::P2P); p2p != Rational(0))
    os << ", p2p " << roundedText(p2p);
  return text;
}

std::string SvgLayout::figures() const {
  const Simulation &run = picture.simulation();
  std::string text = "makespan " + picture.time(run.makespan());
  if (std::optional<Rational> bubble = run.bubbleRate(run.makespan()))
    text += ", bubble " + percentText(*bubble);
  std::string costs = costsText();
  if (!costs.empty())
    text += "; " + costs;
  return text;
}

void SvgLayout::layOut() {
  title = schedule.name;
  sizes = sizesText(schedule);
  for (const auto &[name, value] : schedule.params)
    sizes += (&name == &schedule.params.front().first ? "; " : ", ") + name +
             " = " + std::to_string(value);
  facts = figures();
  note = picture.windowText();

  // The number of a step of average duration must fit, and that of the shortest
  // kind too unless it is very short.
  int64_t shortest = 0, count = 0;
  __int128 sum = 0;
  for (StepKind kind : {StepKind::F, StepKind::B, StepKind::I, StepKind::W}) {
    const KindFacts &facts = kinds[unsigned(kind)];
    if (!facts.count)
      continue;
    int64_t average = int64_t(facts.sum / facts.count);
    shortest = shortest ? std::min(shortest, average) : average;
    sum += facts.sum;
    count += facts.count;
  }
  int64_t average = count ? int64_t(sum / count) : 0;
  int64_t typical = std::max({average / 2, shortest, int64_t(1)});
  int64_t cell = 80 + digitWidth * int64_t(labelLetters);
  __int128 wanted = __int128(picture.to() - picture.from()) * cell / typical;
  plotWidth = int64_t(std::clamp<__int128>(wanted, 4800, 160000));
  width = leftMargin + plotWidth + rightMargin;
  // The line below the title and the note are not cut off.
  size_t letters = std::max(sizes.size() + strlen("; ") + facts.size(),
                            strlen("Shown: ") + note.size());
  width = std::max(width, 2 * edge + letterWidth * int64_t(letters));

  int64_t y = 480 + (note.empty() ? 0 : 160);
  legendTop = y + 60;
  y = legendTop;
  layOutLegend(y);
  y += 180 + 120;

  lanesTop = y;
  bool marks = hasSendWaits || hasReductionWaits;
  laneGap = arrows.empty() && !marks ? 50 : 130;
  lanePitch = laneDepth() + laneGap;
  axisTop = lanesBottom() + (marks ? 80 : 30);
  memoryTop = axisTop + 430;
  height = memoryTop + picture.shownRanks() * memoryPitch + 100;
}

/// Breaks the legend into lines; `y` becomes the last one.
void SvgLayout::layOutLegend(int64_t &y) {
  int64_t legendX = edge;
  auto item = [&](StringRef text, LegendItem::Symbol symbol,
                  std::string symbolClass) {
    int64_t itemWidth = 210 + 54 * int64_t(text.size()) + 160;
    if (legendX != edge && legendX + itemWidth > width - edge) {
      legendX = edge;
      y += 180;
    }
    legend.push_back({legendX, y, text.str(), symbol, std::move(symbolClass)});
    legendX += itemWidth;
  };
  for (unsigned kind = 0; kind != unsigned(StepKind::Bubble); ++kind)
    if (kinds[kind].count)
      item(legendText(StepKind(kind)), LegendItem::Box,
           (Twine('k') + Twine(kind) + (kind < 4 ? "s0" : "")).str());
  if (!arrows.empty()) {
    item("activations", LegendItem::Arrow, "act");
    item("gradients", LegendItem::Arrow, "grad");
  }
  if (hasSendWaits)
    item("wait for a send", LegendItem::Mark, "head-act");
  if (hasReductionWaits)
    item("wait for a reduction", LegendItem::Mark,
         ("k" + Twine(unsigned(StepKind::WaitReduceGrad))).str());
}

} // namespace pipec
