//===- CostDraw.h - Random factors of costs ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Factors of the durations of steps and transfers, which differ from draw to
// draw (docs/Simulation.md). A factor belongs to a seed, a draw and a step, by
// its kind, stage and micro-batch, and not to a place in a list: schedules that
// are drawn with the same seed have the same costs. All arithmetic is that of
// integers, so the factors are the same on every machine.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "IR/Schedule.h"

#include <array>
#include <optional>
#include <vector>

namespace pipec {

/// The costs that vary together.
enum class JitterScope : uint8_t {
  /// Each compute step on its own.
  Step,
  /// All compute steps of a rank.
  Rank,
  /// All compute steps of a micro-batch.
  Microbatch,
  /// The latency of each transfer.
  Transfer,
};
inline constexpr size_t numJitterScopes = 4;

/// How costs vary: by scope, the standard deviation over the mean.
struct Jitter {
  std::array<std::optional<Rational>, numJitterScopes> spreads;
  unsigned draws = 1000;
  uint64_t seed = 1;

  const std::optional<Rational> &spread(JitterScope scope) const {
    return spreads[size_t(scope)];
  }
};

/// The largest spread of a scope.
inline constexpr int64_t maxSpread = 10;

/// The quantiles of the standard normal distribution at (k + 1/2) / 4096, in
/// parts of 2^-20: 4096 equally likely values. Computed once.
const std::array<int32_t, 4096> &normalValues();

/// The factors of all draws: per scope, 4096 equally likely values of a
/// lognormal distribution with mean 1.
class JitterFactors {
public:
  /// A factor is a number of parts of 2^-20.
  static constexpr unsigned bits = 20;

  JitterFactors(const Schedule &schedule, const Jitter &jitter);

  /// The greatest factor of a duration, rounded up to an integer.
  int64_t greatest() const;

private:
  friend class CostDraw;
  using Values = std::array<int32_t, 4096>;

  const Schedule &schedule;
  uint64_t seed;
  std::array<std::optional<Values>, numJitterScopes> values;
};

/// The factors of one draw.
class CostDraw {
public:
  CostDraw(const JitterFactors &factors, uint64_t draw);

  /// `ticks` times the factors of a compute step, rounded down.
  int64_t scale(int64_t ticks, Step step) const {
    StepKind kind = step.kind();
    unsigned unit = hasUnit(kind) ? step.unit() : 0;
    if (hasSteps)
      ticks = scale(
          ticks, value(JitterScope::Step, unsigned(kind), step.stage(), unit));
    if (!ranks.empty())
      ticks =
          scale(ticks, ranks[step.stage() +
                             (unit >= directionSplit ? ranks.size() / 2 : 0)]);
    if (!units.empty() && hasUnit(kind))
      ticks = scale(ticks, units[unit]);
    return ticks;
  }
  /// The same for the latency of the transfer of a result of `maker`, which is
  /// the step that makes it or its send.
  int64_t scaleLatency(int64_t ticks, Step maker) const {
    if (!hasTransfers || ticks == 0)
      return ticks;
    return scale(ticks,
                 value(JitterScope::Transfer, unsigned(dataKind(maker.kind())),
                       maker.stage(), maker.unit()));
  }

private:
  static int64_t scale(int64_t ticks, int64_t factor) {
    return int64_t(__int128(ticks) * factor >> JitterFactors::bits);
  }
  int32_t value(JitterScope scope, unsigned kind, unsigned stage,
                unsigned unit) const;

  const JitterFactors &factors;
  /// Of the seed and the draw.
  uint64_t key;
  bool hasSteps, hasTransfers;
  unsigned directionSplit;
  /// By stage and direction, and by unit; empty if they do not vary.
  std::vector<int32_t> ranks, units;
};

} // namespace pipec
