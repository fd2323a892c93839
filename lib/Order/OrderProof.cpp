//===- OrderProof.cpp - The certificate of an order's bound ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Order/OrderProof.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

StringRef uncertifiedCosts(const Schedule &schedule) {
  const CostSettings &costs = schedule.costs;
  auto has = [&](Figure figure) {
    return any_of(costs.places(), [&](const auto &place) {
      std::optional<Rational> value = place.second.get(figure);
      return value && !value->isZero();
    });
  };
  if (has(Figure::Occupancy))
    return "transfers that wait for an occupied edge";
  for (Figure figure : {Figure::Offload, Figure::Reload, Figure::Unshard,
                        Figure::Reshard, Figure::ReduceGrad})
    if (has(figure))
      return "copies or FSDP actions that take time";
  if (costs.general(Figure::Overlap) < Rational(1) ||
      any_of(costs.overlaps, [](const CostSettings::Overlap &overlap) {
        return !overlap.isFactor || overlap.cost < Rational(1);
      }))
    return "overlaps that save time";
  return "";
}

/// Writes the parts of a path on one rank after the other: `0:0-5 1:3-9`. The
/// steps of a part are consecutive.
static void writePath(ArrayRef<uint32_t> path, ArrayRef<JobStep> steps,
                      raw_ostream &os) {
  os << "path";
  std::optional<JobStep> first, last;
  auto end = [&] {
    if (first)
      os << ' ' << first->rank << ':' << first->number << '-' << last->number;
  };
  for (uint32_t job : path) {
    JobStep step = job < steps.size() ? steps[job] : JobStep();
    if (step.rank == ~0u)
      continue;
    if (!first || step.rank != last->rank) {
      end();
      first = step;
    }
    last = step;
  }
  end();
  os << '\n';
}

void writeOrderProof(const Schedule &schedule, const order::Weights &weights,
                     const order::Result &found, const order::Proof &proof,
                     ArrayRef<JobStep> steps, raw_ostream &os) {
  auto time = [&](int64_t ticks) {
    return *Rational::make(ticks, found.timeUnit);
  };
  os << "pipec-order-certificate 1\nranks " << schedule.numRanks << " stages "
     << schedule.numStages << " microbatches " << schedule.numMicrobatches()
     << "\nweights " << weights.rows.size() << '\n';
  for (const std::vector<int64_t> &row : weights.rows) {
    os << "row";
    for (int64_t parts : row)
      os << ' ' << *Rational::make(parts, weights.unit);
    os << '\n';
  }
  os << "order";
  for (uint32_t number : found.order)
    os << ' ' << number;
  os << "\nmakespan " << time(found.makespanTicks) << "\nbound "
     << time(proof.bound) << "\npaths " << proof.paths.size() << '\n';
  for (const std::vector<uint32_t> &path : proof.paths)
    writePath(path, steps, os);
  // Cases in cases, the first one first.
  SmallVector<uint32_t> open = {0};
  while (!open.empty()) {
    uint32_t number = open.pop_back_val();
    const order::Proof::Case &at = proof.cases[number];
    if (number != 0)
      os << "at " << at.position << ' ';
    if (at.isSame) {
      os << "same\n";
    } else {
      std::map<uint32_t, uint64_t> counts;
      for (auto [round, path] : enumerate(at.mean))
        counts[path] += round + 1;
      os << "mean";
      for (auto [path, count] : counts)
        os << ' ' << path << '*' << count;
      os << '\n';
    }
    if (!at.isSplit)
      continue;
    os << "split " << at.data << '\n';
    append_range(open, reverse(at.cases));
  }
}

} // namespace pipec
