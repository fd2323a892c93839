//===- CertificateCharges.cpp - Charges that exceed a makespan ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each charge is the weight of a time that every run has. If the weights of the
// times that are open at one moment never add up to more than 1, the run is at
// least as long as all charges together, plus the rest of the times of the
// steps of the rank (docs/Rationale/Bounds.md).
//
//===----------------------------------------------------------------------===//

#include "Certificate/CertificateWindows.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

using Charge = Certificate::Charges::Charge;

/// The longest path of one micro-batch from one start to another; negative
/// without any.
static int64_t longestPath(const ProofWindows &windows,
                           Certificate::Letter from, Certificate::Letter to) {
  // Steps of one micro-batch have these numbers as well.
  auto number = [&](Certificate::Letter letter) {
    return letter.kind * windows.certificate->stages + letter.stage;
  };
  std::vector<int64_t> starts(
      size_t(windows.kinds) * windows.certificate->stages, -1);
  starts[number(from)] = 0;
  forEachDataArc(windows, [&](Certificate::Letter maker,
                              Certificate::Letter user, int64_t hop) {
    int64_t start = starts[number(maker)];
    int64_t &next = starts[number(user)];
    if (start >= 0)
      next = std::max(next, start + windows.time(maker) + hop);
  });
  return starts[number(to)];
}

OrdersLeft checkCharges(ProofWindows &windows,
                        const Certificate::Charges &charges) {
  const Certificate &certificate = *windows.certificate;
  ArrayRef<unsigned> stages = windows.stagesOf[charges.rank];
  unsigned m = windows.m;
  // By charge: the places of its letters in the counts.
  struct Places {
    unsigned letter, to;
  };
  std::vector<Places> places;
  auto placeOf = [&](Certificate::Letter letter) {
    return unsigned(letter.kind * stages.size() +
                    (llvm::find(stages, letter.stage) - stages.begin()));
  };
  __int128 total = 0;
  for (const Charge &charge : charges.charges) {
    Places &own = places.emplace_back();
    own.letter = own.to = placeOf(charge.letter);
    size_t step = windows.step(charge.letter, charge.microbatch);
    __int128 time = 0;
    switch (charge.kind) {
    case Charge::Between:
      own.to = placeOf(charge.to);
      time = __int128(longestPath(windows, charge.letter, charge.to)) * m;
      // Starts without an order.
      if (time < 0)
        return OrdersLeft::Some;
      break;
    case Charge::Before:
      time = windows.starts[step];
      break;
    case Charge::After:
      time = certificate.refuted - windows.ends[step] +
             windows.time(charge.letter);
    }
    total += time * charge.weight;
  }
  if (!charges.withW)
    for (unsigned stage : stages)
      total +=
          __int128(certificate.model[stage].times[2]) * m * charges.weightOfW;
  // The rest of each unit of time after these starts.
  auto leaves = [&](const LetterCounts &counts) {
    __int128 left = charges.unit - charges.weightOfW;
    for (auto [charge, own] : zip_equal(charges.charges, places)) {
      int64_t count = counts[own.letter];
      int64_t open =
          charge.kind == Charge::Between  ? count - int64_t(counts[own.to])
          : charge.kind == Charge::Before ? count <= charge.microbatch
                                          : count > charge.microbatch;
      left -= __int128(open) * charge.weight;
    }
    return left < 0 ? int64_t(-1) : int64_t(left) + charges.weightOfW;
  };
  __int128 least = 0;
  OrdersLeft left =
      leastCost(windows, charges.rank, charges.withW, leaves, least);
  // A state with a larger sum of weights: these charges prove nothing.
  if (left == OrdersLeft::None)
    return OrdersLeft::Some;
  if (left == OrdersLeft::TooManyStates)
    return left;
  return total + least > __int128(certificate.refuted) * charges.unit
             ? OrdersLeft::None
             : OrdersLeft::Some;
}

} // namespace pipec
