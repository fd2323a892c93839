//===- Decoder.cpp - Words from target times, and their times -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Search/Decoder.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <tuple>

namespace pipec::search {

Decoder::Decoder(const Problem &problem)
    : problem(problem), states(problem.ranks),
      leaves(std::bit_ceil(problem.ranks)),
      counts(problem.ranks * problem.numLetters()),
      arrivals(problem.numSteps()), missing(problem.numSteps()),
      words(problem.ranks) {
  for (Word &word : words)
    word.reserve(problem.wordLength());
}

/// Fills `choices` with the steps that the rank can run next.
void Decoder::findChoices(unsigned rank, const Targets &targets) {
  choices.clear();
  const Rank &state = states[rank];
  // The least target of a step that has its data, but not its memory.
  Ticks blocked = Problem::never;
  for (unsigned letter = 0; letter != problem.numLetters(); ++letter) {
    uint32_t n = count(rank, letter);
    if (n == problem.microbatches)
      continue;
    const Letter &own = problem.info(rank, letter);
    bool follows = true;
    for (uint8_t other : problem.before(own))
      follows &= count(rank, other) > n;
    uint32_t step = problem.base(rank, letter) + n;
    if (!follows || missing[step])
      continue;
    Ticks start = std::max(state.now, arrivals[step]);
    Ticks target = targets.times[step];
    if (own.kind == LetterF && own.chunk == 0 &&
        n - count(rank, problem.letter(LetterI, 0)) >= targets.inFlight[rank])
      continue;
    if (!problem.isSafe(rank, &count(rank, 0), state.held, letter)) {
      blocked = std::min(blocked, target);
      continue;
    }
    if (own.kind == LetterF) {
      if (targets.hold == Targets::Hold::Forwards ||
          (targets.hold == Targets::Hold::FirstSteps && problem.isFirst(own)))
        start = std::max(start, target);
    }
    choices.push_back({letter, start, target});
  }
  // A W frees memory.
  if (blocked != Problem::never)
    for (Choice &choice : choices)
      if (problem.info(rank, choice.letter).kind == LetterW)
        choice.target = std::min(choice.target, blocked);
}

/// Runs the best step of a rank.
void Decoder::take(unsigned rank, const Targets &targets) {
  findChoices(rank, targets);
  assert(!choices.empty());
  Ticks first = Problem::never;
  for (const Choice &choice : choices)
    first = std::min(first, choice.start);
  const Choice *best = nullptr;
  auto better = [](const Choice &a, const Choice *b) {
    return !b || std::tie(a.target, a.start) < std::tie(b->target, b->start);
  };
  for (const Choice &choice : choices)
    if (choice.start <= first + targets.patience && better(choice, best))
      best = &choice;
  if (best->start > first) {
    // A step that ends before the chosen step starts goes first.
    const Choice *filler = nullptr;
    for (const Choice &choice : choices)
      if (choice.start + problem.info(rank, choice.letter).time <=
              best->start &&
          better(choice, filler))
        filler = &choice;
    if (filler)
      best = filler;
  }

  Rank &state = states[rank];
  const Letter &letter = problem.info(rank, best->letter);
  uint32_t n = count(rank, best->letter)++;
  words[rank].push_back(best->letter);
  state.now = best->start + letter.time;
  state.held += letter.taken - letter.given;
  for (const Transfer &user : problem.users(letter)) {
    uint32_t step = user.base + n;
    arrivals[step] = std::max(arrivals[step], state.now + user.hop);
    if (--missing[step] == 0)
      findNext(user.rank, targets);
  }
  findNext(rank, targets);
}

/// Finds when a rank can start its next step.
void Decoder::findNext(unsigned rank, const Targets &targets) {
  findChoices(rank, targets);
  Ticks next = Problem::never;
  for (const Choice &choice : choices)
    next = std::min(next, choice.start);
  setNext(rank, next);
}

void Decoder::setNext(unsigned rank, Ticks next) {
  states[rank].next = next;
  for (uint32_t i = (leaves + rank) / 2; i != 0; i /= 2) {
    uint32_t a = firsts[2 * i], b = firsts[2 * i + 1];
    firsts[i] = b < problem.ranks && states[b].next < states[a].next ? b : a;
  }
}

const Words &Decoder::run(const Targets &targets) {
  std::fill(states.begin(), states.end(), Rank());
  std::fill(counts.begin(), counts.end(), 0);
  std::fill(arrivals.begin(), arrivals.end(), 0);
  firsts.assign(2 * size_t(leaves), 0);
  for (uint32_t rank = 0; rank != leaves; ++rank)
    firsts[leaves + rank] = rank;
  for (uint32_t i = leaves; i-- > 1;)
    firsts[i] = firsts[2 * i];
  for (unsigned rank = 0; rank != problem.ranks; ++rank) {
    words[rank].clear();
    for (unsigned letter = 0; letter != problem.numLetters(); ++letter)
      std::fill_n(missing.begin() + problem.base(rank, letter),
                  problem.microbatches,
                  problem.sources(problem.info(rank, letter)).size());
    findNext(rank, targets);
  }
  for (uint32_t left = problem.numSteps(); left != 0; --left) {
    unsigned least = firsts[1];
    assert(states[least].next != Problem::never && "lemma 2");
    take(least, targets);
  }
  return words;
}

void justify(const Problem &problem, Found &found, Decoder &decoder,
             Timing &timing, Budget &budget) {
  Targets targets;
  targets.inFlight.assign(problem.ranks, problem.microbatches);
  Ticks mean = problem.maxWork() / problem.wordLength();
  for (unsigned round = 0; round != 6; ++round) {
    if (!timing.run(found.words))
      return;
    timing.findTails();
    targets.times.resize(problem.numSteps());
    for (uint32_t step = 0; step != problem.numSteps(); ++step)
      targets.times[step] =
          timing.makespan - timing.tails[step] - problem.infoOf(step).time;
    bool better = false;
    for (Ticks patience : {Ticks(0), mean / 2, mean}) {
      if (budget.isStopped())
        return;
      targets.patience = patience;
      const Words &words = decoder.run(targets);
      budget.spend(Decoder::workFor(problem));
      if (timing.run(words) && timing.makespan < found.makespan) {
        found = {words, timing.makespan};
        better = true;
      }
    }
    if (!better || budget.done())
      return;
  }
}

//===----------------------------------------------------------------------===//
// Times of words
//===----------------------------------------------------------------------===//

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
