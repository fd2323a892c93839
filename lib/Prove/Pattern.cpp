//===- Pattern.cpp - Lists that grow by repeated blocks -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Prove/Pattern.h"

#include "IRGen/StepBuilder.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>

using namespace llvm;

namespace pipec {

StepList withoutBubbles(const StepList &list) {
  StepList steps;
  llvm::copy_if(list, std::back_inserter(steps),
                [](Step step) { return step.kind() != StepKind::Bubble; });
  return steps;
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

std::optional<RankShape> matchWord(const Word &word, const StepList &list,
                                   uint64_t rounds) {
  RankShape shape;
  size_t at = 0;
  /// The number of steps of one round of a part, if they are of the list.
  auto match = [&](const WordPart &part) -> std::optional<size_t> {
    size_t begin = at;
    for (const WordStep &step : part.steps) {
      auto isNext = [&] {
        return at != list.size() && list[at].kind() == kindOf(step.letter) &&
               list[at].source() == step.source &&
               list[at].joined() == step.joined;
      };
      if (!step.drains && !isNext())
        return std::nullopt;
      do
        at += isNext();
      while (step.drains && isNext());
    }
    return at - begin;
  };
  for (const WordPart &part : word) {
    PartSize size{part.repeats, 0, part.fewer};
    if (part.repeats && rounds <= part.fewer)
      return std::nullopt;
    for (uint64_t round = 0; round != size.times(rounds); ++round) {
      std::optional<size_t> steps = match(part);
      if (!steps || (round != 0 && *steps != size.steps))
        return std::nullopt;
      size.steps = *steps;
    }
    shape.push_back(size);
  }
  if (at != list.size())
    return std::nullopt;
  return shape;
}

RankShape peel(const RankShape &shape, Peeling peeling) {
  RankShape peeled;
  auto add = [&](bool repeats, size_t steps) {
    if (steps == 0)
      return;
    if (!repeats && !peeled.empty() && !peeled.back().repeats)
      peeled.back().steps += steps;
    else
      peeled.push_back({repeats, steps, 0});
  };
  for (auto [repeats, steps, fewer] : shape) {
    if (!repeats) {
      add(false, steps);
      continue;
    }
    add(false, steps * peeling.ramp);
    add(true, steps * peeling.period);
    add(false, steps * (peeling.ramp + peeling.rest - fewer));
  }
  return peeled;
}

std::vector<size_t> computesOf(const StepList &list) {
  std::vector<size_t> computes;
  for (size_t i = 0; i != list.size(); ++i)
    if (isCompute(list[i].kind()))
      computes.push_back(i);
  return computes;
}

std::optional<RankShape> withTransfers(const RankShape &computes,
                                       const StepList &list, uint64_t x) {
  std::vector<size_t> places = computesOf(list);
  RankShape shape;
  size_t at = 0, begin = 0;
  for (PartSize part : computes) {
    size_t length = 0;
    for (uint64_t t = 0; t != part.times(x); ++t) {
      at += part.steps;
      if (at > places.size())
        return std::nullopt;
      size_t end = places[at - 1] + 1;
      if (t != 0 && end - begin != length)
        return std::nullopt;
      length = end - begin;
      begin = end;
    }
    shape.push_back({part.repeats, length, part.fewer});
  }
  if (begin == list.size())
    return shape;
  if (shape.empty() || shape.back().repeats)
    shape.push_back({});
  shape.back().steps += list.size() - begin;
  return shape;
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {
/// Finds the values of one step from those in three schedules.
struct Fit {
  std::array<uint64_t, 3> sizes;
  /// value(i, t): in schedule i, repetition t.
  std::optional<Affine> find(bool repeats,
                             function_ref<int64_t(unsigned, uint64_t)> value) {
    Affine fit;
    fit.b = (value(1, 0) - value(0, 0)) / int64_t(sizes[1] - sizes[0]);
    if (repeats)
      fit.c = value(0, 1) - value(0, 0);
    fit.a = value(0, 0) - fit.b * int64_t(sizes[0]);
    for (unsigned i = 0; i != 3; ++i)
      for (uint64_t t = 0; t != (repeats ? sizes[i] : 1); ++t)
        if (fit.at(sizes[i], t) != value(i, t))
          return std::nullopt;
    return fit;
  }
};
} // namespace

std::optional<RankPattern> fitPattern(const RankShape &shape, unsigned rank,
                                      ArrayRef<Instance> instances) {
  assert(instances.size() == 3 && instances[0].x >= 2);
  RankPattern pattern;
  Fit fit{{instances[0].x, instances[1].x, instances[2].x}};
  std::array<size_t, 3> begin{};
  for (auto [repeats, length, fewer] : shape) {
    pattern.parts.push_back(
        {repeats, pattern.steps.size(), pattern.steps.size() + length});
    for (size_t i = 0; i != length; ++i) {
      auto index = [&](unsigned which, uint64_t t) {
        return begin[which] + t * length + i;
      };
      auto step = [&](unsigned which, uint64_t t) {
        return instances[which].schedule->ranks[rank][index(which, t)];
      };
      for (unsigned which = 0; which != 3; ++which)
        if (index(which, repeats ? instances[which].x - 1 : 0) >=
            instances[which].schedule->ranks[rank].size())
          return std::nullopt;
      Step first = step(0, 0);
      bool same = true;
      std::optional<Affine> unit =
          fit.find(repeats, [&](unsigned which, uint64_t t) {
            Step other = step(which, t);
            same = same && other.kind() == first.kind() &&
                   other.stage() == first.stage() &&
                   other.port() == first.port() &&
                   other.joined() == first.joined();
            return int64_t(other.unit());
          });
      std::optional<Affine> start =
          fit.find(repeats, [&](unsigned which, uint64_t t) {
            return instances[which].run->start(rank, index(which, t));
          });
      if (!same || !unit || !start)
        return std::nullopt;
      pattern.steps.push_back({first, *unit, *start});
    }
    for (unsigned which = 0; which != 3; ++which)
      begin[which] += length * (repeats ? instances[which].x : 1);
  }
  return pattern;
}

//===----------------------------------------------------------------------===//
// Periods
//===----------------------------------------------------------------------===//

std::optional<Peeling>
findPeriod(ArrayRef<RankShape> shapes,
           function_ref<int64_t(unsigned, size_t)> startOf, uint64_t rounds) {
  // A period that is a divisor of many rounds is found by all steps; so first
  // the period, then the ramps.
  uint64_t period = 1;
  auto forEachStep = [&](auto body) {
    for (auto [rank, shape] : enumerate(shapes)) {
      size_t begin = 0;
      for (const PartSize &part : shape) {
        if (part.repeats)
          for (size_t i = 0; i != part.steps; ++i)
            body(
                [&, rank = rank, begin, i, length = part.steps](uint64_t t) {
                  return startOf(unsigned(rank), begin + t * length + i);
                },
                part.times(rounds));
        begin += part.steps * part.times(rounds);
      }
    }
  };
  auto repeatsAt = [](auto start, uint64_t t, uint64_t p, int64_t rate) {
    return start(t + p) - start(t) == rate;
  };
  uint64_t from = rounds / 3, to = 2 * rounds / 3;
  for (const RankShape &shape : shapes)
    for (const PartSize &part : shape)
      if (part.fewer > rounds / 4)
        return std::nullopt;
  uint64_t most = (to - from) / 3;
  bool found = true;
  forEachStep([&](auto start, uint64_t) {
    for (uint64_t p = 1; found && p <= most; ++p) {
      int64_t rate = start(from + p) - start(from);
      uint64_t t = from;
      while (t + p <= to && repeatsAt(start, t, p, rate))
        ++t;
      if (t + p > to) {
        period = std::lcm(period, p);
        found = period <= most;
        return;
      }
    }
    found = false;
  });
  if (!found)
    return std::nullopt;
  uint64_t ramp = 0;
  forEachStep([&](auto start, uint64_t times) {
    int64_t rate = start(from + period) - start(from);
    uint64_t first = from, last = std::min(to, times - 1);
    while (first != 0 && repeatsAt(start, first - 1, period, rate))
      --first;
    while (last + 1 != times &&
           repeatsAt(start, last + 1 - period, period, rate))
      ++last;
    ramp = std::max({ramp, first, rounds - 1 - last});
  });
  return Peeling{unsigned(ramp), unsigned(period), 0};
}

} // namespace pipec
