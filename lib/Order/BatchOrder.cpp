//===- BatchOrder.cpp - The best order of a batch -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Order/BatchOrder.h"

#include "Order/OrderProof.h"
#include "Order/ScheduleLists.h"
#include "Support/Decimal.h"
#include "Support/Diagnostics/AnalysisDiags.h"
#include "Support/Diagnostics/SearchDiags.h"

#include "pipec/order.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>

using namespace llvm;

namespace pipec {

/// Converts rows to integers, and rounds them as factors of micro-batches
/// beside the factors of `costs`. Returns nullopt for too large ones.
static std::optional<order::Weights> toWeights(ArrayRef<BatchWeights::Row> rows,
                                               const CostSettings &costs,
                                               CostRounding &rounding) {
  CostSettings all;
  for (FigureScope scope :
       {FigureScope::Rank, FigureScope::Slice, FigureScope::Overlap})
    for (const auto &[place, row] : costs.in(scope))
      all.merge(place, row);
  all.overlaps = costs.overlaps;
  auto place = [&](size_t row, size_t i) {
    return Place{FigureScope::Microbatch,
                 unsigned(row * rows.front().values.size() + i)};
  };
  for (auto [row, values] : enumerate(rows))
    for (auto [i, value] : enumerate(values.values))
      all.set(Figure::Factor, value, place(row, i));
  CostRounding own;
  roundCosts(all, own);
  rounding.factors = own.factors ? own.factors : rounding.factors;

  order::Weights weights;
  __int128 common = 1;
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  auto valueOf = [&](size_t row, size_t i) {
    return *all.get(Figure::Factor, place(row, i));
  };
  for (auto [row, values] : enumerate(rows))
    for (size_t i = 0; i != values.values.size() && common <= most; ++i) {
      int64_t denominator = valueOf(row, i).denominator();
      common = common / std::gcd(int64_t(common), denominator) * denominator;
    }
  if (common > most)
    return std::nullopt;
  weights.unit = int64_t(common);
  for (auto [row, values] : enumerate(rows)) {
    std::vector<int64_t> &parts = weights.rows.emplace_back();
    for (size_t i = 0; i != values.values.size(); ++i) {
      Rational value = valueOf(row, i);
      __int128 units =
          __int128(value.numerator()) * (common / value.denominator());
      if (units > most)
        return std::nullopt;
      parts.push_back(int64_t(units));
    }
  }
  return weights;
}

FailureOr<BatchOrder> findOrder(const Schedule &schedule,
                                const BatchWeights &batch, uint64_t effort,
                                uint64_t seed, DiagEngine &diags,
                                bool certify) {
  if (failed(
          batch.check(schedule.numStages, schedule.numMicrobatches(), diags)))
    return failure();
  if (certify)
    if (StringRef what = uncertifiedCosts(schedule); !what.empty())
      return diags.report(schedule.source, diag::OrderUncertified,
                          schedule.name, what);
  std::vector<JobStep> steps;
  FailureOr<order::Lists> lists = makeLists(schedule, diags, &steps);
  if (failed(lists))
    return failure();

  BatchOrder result;
  auto weights = toWeights(batch.weights, schedule.costs, result.rounding);
  order::Options options;
  options.effort = effort;
  options.seed = seed;
  if (batch.limit)
    options.limit = {batch.limit->numerator(), batch.limit->denominator()};
  std::optional<order::Weights> sizes;
  if (batch.sizes)
    sizes = toWeights(*batch.sizes, {}, result.rounding);
  if (!weights || (batch.sizes && !sizes))
    return diags.report(batch.loc, diag::CostsTooFine);
  if (sizes)
    options.sizes = *sizes;
  order::Proof proof;
  if (certify)
    options.proof = &proof;
  order::Result found = order::find(*lists, *weights, options);

  using State = order::Result::State;
  assert(found.state != State::Invalid);
  if (found.state == State::TooLarge)
    return diags.report(schedule.source, diag::TimesTooLarge);
  auto size = [&](int64_t units) {
    return *Rational::make(units, found.sizeUnit);
  };
  if (found.state == State::NoneFits) {
    unsigned rank = found.peaks.rank;
    Rational limit = batch.limit ? *batch.limit : *schedule.memory.limit(rank);
    return diags.report(
        batch.limit ? batch.limitLoc : schedule.source, diag::OrderNoneFits,
        rank, decimalText(size(found.peaks.peak)), decimalText(limit));
  }
  auto time = [&](int64_t ticks) {
    return *Rational::make(ticks, found.timeUnit);
  };
  if (certify) {
    result.certified = time(proof.bound);
    raw_string_ostream os(result.certificate);
    writeOrderProof(schedule, *weights, found, proof, steps, os);
  }
  result.order = std::move(found.order);
  result.makespan = time(found.makespanTicks);
  result.given = time(found.givenTicks);
  result.bound = time(found.boundTicks);
  if (batch.sizes || batch.limit || schedule.memory.hasLimit())
    result.peak = size(found.peaks.most);
  return result;
}

} // namespace pipec
