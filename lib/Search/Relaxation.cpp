//===- Relaxation.cpp - Bounds of more schedules than words ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Search/Relaxation.h"

#include "Simulation/Memory.h"

#include "llvm/ADT/STLExtras.h"

#include <array>
#include <numeric>

using namespace llvm;

namespace pipec::search {

static constexpr unsigned numComputes = 4;
static_assert(unsigned(StepKind::F) < numComputes &&
              unsigned(StepKind::B) < numComputes &&
              unsigned(StepKind::I) < numComputes &&
              unsigned(StepKind::W) < numComputes);

namespace {

/// The times of the steps of a model in ticks, in overlaps and alone.
class Times {
public:
  Times(const Model &model, bool mixed)
      : model(model), costs(model.header.costs), mixed(mixed) {
    std::optional<Rational> least;
    for (unsigned j = 0; j != model.header.numMicrobatches(); ++j) {
      Rational own = costs.get(Figure::Factor, {FigureScope::Microbatch, j})
                         .value_or(Rational(1));
      least = least ? std::min(*least, own) : own;
    }
    leastFactor = least.value_or(1);
    findRanks();
  }

  bool gain() const {
    return any_of(ranks, [](const Rank &rank) {
      return any_of(rank.share, [](Rational one) { return one < Rational(1); });
    });
  }
  /// The part of an overlap's time that can be accounted to a letter.
  Rational shared(unsigned stage, LetterKind letter) const {
    return timeOf(stage, letter, [&](StepKind kind) {
      Rational own = alone(stage, kind);
      return Rational::mul(own, rankOf(stage).share[unsigned(kind)])
          .value_or(0);
    });
  }
  /// The least time from its start to its end, alone or in an overlap.
  Rational shortest(unsigned stage, LetterKind letter) const {
    return timeOf(stage, letter, [&](StepKind kind) {
      Rational own = alone(stage, kind);
      const std::optional<Rational> &most = rankOf(stage).most[unsigned(kind)];
      return most ? std::min(own, *most) : own;
    });
  }
  /// The time of a step, of the cheapest micro-batch.
  Rational alone(unsigned stage, StepKind kind) const {
    if (model.isIdle(stage))
      return 0;
    unsigned rank = model.problem.map[stage], slice = model.sliceOf(stage);
    std::optional<Rational> time = inTicks(
        costs.of(kind, model.stageOf(stage), rank, {.slice = slice}), rank);
    Rational factor = costs.get(Figure::Factor, {FigureScope::Slice, slice})
                          .value_or(Rational(1));
    return time ? Rational::mul(*time, factor).value_or(0) : 0;
  }

private:
  struct Rank {
    /// By kind: in every overlap, the sum of the times of its members alone,
    /// each times its share, is at most the time of the overlap.
    std::array<Rational, numComputes> share;
    /// The least time of an overlap with this kind that has a time of its own.
    std::array<std::optional<Rational>, numComputes> most;
  };

  bool has(StepKind kind) const {
    return mixed || kind == StepKind::F ||
           (kind == StepKind::B) != model.problem.split;
  }
  const Rank &rankOf(unsigned stage) const {
    return ranks[model.problem.map[stage]];
  }
  std::optional<Rational> inTicks(std::optional<Rational> time,
                                  unsigned rank) const {
    if (time)
      time = Rational::mul(*time,
                           costs.get(Figure::Factor, {FigureScope::Rank, rank})
                               .value_or(Rational(1)));
    if (time)
      time = Rational::mul(*time, leastFactor);
    return time ? Rational::div(*time, model.time(1)) : std::nullopt;
  }
  template <typename TimeOf>
  Rational timeOf(unsigned stage, LetterKind letter, TimeOf of) const {
    if (letter == LetterF)
      return of(StepKind::F);
    if (!model.problem.split)
      return letter == LetterI ? of(StepKind::B) : Rational(0);
    if (!mixed)
      return of(letter == LetterI ? StepKind::I : StepKind::W);
    // Both fit into a B one after the other.
    Rational whole = of(StepKind::B);
    Rational first = std::min(of(StepKind::I), whole);
    if (letter == LetterI)
      return first;
    return std::min(of(StepKind::W),
                    Rational::sub(whole, first).value_or(Rational(0)));
  }
  void findRanks();
  void addOverlap(const CostSettings::Overlap &overlap);

  const Model &model;
  const CostSettings &costs;
  bool mixed;
  Rational leastFactor = 1;
  std::vector<Rank> ranks;
};

} // namespace

void Times::findRanks() {
  Rank common;
  common.share.fill(std::min(Rational(1), costs.general(Figure::Overlap)));
  ranks.assign(model.problem.ranks, common);
  for (const CostSettings::Overlap &overlap : costs.overlaps)
    if (all_of(overlap.members, [&](StepKind kind) { return has(kind); }))
      addOverlap(overlap);
}

void Times::addOverlap(const CostSettings::Overlap &overlap) {
  // With a factor, it is at least as long as its longest member.
  std::optional<Rational> share;
  if (overlap.isFactor)
    share = std::max(overlap.cost,
                     *Rational::make(1, int64_t(overlap.members.size())));
  for (unsigned rank = 0; rank != ranks.size(); ++rank) {
    Rank &own = ranks[rank];
    if (!overlap.isFactor) {
      // The longest time of its members alone, for any stages.
      std::optional<Rational> sum = Rational(0);
      std::optional<Rational> time = inTicks(overlap.cost, rank);
      for (StepKind kind : overlap.members) {
        Rational longest;
        for (unsigned chunk = 0; chunk != model.problem.chunks; ++chunk)
          longest = std::max(longest,
                             alone(model.problem.stageOf(rank, chunk), kind));
        if (sum)
          sum = Rational::add(*sum, longest);
        std::optional<Rational> &most = own.most[unsigned(kind)];
        if (!most || time.value_or(0) < *most)
          most = time.value_or(0);
      }
      share = sum && sum->isZero() ? Rational(1)
              : sum && time        ? Rational::div(*time, *sum)
                                   : std::nullopt;
    }
    for (StepKind kind : overlap.members)
      own.share[unsigned(kind)] =
          std::min(own.share[unsigned(kind)], share.value_or(0));
  }
}

bool overlapsGain(const Model &model, bool mixed) {
  return Times(model, mixed).gain();
}

/// True if the I and W of each stage, without other steps, never hold more than
/// its B.
static bool splitNeedsNoMore(const Model &model, DiagEngine &diags) {
  const Problem &problem = model.problem;
  for (unsigned chunk = 0; chunk != problem.chunks; ++chunk) {
    std::vector<Rational> peaks[2];
    for (bool split : {false, true}) {
      Schedule steps(model.header);
      for (unsigned rank = 0; rank != problem.ranks; ++rank) {
        unsigned place = problem.stageOf(rank, chunk);
        StepList &list = steps.ranks.emplace_back();
        if (model.isIdle(place))
          continue;
        unsigned stage = model.stageOf(place), unit = model.unitOf(place, 0);
        if (!split)
          list.push_back(Step(StepKind::B, stage, unit));
        else
          list = {Step(StepKind::I, stage, unit),
                  Step(StepKind::W, stage, unit)};
      }
      FailureOr<std::vector<Rational>> found = peakMemory(steps, diags);
      if (failed(found))
        return false;
      peaks[split] = std::move(*found);
    }
    for (auto [whole, split] : zip_equal(peaks[0], peaks[1]))
      if (whole < split)
        return false;
  }
  return true;
}

bool splitCoversAll(const Model &model, DiagEngine &diags) {
  Times times(model, /*mixed=*/true);
  if (times.gain())
    return false;
  for (unsigned stage = 0; stage != model.problem.numStages(); ++stage) {
    auto sum = Rational::add(times.alone(stage, StepKind::I),
                             times.alone(stage, StepKind::W));
    if (!sum || times.alone(stage, StepKind::B) < *sum)
      return false;
  }
  return splitNeedsNoMore(model, diags);
}

//===----------------------------------------------------------------------===//
// The problem
//===----------------------------------------------------------------------===//

/// The most ticks that a tick can be divided into, at most `wanted`.
static int64_t finerBy(const Model &model, __int128 wanted) {
  const Problem &problem = model.problem;
  __int128 sum = 1;
  for (const StageFigures &own : problem.stages)
    for (Ticks time : own.time)
      sum += __int128(time) * problem.microbatches;
  for (const Edge &edge : problem.edges)
    sum += __int128(edge.hopF + edge.hopI) * problem.microbatches;
  // Times in parts of the unit must fit, too.
  __int128 parts =
      std::max(sum * model.tickFactor, __int128(model.ticksPerUnit));
  auto fits = [&](__int128 finer) {
    return sum * finer <= Problem::maxTicks &&
           parts * finer <= (__int128(1) << 62);
  };
  if (fits(wanted))
    return int64_t(wanted);
  int64_t finer = 1 << 10;
  while (finer > 1 && !fits(finer))
    finer /= 2;
  return finer;
}

/// A model with the times of `of`, in ticks of the model, where a tick is
/// divided into `finer`. A time is rounded down.
template <typename TimeOf>
static Model withTimes(const Model &model, int64_t finer, bool mixed,
                       TimeOf of) {
  Model result = model;
  for (unsigned stage = 0; stage != model.problem.numStages(); ++stage) {
    StageFigures &own = result.problem.stages[stage];
    for (unsigned kind = 0; kind != model.problem.numKinds(); ++kind) {
      Rational time = of(stage, LetterKind(kind));
      own.time[kind] =
          Ticks(__int128(time.numerator()) * finer / time.denominator());
    }
    if (mixed && own.givenByI < 0) {
      // A B allocates nothing.
      own.givenByW += own.givenByI;
      own.givenByI = 0;
    }
  }
  for (Edge &edge : result.problem.edges) {
    edge.hopF *= finer;
    edge.hopI *= finer;
  }
  int64_t common = std::gcd(finer, model.tickFactor);
  result.tickFactor /= common;
  result.ticksPerUnit *= finer / common;
  result.problem.finish();
  return result;
}

/// The least number of parts of a tick in which all times are whole, if it is
/// small.
static int64_t finerFor(const Model &model, const Times &times) {
  __int128 common = 1;
  auto add = [&](Rational time) {
    if (common <= Problem::maxTicks)
      common *=
          time.denominator() / std::gcd(int64_t(common), time.denominator());
  };
  for (unsigned stage = 0; stage != model.problem.numStages(); ++stage)
    for (unsigned kind = 0; kind != model.problem.numKinds(); ++kind) {
      add(times.shared(stage, LetterKind(kind)));
      add(times.shortest(stage, LetterKind(kind)));
    }
  return finerBy(model, common);
}

Model relaxed(const Model &model, bool mixed) {
  Times times(model, mixed);
  return withTimes(model, finerFor(model, times), mixed,
                   [&](unsigned stage, LetterKind kind) {
                     return times.shared(stage, kind);
                   });
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

LowerBound relaxedBound(const Model &model, bool mixed, Rational makespan,
                        Budget budget) {
  Times times(model, mixed);
  int64_t finer = finerFor(model, times);
  Model shared =
      withTimes(model, finer, mixed, [&](unsigned stage, LetterKind kind) {
        return times.shared(stage, kind);
      });
  const Problem &problem = shared.problem;
  // Steps of one micro-batch may share an overlap only if they are the F of the
  // last stage and its backward, or the I' and W' of a B. A path of one
  // micro-batch uses whole times, except for that F and W', which end within
  // the overlap.
  bool gain = times.gain();
  auto isInside = [&](unsigned stage, LetterKind kind) {
    return gain && ((kind == LetterF && model.isLast(stage)) ||
                    (kind == LetterW && mixed));
  };
  Model one = model;
  one.problem.microbatches = 1;
  one = withTimes(one, finer, mixed, [&](unsigned stage, LetterKind kind) {
    return isInside(stage, kind) ? Rational(0) : times.shortest(stage, kind);
  });
  Paths single(one.problem), paths(problem);
  constexpr Ticks far = Problem::maxTicks * 1024;
  StepWindows alone = single.open(far), windows = paths.open(far);
  single.narrow(alone);
  paths.narrow(windows);
  for (uint32_t step = 0; step != problem.numSteps(); ++step) {
    uint32_t like = step / problem.microbatches;
    const Letter &letter = problem.infoOf(step);
    if (isInside(letter.stage, letter.kind))
      continue;
    windows.starts[step] = std::max(windows.starts[step], alone.starts[like]);
    windows.ends[step] = std::min(windows.ends[step], alone.ends[like]);
  }
  Ticks byPaths = std::max(single.longest(), paths.longest()), byRank = 0;
  for (unsigned rank = 0; rank != problem.ranks; ++rank)
    byRank = std::max(byRank, paths.machine(rank, windows, far));
  Refuter refuter(problem);
  Ticks best = shared.ticksNotAbove(makespan);
  if (std::max(byPaths, byRank) < best)
    refuter.raise(best, budget);
  Ticks simple = std::max(byPaths, byRank);
  LowerBound result;
  result.bound = shared.time(std::max(simple, refuter.bound()));
  result.source = refuter.bound() > simple ? BoundSource::Windows
                  : byPaths == simple      ? BoundSource::Paths
                                           : BoundSource::Rank;
  return result;
}

LowerBound leastBound(const Model &model) {
  if (overlapsGain(model))
    return relaxedBound(model, /*mixed=*/false, Rational(0), Budget(0));
  Paths paths(model.problem);
  Ticks bound = paths.bound();
  return {model.time(bound),
          paths.longest() == bound ? BoundSource::Paths : BoundSource::Rank};
}

} // namespace pipec::search
