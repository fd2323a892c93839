//===- Blocks.cpp - Targets that repeat -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Search/Blocks.h"

#include "Search/Tuning.h"

#include <algorithm>
#include <ranges>

namespace pipec::search {

BlockSearch::BlockSearch(const Problem &problem, uint64_t seed)
    : problem(problem), random(seed), decoder(problem), timing(problem) {
  Ticks sum = 0;
  for (unsigned rank = 0; rank != problem.ranks; ++rank)
    sum += problem.work(rank);
  meanTime = std::max<Ticks>(1, sum / problem.numSteps());
  periodOfWork = std::max<Ticks>(1, problem.maxWork() / problem.microbatches);
}

Block BlockSearch::sample() {
  unsigned stages = problem.numStages();
  Block block;
  block.period =
      std::max<Ticks>(1, periodOfWork * random.of(tuning::periods) / 100);
  block.patience = meanTime * random.of(tuning::patience) / 100;
  block.offsets.assign(problem.numKinds() * stages, 0);
  Ticks *forward = block.offsets.data(), *backward = forward + stages;
  unsigned stretch = random.of(tuning::stretchF);
  // Edges are sorted by `from`: those to a stage come before those from it.
  for (const Edge &edge : problem.edges)
    forward[edge.to] =
        std::max(forward[edge.to],
                 forward[edge.from] +
                     (problem.stages[edge.from].time[LetterF] + edge.hopF) *
                         stretch / 100);
  stretch = random.of(tuning::stretchI);
  backward[stages - 1] =
      forward[stages - 1] + problem.stages[stages - 1].time[LetterF];
  for (const Edge &edge : std::views::reverse(problem.edges))
    backward[edge.from] =
        std::max(backward[edge.from],
                 backward[edge.to] +
                     (problem.stages[edge.to].time[LetterI] + edge.hopI) *
                         stretch / 100);
  if (problem.split) {
    unsigned choice = random.below(std::size(tuning::lateW) + 1);
    Ticks late = choice == std::size(tuning::lateW)
                     ? block.period * 2 * problem.microbatches
                     : block.period * tuning::lateW[choice] / 100;
    for (unsigned s = 0; s != stages; ++s)
      backward[stages + s] =
          backward[s] + problem.stages[s].time[LetterI] + late;
  }
  unsigned limits = random.below(5);
  unsigned more = random.below(3);
  block.inFlight.assign(problem.ranks, problem.microbatches);
  for (unsigned rank = 0; rank != problem.ranks; ++rank) {
    Ticks behind = problem.ranks - rank;
    Ticks limit = problem.microbatches;
    unsigned stage = problem.stageOf(rank, 0);
    if (limits == 1)
      limit = behind + (problem.chunks - 1) * problem.ranks + more;
    else if (limits == 2)
      limit = 2 * behind - 1 + (problem.chunks - 1) * problem.ranks + more;
    else if (limits == 3)
      limit = (backward[stage] + problem.stages[stage].time[LetterI] -
               forward[stage]) /
                  block.period +
              more;
    block.inFlight[rank] = std::clamp<Ticks>(limit, 1, problem.microbatches);
  }
  block.hold = Targets::Hold(random.below(3));
  return block;
}

Block BlockSearch::change(const Block &from) {
  Block block = from;
  unsigned stages = problem.numStages();
  auto delta = [&] {
    Ticks size = random.chance(50) ? meanTime : block.period;
    return size * (int(random.below(201)) - 100) / 100;
  };
  using namespace tuning;
  for (unsigned n = 1 + random.below(maxChanges); n != 0; --n) {
    unsigned what = random.choose(changes);
    if (what == 0) {
      block.offsets[random.below(block.offsets.size())] += delta();
    } else if (what == 1) {
      // All that comes after a step.
      unsigned from = random.below(2 * stages);
      Ticks by = delta();
      for (unsigned at = from; at != 2 * stages; ++at) {
        unsigned stage = at < stages ? at : 2 * stages - 1 - at;
        block.offsets[at < stages ? stage : stages + stage] += by;
        if (at >= stages && problem.split)
          block.offsets[2 * stages + stage] += by;
      }
    } else if (what == 2) {
      block.patience = meanTime * random.below(maxPatience) / 100;
    } else if (what == 3) {
      block.period = std::max<Ticks>(
          1, block.period *
                 (100 - periodChange + random.below(2 * periodChange + 1)) /
                 100);
    } else if (what == 4) {
      uint32_t &limit = block.inFlight[random.below(problem.ranks)];
      limit = std::clamp<int64_t>(int64_t(limit) + int(random.below(5)) - 2, 1,
                                  problem.microbatches);
    } else {
      block.hold = Targets::Hold(random.below(3));
    }
  }
  return block;
}

Ticks BlockSearch::evaluate(const Block &block) {
  unsigned stages = problem.numStages();
  targets.times.resize(problem.numSteps());
  targets.patience = block.patience;
  targets.inFlight = block.inFlight;
  targets.hold = block.hold;
  for (unsigned kind = 0; kind != problem.numKinds(); ++kind)
    for (unsigned stage = 0; stage != stages; ++stage) {
      Ticks time = block.offsets[kind * stages + stage];
      uint32_t step = problem.step(LetterKind(kind), stage, 0);
      for (uint32_t j = 0; j != problem.microbatches; ++j, time += block.period)
        targets.times[step + j] = time;
    }
  const Words &words = decoder.run(targets);
  Ticks makespan = *timing.run(words);
  if (found.words.empty() || makespan < found.makespan) {
    found = {words, makespan};
    bestBlock = block;
  }
  return makespan;
}

void BlockSearch::run(Budget &budget, Ticks bound) {
  uint64_t work = 2 * Decoder::workFor(problem);
  uint64_t begin = budget.spent(), all = budget.left();
  auto closed = [&] {
    return !found.words.empty() && (found.makespan <= bound || budget.done());
  };
  uint64_t sampling = all * tuning::samplingShare / 100;
  while (!closed() &&
         (found.words.empty() || budget.spent() - begin < sampling)) {
    evaluate(sample());
    budget.spend(work);
  }
  if (closed())
    return;
  Block current = bestBlock;
  Ticks makespan = found.makespan;
  while (!closed()) {
    Block next = change(current);
    budget.spend(work);
    uint64_t left = budget.left() >> 10, of = (all >> 10) + 1;
    Ticks heat =
        Ticks(__int128(found.makespan) * left / of * tuning::blockHeat / 100);
    Ticks limit = makespan + Ticks(__int128(heat) * random.exponential() >> 16);
    Ticks made = evaluate(next);
    if (made > limit)
      continue;
    makespan = made;
    current = std::move(next);
  }
}

} // namespace pipec::search
