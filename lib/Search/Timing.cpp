//===- Timing.cpp - When the steps of words run ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Search/Timing.h"

#include <algorithm>
#include <array>

namespace pipec::search {

Timing::Timing(const Problem &problem)
    : steps(problem.ranks), places(problem.numSteps()),
      ends(problem.numSteps()), tails(problem.numSteps()),
      rankEnds(problem.ranks), problem(problem) {
  for (auto &list : steps)
    list.resize(problem.wordLength());
  order.reserve(problem.numSteps());
}

std::optional<Ticks> Timing::run(const Words &words) {
  for (unsigned rank = 0; rank != problem.ranks; ++rank) {
    std::array<uint32_t, Problem::maxLetters> next;
    for (unsigned i = 0; i != problem.numLetters(); ++i)
      next[i] = problem.base(rank, i);
    for (uint32_t i = 0; i != words[rank].size(); ++i) {
      uint32_t step = next[words[rank][i]]++;
      steps[rank][i] = step;
      places[step] = i;
    }
  }

  order.clear();
  makespan = 0;
  uint32_t length = problem.wordLength();
  // The position of each rank in its word and in the sources of its next step,
  // and the source that it waits for.
  constexpr uint32_t none = ~uint32_t(0);
  std::vector<uint32_t> at(problem.ranks), seen(problem.ranks);
  std::vector<uint32_t> awaited(problem.ranks, none);
  std::vector<unsigned> waiting;
  for (unsigned rank = problem.ranks; rank-- != 0;)
    waiting.push_back(rank);
  std::fill(rankEnds.begin(), rankEnds.end(), 0);
  while (!waiting.empty()) {
    unsigned rank = waiting.back();
    waiting.pop_back();
    Ticks now = rankEnds[rank];
    uint32_t i = at[rank], next = seen[rank];
    awaited[rank] = none;
    for (; i != length; ++i, next = 0) {
      uint32_t step = steps[rank][i];
      const Letter &letter = problem.info(rank, words[rank][i]);
      uint32_t n = step - problem.base(rank, words[rank][i]);
      auto sources = problem.sources(letter);
      for (; next != sources.size(); ++next) {
        uint32_t source = sources[next].base + n;
        if (at[sources[next].rank] <= places[source]) {
          awaited[rank] = source;
          break;
        }
        now = std::max(now, ends[source] + sources[next].hop);
      }
      if (next != sources.size())
        break;
      now += letter.time;
      ends[step] = now;
      order.push_back(step);
      for (const Transfer &user : problem.users(letter))
        if (awaited[user.rank] == step)
          waiting.push_back(user.rank);
    }
    seen[rank] = next;
    // Users that were pushed above read `at` only after this.
    at[rank] = i;
    rankEnds[rank] = now;
    makespan = std::max(makespan, now);
  }
  if (order.size() != problem.numSteps())
    return std::nullopt;
  return makespan;
}

void Timing::findTails() {
  uint32_t length = problem.wordLength();
  for (size_t i = order.size(); i-- != 0;) {
    uint32_t step = order[i];
    uint32_t block = step / problem.microbatches;
    const Letter &letter = problem.infoOf(step);
    unsigned rank = block / problem.numLetters();
    Ticks tail = 0;
    if (uint32_t place = places[step]; place + 1 != length) {
      uint32_t next = steps[rank][place + 1];
      tail = tails[next] + problem.infoOf(next).time;
    }
    uint32_t n = step - block * problem.microbatches;
    for (const Transfer &user : problem.users(letter))
      tail = std::max(tail, tails[user.base + n] +
                                problem.infoOf(user.base).time + user.hop);
    tails[step] = tail;
  }
}

} // namespace pipec::search
