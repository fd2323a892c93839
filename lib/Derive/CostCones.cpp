//===- CostCones.cpp - Sets of costs with one formula ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Derive/Derivation.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

static CostVector operator*(int64_t factor, CostVector costs) {
  for (Rational &cost : costs)
    cost = Rational::mul(factor, cost).value_or(0);
  return costs;
}

static CostVector operator+(CostVector sum, const CostVector &costs) {
  for (auto [total, cost] : zip_equal(sum, costs))
    total = Rational::add(total, cost).value_or(0);
  return sum;
}

static CostCone coneOf(const CostVector &steps, StringRef condition,
                       const CostVector &letters,
                       std::vector<CostVector> rays) {
  CostCone cone{{}, condition, {}, std::move(rays)};
  for (unsigned letter = 0; letter != numCostLetters; ++letter) {
    cone.steps[letter] = !steps[letter].isZero();
    if (!letters[letter].isZero())
      cone.letters.push_back(CostLetter(letter));
  }
  return cone;
}

ArrayRef<CostCone> allCostCones() {
  static const std::vector<CostCone> cones = [] {
    const CostVector F = {1}, B = {0, 1}, I = {0, 0, 1}, W = {0, 0, 0, 1},
                     Ov = {0, 0, 0, 0, 1}, P2P = {0, 0, 0, 0, 0, 1};
    return std::vector<CostCone>{
#define PIPEC_COST_CONE(Steps, Condition, Letters, ...)                        \
  coneOf(Steps, Condition, Letters, {__VA_ARGS__}),
#include "Derive/CostCones.def"
    };
  }();
  return cones;
}

CostVector CostCone::inside() const {
  CostVector sum;
  for (const CostVector &ray : rays)
    sum = sum + ray;
  return sum;
}

/// By Carathéodory's theorem, a vector of the cone is a sum of multiples of
/// independent rays. All sets of rays are tried; there are at most 4 rays.
bool CostCone::contains(const CostVector &costs) const {
  for (unsigned set = 0; set != 1u << rays.size(); ++set) {
    LinearSystem system(rays.size(), 1);
    bool good = true;
    for (unsigned letter = 0; letter != numCostLetters; ++letter) {
      std::vector<Residue> row;
      for (auto [i, ray] : enumerate(rays))
        row.push_back(set >> i & 1 ? Residue(ray[letter]) : Residue());
      row.push_back(Residue(costs[letter]));
      good &= system.add(std::move(row));
    }
    auto multiples = system.solution();
    if (good && multiples &&
        none_of(multiples->front(), [](Rational x) { return x.isNegative(); }))
      return true;
  }
  return false;
}

bool CostCone::contains(const CostCone &other) const {
  return all_of(other.rays,
                [&](const CostVector &ray) { return contains(ray); });
}

std::optional<std::vector<Rational>>
CostCone::factors(ArrayRef<Rational> values) const {
  LinearSystem system(letters.size(), 1);
  for (auto [ray, value] : zip_equal(rays, values)) {
    std::vector<Residue> row;
    for (CostLetter letter : letters)
      row.push_back(Residue(ray[unsigned(letter)]));
    row.push_back(Residue(value));
    if (!system.add(std::move(row)))
      return std::nullopt;
  }
  auto solution = system.solution();
  if (!solution)
    return std::nullopt;
  return std::move(solution->front());
}

} // namespace pipec
