//===- Mixed.cpp - Words with split and whole backwards -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Search/Mixed.h"

#include <algorithm>
#include <tuple>

namespace pipec::search {

/// The numbers of common units in a unit of each of two models.
static std::optional<std::pair<Ticks, Ticks>> commonUnits(Rational first,
                                                          Rational second) {
  __int128 a = __int128(first.numerator()) * second.denominator();
  __int128 b = __int128(second.numerator()) * first.denominator();
  __int128 x = a, y = b;
  while (y)
    std::tie(x, y) = std::pair(y, x % y);
  if (!x || a / x > Problem::maxTicks || b / x > Problem::maxTicks)
    return std::nullopt;
  return std::pair(Ticks(a / x), Ticks(b / x));
}

std::optional<MixedProblem> MixedProblem::make(const Model &split,
                                               const Model &whole) {
  const Problem &parts = split.problem, &wholes = whole.problem;
  auto times = commonUnits(split.time(1), whole.time(1));
  auto sizes = commonUnits(split.size(1), whole.size(1));
  if (!times || !sizes)
    return std::nullopt;
  MixedProblem problem;
  problem.split = &split;
  problem.whole = &whole;
  problem.splitFactor = times->first;
  unsigned chunks = parts.chunks;
  problem.letters.resize(parts.ranks * 4 * chunks);
  __int128 sum = 0, most = 0;
  for (unsigned rank = 0; rank != parts.ranks; ++rank) {
    for (unsigned letter = 0; letter != 4 * chunks; ++letter) {
      bool isB = letter >= 3 * chunks;
      const auto &own = isB ? wholes.info(rank, letter - 2 * chunks)
                            : parts.info(rank, letter);
      __int128 time = __int128(own.time) * (isB ? times->second : times->first);
      Ticks unit = isB ? sizes->second : sizes->first;
      __int128 taken = __int128(own.taken) * unit;
      __int128 given = __int128(own.given) * unit;
      sum += time * parts.microbatches;
      most = std::max(most, std::max(taken, given) * parts.microbatches);
      if (sum > Problem::maxTicks || most > Problem::maxTicks)
        return std::nullopt;
      problem.letters[rank * 4 * chunks + letter] = {Ticks(time), Ticks(taken),
                                                     Ticks(given)};
    }
    // Both are at most the limit.
    __int128 cap = std::max(__int128(parts.caps[rank]) * sizes->first,
                            __int128(wholes.caps[rank]) * sizes->second);
    problem.caps.push_back(split.header.memory.limit(rank)
                               ? Ticks(std::min<__int128>(cap, Problem::never))
                               : Problem::never);
  }
  for (const Edge &edge : parts.edges)
    sum +=
        (__int128(edge.hopF) + edge.hopI) * times->first * parts.microbatches;
  if (sum > Problem::maxTicks)
    return std::nullopt;
  return problem;
}

Rational MixedProblem::time(Ticks ticks) const {
  return *Rational::div(*Rational::mul(split->time(1), ticks), splitFactor);
}

Ticks MixedProblem::ticksNotBelow(Rational time) const {
  Rational tick = *Rational::div(split->time(1), splitFactor);
  __int128 units = __int128(time.numerator()) * tick.denominator();
  __int128 one = __int128(time.denominator()) * tick.numerator();
  return Ticks(
      std::min<__int128>(units / one + (units % one > 0), Problem::never));
}

Words MixedProblem::fromWhole(const Words &words) const {
  Words result = words;
  for (Word &word : result)
    for (uint8_t &letter : word)
      if (letter >= chunks())
        letter += 2 * chunks();
  return result;
}

std::optional<Words> MixedProblem::wordsOf(const Schedule &schedule) const {
  if (!hasShape(*split, schedule))
    return std::nullopt;
  Words words(base().ranks);
  for (unsigned rank = 0; rank != base().ranks; ++rank) {
    // The F of idle stages come first, and their backwards last.
    auto addIdle = [&](MixedKind kind) {
      for (unsigned j = 0; j != base().microbatches; ++j)
        for (unsigned i = 0; i != chunks(); ++i) {
          unsigned chunk = kind == MixedF ? i : chunks() - 1 - i;
          if (split->isIdle(base().stageOf(rank, chunk)))
            words[rank].push_back(kind * chunks() + chunk);
        }
    };
    addIdle(MixedF);
    for (Step step : schedule.ranks[rank]) {
      if (!isCompute(step.kind()))
        continue;
      if (step.joined())
        return std::nullopt;
      MixedKind kind = step.kind() == StepKind::F   ? MixedF
                       : step.kind() == StepKind::I ? MixedI
                       : step.kind() == StepKind::B ? MixedB
                                                    : MixedW;
      words[rank].push_back(kind * chunks() +
                            base().chunkOf(split->placeOf(step)));
    }
    addIdle(MixedB);
  }
  return words;
}

Schedule MixedProblem::makeSchedule(const Words &words) const {
  static constexpr StepKind kinds[] = {StepKind::F, StepKind::I, StepKind::W,
                                       StepKind::B};
  const Problem &problem = base();
  Schedule schedule(split->header);
  for (unsigned rank = 0; rank != problem.ranks; ++rank) {
    StepList &list = schedule.ranks.emplace_back();
    list.reserve(words[rank].size());
    std::vector<unsigned> forwards(chunks()), backwards(chunks()),
        joined(chunks());
    // By chunk, the micro-batches of the I, in order.
    std::vector<std::vector<unsigned>> split(chunks());
    for (uint8_t letter : words[rank]) {
      unsigned chunk = letter % chunks(), microbatch;
      switch (MixedKind(letter / chunks())) {
      case MixedF:
        microbatch = forwards[chunk]++;
        break;
      case MixedW:
        microbatch = split[chunk][joined[chunk]++];
        break;
      case MixedI:
        split[chunk].push_back(backwards[chunk]);
        [[fallthrough]];
      case MixedB:
        microbatch = backwards[chunk]++;
      }
      unsigned place = problem.stageOf(rank, chunk);
      if (model().isIdle(place))
        continue;
      list.push_back(Step(kinds[letter / chunks()], model().stageOf(place),
                          model().unitOf(place, microbatch)));
    }
  }
  return schedule;
}

} // namespace pipec::search
