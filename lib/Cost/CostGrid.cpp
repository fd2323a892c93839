//===- CostGrid.cpp - Figures with many digits ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Cost/CostGrid.h"

#include "Cost/LayerCosts.h"
#include "Cost/Settings.h"
#include "Support/Decimal.h"
#include "Support/Diagnostics/AnalysisDiags.h"
#include "Support/Words.h"

#include <limits>
#include <numeric>

using namespace llvm;

namespace pipec {

/// The most decimal digits of a grid.
static constexpr unsigned maxDigits = 18;

static int64_t powerOf10(unsigned digits) {
  int64_t power = 1;
  for (unsigned i = 0; i != digits; ++i)
    power *= 10;
  return power;
}

namespace {

/// The largest of some figures, and their least common denominator.
class Family {
public:
  void add(Rational value) {
    largest = std::max(largest, value.isNegative()
                                    ? Rational::sub(0, value).value_or(value)
                                    : value);
    __int128 next = __int128(common) * (value.denominator() /
                                        std::gcd(common, value.denominator()));
    fits &= next <= std::numeric_limits<int64_t>::max();
    if (fits)
      common = int64_t(next);
  }
  /// True if the largest has more than `most` parts of the denominator.
  bool exceeds(int64_t most) const {
    return !fits || (common != 1 && __int128(largest.numerator()) *
                                            (common / largest.denominator()) >
                                        most);
  }
  /// The most digits with which the largest has at most `most` parts; nothing
  /// if it would lose digits for being too small.
  std::optional<unsigned> digitsWithin(int64_t most) const {
    unsigned digits = 0;
    while (digits != maxDigits &&
           __int128(largest.numerator()) * powerOf10(digits + 1) <=
               __int128(most) * largest.denominator())
      ++digits;
    if (digits == maxDigits &&
        Rational::compare(largest, *Rational::make(1, 1'000'000'000'000)) < 0)
      return std::nullopt;
    return digits;
  }

  Rational largest;
  int64_t common = 1;
  bool fits = true;
};

} // namespace

/// The multiple of 10^-`digits` nearest to a value, away from 0 in the middle.
static Rational rounded(Rational value, unsigned digits) {
  __int128 scaled = __int128(value.numerator()) * powerOf10(digits);
  __int128 twice = 2 * (scaled < 0 ? -scaled : scaled);
  __int128 units = (twice / value.denominator() + 1) / 2;
  // The magnitude hardly grows, and the grid suits it.
  return Rational::make(int64_t(scaled < 0 ? -units : units), powerOf10(digits))
      .value_or(value);
}

static bool isTime(Figure figure) {
  return infoOf(figure).unit == FigureUnit::Time;
}
static bool isFactor(Figure figure) {
  return infoOf(figure).unit == FigureUnit::Factor;
}

static Rational gridOf(unsigned digits) {
  return *Rational::make(1, powerOf10(digits));
}

/// What rounds the figures of one family to its grid.
static auto rounderOf(unsigned digits, CostRounding &rounding) {
  return [digits, &rounding](Figure figure, Place place, Rational value) {
    Rational result = rounded(value, digits);
    if (result != value &&
        (result.isZero() || (isFactor(figure) && result == 1)))
      rounding.vanished.push_back({figureText(figure, place), value, result});
    return result;
  };
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

using LayerRows = MutableArrayRef<std::optional<LayerFigures>>;

/// Replaces every figure of `figures`, of `overlaps`, and of `row` of each kind
/// of layers by `change` of it.
static void changeAll(FigureSet &figures,
                      MutableArrayRef<CostSettings::Overlap> overlaps,
                      LayerRows layers, FigureRow LayerFigures::*row,
                      function_ref<Rational(Figure, Place, Rational)> change) {
  figures.transform(change);
  for (CostSettings::Overlap &overlap : overlaps)
    overlap.cost = change(overlap.isFactor ? Figure::Factor : Figure::F,
                          {FigureScope::Overlap}, overlap.cost);
  for (auto &layer : layers)
    if (layer)
      for (auto [figure, value] : FigureRow((*layer).*row))
        ((*layer).*row).set(figure, change(figure, {}, value));
}

static void roundTimes(CostSettings &costs, CostRounding &rounding,
                       LayerRows layers) {
  constexpr int64_t mostTicks = 100'000'000, mostRounded = 10'000'000;
  Family times;
  auto changeCosts = [&](auto change) {
    changeAll(costs, costs.overlaps, layers, &LayerFigures::costs, change);
  };
  changeCosts([&](Figure figure, Place, Rational value) {
    if (isTime(figure))
      times.add(value);
    return value;
  });
  auto digits = times.digitsWithin(mostRounded);
  if (!digits || !times.exceeds(mostTicks))
    return;
  rounding.times = gridOf(*digits);
  auto round = rounderOf(*digits, rounding);
  changeCosts([&](Figure figure, Place place, Rational value) {
    return isTime(figure) ? round(figure, place, value) : value;
  });
}

static void roundFactors(CostSettings &costs, CostRounding &rounding) {
  // Factors of ranks, micro-batches (of stages), slices and overlaps multiply
  // each other.
  constexpr unsigned allDigits = 6;
  Family families[5];
  auto familyOf = [](Place place) {
    return place.scope == FigureScope::Rank              ? 0
           : place.scope == FigureScope::Microbatch      ? 1
           : place.scope == FigureScope::Slice           ? 3
           : place.scope == FigureScope::StageMicrobatch ? 4
                                                         : 2;
  };
  auto changeCosts = [&](auto change) {
    changeAll(costs, costs.overlaps, {}, &LayerFigures::costs, change);
  };
  changeCosts([&](Figure figure, Place place, Rational value) {
    if (isFactor(figure))
      families[familyOf(place)].add(value);
    return value;
  });
  __int128 product = 1;
  unsigned count = 0;
  bool fits = true;
  for (const Family &family : families) {
    fits &= family.fits && product <= powerOf10(allDigits);
    if (fits)
      product *= family.common;
    count += !family.fits || family.common != 1;
  }
  if (fits && product <= powerOf10(allDigits))
    return;
  unsigned digits = allDigits / count;
  rounding.factors = gridOf(digits);
  auto round = rounderOf(digits, rounding);
  changeCosts([&](Figure figure, Place place, Rational value) {
    const Family &family = families[familyOf(place)];
    bool isFine = family.fits && family.common <= powerOf10(digits);
    return isFactor(figure) && !isFine ? round(figure, place, value) : value;
  });
}

void roundCosts(CostSettings &costs, CostRounding &rounding, LayerRows layers) {
  roundTimes(costs, rounding, layers);
  roundFactors(costs, rounding);
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

void roundSizes(MemorySettings &memory, CostRounding &rounding,
                LayerRows layers) {
  constexpr int64_t mostUnits = 1'000'000'000'000, mostRounded = 100'000'000;
  // A limit may be much larger than all sizes, whose digits it does not cost.
  Family sizes;
  auto changeSizes = [&](auto change) {
    changeAll(memory, {}, layers, &LayerFigures::memory, change);
  };
  changeSizes([&](Figure figure, Place, Rational value) {
    sizes.add(figure == Figure::Limit ? *Rational::make(1, value.denominator())
                                      : value);
    return value;
  });
  auto digits = sizes.digitsWithin(mostRounded);
  if (!digits || !sizes.exceeds(mostUnits))
    return;
  rounding.sizes = gridOf(*digits);
  auto round = rounderOf(*digits, rounding);
  // A backward that frees the memory of its forward must still do so.
  auto sizeAt = [&](Figure figure, Place place) {
    bool ofStage = place.scope == FigureScope::Stage;
    return memory.of(figure, ofStage ? place.number : anyStage,
                     unitPlaceOf(place));
  };
  // The change of W for that; empty if it does not fit.
  auto rest = [&](Place place) {
    auto kept = Rational::add(*sizeAt(Figure::LiveF, place),
                              *sizeAt(Figure::LiveI, place));
    return kept ? Rational::sub(0, *kept) : std::nullopt;
  };
  auto isBalanced = [&](Place place) {
    return rest(place) == sizeAt(Figure::LiveW, place);
  };
  std::vector<Place> balanced;
  for (const auto &[place, row] : memory.places())
    if (place.scope != FigureScope::Rank && isBalanced(place))
      balanced.push_back(place);
  changeSizes([&](Figure figure, Place place, Rational value) {
    bool isWhole = figure == Figure::Limit && value.isInteger();
    return isWhole ? value : round(figure, place, value);
  });
  for (Place place : balanced)
    if (auto w = rest(place); w && !isBalanced(place))
      memory.set(Figure::LiveW, *w, place);
}

//===----------------------------------------------------------------------===//
// Warnings
//===----------------------------------------------------------------------===//

void writeRounding(const CostRounding &rounding, json::OStream &json) {
  writeExact(json, "cost_grid", rounding.times);
  writeExact(json, "factor_grid", rounding.factors);
  writeExact(json, "size_grid", rounding.sizes);
}

void warnOfRounding(const CostRounding &rounding, DiagLoc loc,
                    DiagEngine &diags) {
  auto warn = [&](StringRef what, std::optional<Rational> grid) {
    if (grid)
      (void)diags.report(loc, diag::CostsRounded, what,
                         toDecimal(*grid, maxDigits).text);
  };
  warn("costs", rounding.times);
  warn("factors", rounding.factors);
  warn("sizes", rounding.sizes);
  if (rounding.vanished.empty())
    return;
  const CostRounding::Vanished &first = rounding.vanished.front();
  std::string others;
  if (size_t more = rounding.vanished.size() - 1)
    others = ", like " + countText(more, "other figure") + ",";
  (void)diags.report(loc, diag::CostVanished, first.figure,
                     toDecimal(first.value, maxDigits, maxDigits).text, others,
                     first.result);
}

} // namespace pipec
