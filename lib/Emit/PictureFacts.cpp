//===- PictureFacts.cpp - The figures around a picture --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Emit/PictureFacts.h"

#include "Cost/SettingsText.h"

using namespace llvm;

namespace pipec {

static constexpr StepKind computeKinds[] = {StepKind::F, StepKind::B,
                                            StepKind::I, StepKind::W};

/// The memory limit of a rank, as an integer of the model, rounded down; 0 if
/// there is none.
static int64_t limitOf(const Picture &picture, unsigned rank) {
  std::optional<Rational> limit = picture.schedule().memory.limit(rank);
  if (!limit)
    return 0;
  std::optional<Rational> units =
      Rational::mul(*limit, Rational(picture.memory().perUnit()));
  if (!units || *units < Rational(0))
    return 0;
  return units->numerator() / units->denominator();
}

PictureFacts::PictureFacts(const Picture &picture) : picture(picture) {
  for (unsigned rank = 0; rank != picture.shownRanks(); ++rank) {
    const StepList &list = picture.schedule().ranks[rank];
    picture.forEachGroup(rank, [&](const Picture::Group &group) {
      for (size_t i = group.begin; i != group.end; ++i)
        if (!isP2P(list[i].kind()))
          kinds[unsigned(list[i].kind())].add(group.end - group.begin == 1
                                                  ? group.finish - group.start
                                                  : picture.alone(rank, i));
    });
    int64_t peak = 0;
    picture.forEachLevel(
        rank, [&](int64_t, int64_t level) { peak = std::max(peak, level); });
    peaks.push_back(peak);
    limits.push_back(limitOf(picture, rank));
    highest = std::max(highest, peak);
  }
}

int64_t PictureFacts::average() const {
  int64_t count = 0;
  __int128 sum = 0;
  for (StepKind kind : computeKinds) {
    sum += of(kind).sum;
    count += of(kind).count;
  }
  return count ? int64_t(sum / count) : 0;
}

int64_t PictureFacts::smallestAverage() const {
  int64_t smallest = 0;
  for (StepKind kind : computeKinds)
    if (int64_t count = of(kind).count) {
      int64_t average = int64_t(of(kind).sum / count);
      smallest = smallest ? std::min(smallest, average) : average;
    }
  return smallest;
}

std::string PictureFacts::costsText() const {
  CostLine line;
  const CostSettings &costs = picture.schedule().costs;
  AssumedCosts assumed = picture.schedule().assumedCosts();
  for (StepKind kind : computeKinds) {
    const KindFacts &facts = of(kind);
    if (!facts.count)
      continue;
    line.add(stepKindName(kind), picture.time(facts.shortest),
             picture.time(facts.longest), assumed.has(kind));
  }
  std::string text;
  if (!line.text().empty()) {
    line.addOverlaps(costs, /*factors=*/false);
    line.add(costs, Figure::P2P);
    text = "costs: " + line.text();
  }
  if (const StageLayers &layers = picture.schedule().layers; !layers.empty())
    text += (text.empty() ? "layout " : "; layout ") + layoutText(layers);
  return text;
}

} // namespace pipec
