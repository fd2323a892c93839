//===- Steady.cpp - Blocks of the least period ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Search/Steady.h"

#include "Search/Tuning.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace pipec::search {

/// The largest batch of a block.
static constexpr uint32_t mostOfBlock = 4;

Words wordsOfBlock(const Problem &problem, const SteadyBlock &block) {
  Words words(problem.ranks);
  for (unsigned rank = 0; rank != problem.ranks; ++rank) {
    Word &word = words[rank];
    word.reserve(problem.wordLength());
    int32_t highest = 0;
    for (SteadyBlock::Entry entry : block.ranks[rank])
      highest = std::max(highest, entry.microbatch);
    // The first block with a micro-batch of at least 0.
    int32_t shift = -(highest / int32_t(block.batch)) * int32_t(block.batch);
    for (; word.size() != problem.wordLength(); shift += block.batch)
      for (SteadyBlock::Entry entry : block.ranks[rank]) {
        int32_t n = entry.microbatch + shift;
        if (n >= 0 && n < int32_t(problem.microbatches))
          word.push_back(entry.letter);
      }
  }
  return words;
}

SteadyBlock repeated(const SteadyBlock &block, uint32_t times) {
  SteadyBlock made = block;
  made.batch = block.batch * times;
  made.period = block.period * times;
  for (auto &entries : made.ranks)
    for (uint32_t i = 1, size = entries.size(); i != times; ++i)
      for (uint32_t place = 0; place != size; ++place) {
        entries.push_back(entries[place]);
        entries.back().microbatch += int32_t(i * block.batch);
      }
  return made;
}

SteadySearch::SteadySearch(const Problem &problem, uint32_t batch,
                           uint64_t seed)
    : problem(problem), batch(batch), length(batch * problem.numLetters()),
      random(seed), places(problem.ranks * length),
      starts(problem.ranks * length), parents(problem.ranks * length),
      trials(problem.ranks * length), changes(problem.ranks * length),
      later(problem.ranks * length), critical(problem.ranks * length) {}

int32_t SteadySearch::round(int32_t microbatch) const {
  int32_t size = batch;
  return microbatch >= 0 ? microbatch / size : -((-microbatch - 1) / size) - 1;
}

uint32_t SteadySearch::node(unsigned rank, Entry entry) const {
  uint32_t rest = entry.microbatch - round(entry.microbatch) * int32_t(batch);
  return rank * length + entry.letter * batch + rest;
}

void SteadySearch::load(const SteadyBlock &from) {
  block = from;
  for (unsigned rank = 0; rank != problem.ranks; ++rank)
    for (uint32_t place = 0; place != length; ++place)
      places[node(rank, block.ranks[rank][place])] = place;
}

/// Whether a rank can repeat its block within its cap.
bool SteadySearch::fits(unsigned rank) const {
  const auto &entries = block.ranks[rank];
  // How often each letter has run before.
  std::array<int32_t, Problem::maxLetters> counts;
  counts.fill(std::numeric_limits<int32_t>::max());
  for (Entry entry : entries)
    counts[entry.letter] = std::min(counts[entry.letter], entry.microbatch);
  Ticks held = 0;
  for (unsigned letter = 0; letter != problem.numLetters(); ++letter) {
    const Letter &own = problem.info(rank, letter);
    held += counts[letter] * (own.taken - own.given);
  }
  for (Entry entry : entries) {
    const Letter &own = problem.info(rank, entry.letter);
    for (uint8_t other : problem.before(own))
      if (counts[other] <= counts[entry.letter])
        return false;
    held += own.taken;
    if (held > problem.caps[rank])
      return false;
    held -= own.given;
    ++counts[entry.letter];
  }
  return true;
}

//===----------------------------------------------------------------------===//
// The period
//===----------------------------------------------------------------------===//

/// Raises the start of a node to `start`, because of `from`. False if the node
/// waits for itself.
bool SteadySearch::raise(uint32_t node, Ticks start, uint32_t from) {
  if (start <= starts[node])
    return true;
  // Without the newest arc nothing waits for itself.
  if (node == newest)
    return false;
  if (trials[node] == trial) {
    // A cycle shows in the nodes that wait for each other.
    if (newest == none && ++changes[node] > 1) {
      uint32_t steps = 0, at = from;
      while (at != node && trials[at] == trial && parents[at] != at &&
             ++steps <= starts.size())
        at = parents[at];
      work += steps;
      if (at == node || changes[node] == 255) {
        std::fill(critical.begin(), critical.end(), at != node);
        for (at = from; at != node && !critical[at]; at = parents[at])
          critical[at] = true;
        critical[node] = true;
        return false;
      }
    }
  } else {
    trials[node] = trial;
    changes[node] = 0;
    log.push_back({node, starts[node]});
  }
  starts[node] = start;
  parents[node] = from;
  queue.push_back(node);
  return true;
}

/// Raises the start of the letter after a place of a rank.
bool SteadySearch::raiseNext(unsigned rank, uint32_t place) {
  const auto &entries = block.ranks[rank];
  Entry own = entries[place];
  if (later[node(rank, own)] == trial)
    return true;
  bool wraps = place + 1 == length;
  Entry next = entries[wraps ? 0 : place + 1];
  uint32_t from = node(rank, own);
  Ticks rounds = round(next.microbatch) + wraps - round(own.microbatch);
  return raise(node(rank, next),
               starts[from] + problem.info(rank, own.letter).time * parts -
                   rounds * period,
               from);
}

/// Raises all starts that must follow; false if they rise without end.
bool SteadySearch::settle() {
  size_t most = 16 * starts.size();
  for (size_t i = 0; i != queue.size(); ++i) {
    if (i > most) {
      std::fill(critical.begin(), critical.end(), true);
      return false;
    }
    uint32_t from = queue[i];
    unsigned rank = from / length;
    const Letter &letter = problem.info(rank, from % length / batch);
    ++work;
    if (!raiseNext(rank, places[from]))
      return false;
    uint32_t rest = from % batch;
    for (const Transfer &user : problem.users(letter)) {
      uint32_t index =
          user.base / problem.microbatches - user.rank * problem.numLetters();
      uint32_t to = user.rank * length + index * batch + rest;
      if (!raise(to, starts[from] + (letter.time + user.hop) * parts, from))
        return false;
    }
  }
  return true;
}

bool SteadySearch::settleAll() {
  ++trial;
  log.clear();
  queue.clear();
  for (uint32_t node = 0; node != starts.size(); ++node) {
    trials[node] = trial;
    changes[node] = 0;
    parents[node] = node;
    log.push_back({node, starts[node]});
    queue.push_back(node);
  }
  return settle();
}

/// Whether the block can run with a period; then it is the current one.
bool SteadySearch::tryPeriod(Ticks wanted) {
  Ticks before = std::exchange(period, wanted);
  if (settleAll())
    return true;
  for (auto [node, start] : log)
    starts[node] = start;
  period = before;
  return false;
}

/// Lowers the period as far as possible.
Ticks SteadySearch::leastPeriod(Ticks most) {
  if (period != most && !tryPeriod(most))
    return Problem::never;
  for (Ticks step = std::max<Ticks>(most / 32, 1); step != 0; step /= 2)
    while (step < period && tryPeriod(period - step)) {
    }
  return period;
}

//===----------------------------------------------------------------------===//
// Starts
//===----------------------------------------------------------------------===//

void SteadySearch::offer(SteadyBlock offered) {
  load(offered);
  for (unsigned rank = 0; rank != problem.ranks; ++rank)
    if (!fits(rank))
      return;
  std::fill(starts.begin(), starts.end(), 0);
  // No cycle is longer than all steps.
  Ticks most = 0;
  if (bestBlock.ranks.empty()) {
    for (unsigned rank = 0; rank != problem.ranks; ++rank)
      most += problem.work(rank) / problem.microbatches * batch * parts;
    for (const Edge &edge : problem.edges)
      most += (edge.hopF + edge.hopI) * batch * parts;
  } else {
    most = bestBlock.period - 1;
  }
  period = 0;
  Ticks own = leastPeriod(most);
  if (own == Problem::never)
    return;
  bestBlock = block;
  bestBlock.period = own;
}

void SteadySearch::offerFrom(const Words &words, Budget &budget) {
  constexpr unsigned numCuts = 40;
  Timing timing(problem);
  budget.spend(Decoder::workFor(problem));
  if (!timing.run(words))
    return;
  for (unsigned cut = 1; cut < numCuts && !budget.done(); ++cut) {
    Ticks time = timing.makespan / numCuts * cut;
    SteadyBlock made;
    made.batch = batch;
    for (unsigned rank = 0; rank != problem.ranks; ++rank) {
      const auto &steps = timing.steps[rank];
      auto first =
          std::partition_point(steps.begin(), steps.end(), [&](uint32_t step) {
            return timing.ends[step] <= time;
          });
      // The next steps of each letter, in their order.
      std::vector<uint32_t> seen(problem.numLetters());
      auto &entries = made.ranks.emplace_back();
      for (; first != steps.end() && entries.size() != length; ++first) {
        unsigned letter =
            (*first - problem.base(rank, 0)) / problem.microbatches;
        if (seen[letter]++ < batch)
          entries.push_back(
              {uint8_t(letter), int32_t(*first % problem.microbatches)});
      }
      if (entries.size() != length)
        return;
    }
    offer(std::move(made));
    budget.spend(work * 8 + starts.size() * 8);
    work = 0;
  }
}

//===----------------------------------------------------------------------===//
// Moves
//===----------------------------------------------------------------------===//

/// True if the letters at `count` places from one on are on the critical cycle.
bool SteadySearch::isCritical(unsigned rank, uint32_t place,
                              uint32_t count) const {
  for (; count != 0; --count) {
    if (critical[node(rank, block.ranks[rank][place])])
      return true;
    place = place + 1 == length ? 0 : place + 1;
  }
  return false;
}

/// Moves a letter if the block can then run with the current period.
bool SteadySearch::tryMove(bool &mayShorten) {
  unsigned rank = random.below(problem.ranks);
  auto &entries = block.ranks[rank];
  uint32_t place = random.below(length);
  uint32_t distance = random.chance(60) ? 1 + random.below(tuning::shortMove)
                                        : 1 + random.below(length - 1);
  bool forward = random.chance(50);
  uint8_t letter = entries[place].letter;
  int32_t size = batch;
  auto swapWith = [&](uint32_t from, uint32_t to) {
    // Across the ends of the block, both are of a neighbouring block.
    Entry a = entries[from], b = entries[to];
    if (forward && to < from) {
      a.microbatch -= size;
      b.microbatch += size;
    } else if (!forward && to > from) {
      a.microbatch += size;
      b.microbatch -= size;
    }
    entries[to] = a;
    entries[from] = b;
    places[node(rank, a)] = to;
    places[node(rank, b)] = from;
  };
  auto next = [&](uint32_t at) {
    return forward ? (at + 1 == length ? 0 : at + 1)
                   : (at == 0 ? length - 1 : at - 1);
  };
  uint32_t moved = 0, at = place;
  for (; moved != distance; ++moved) {
    uint32_t to = next(at);
    if (entries[to].letter == letter)
      break;
    swapWith(at, to);
    at = to;
  }
  work += moved + length / 2;
  if (moved == 0)
    return false;
  auto undo = [&] {
    forward = !forward;
    for (; moved != 0; --moved) {
      uint32_t to = next(at);
      swapWith(at, to);
      at = to;
    }
  };
  if (!fits(rank)) {
    undo();
    return false;
  }
  ++trial;
  log.clear();
  // The letters between both places, and those beside them, one after the
  // other: a node that waits for itself then waits for the newest of them.
  uint32_t begin = forward ? place : at;
  uint32_t first = begin == 0 ? length - 1 : begin - 1;
  mayShorten = isCritical(rank, first, std::min(moved + 3, length));
  uint32_t count = std::min(moved + 2, length);
  auto nodeAt = [&](uint32_t i) {
    return node(rank, entries[(first + i) % length]);
  };
  for (uint32_t i = 0; i != count; ++i)
    later[nodeAt(i)] = trial;
  bool good = true;
  for (uint32_t i = 0; good && i != count; ++i) {
    newest = nodeAt(i);
    later[newest] = 0;
    queue.clear();
    good = raiseNext(rank, (first + i) % length) && settle();
  }
  newest = none;
  if (good)
    return true;
  for (auto [node, start] : log)
    starts[node] = start;
  undo();
  return false;
}

void SteadySearch::run(Budget &budget) {
  if (bestBlock.ranks.empty())
    return;
  load(bestBlock);
  std::fill(starts.begin(), starts.end(), 0);
  period = 0;
  if (!tryPeriod(bestBlock.period))
    return;
  Ticks least = 0;
  for (unsigned rank = 0; rank != problem.ranks; ++rank)
    least = std::max(least,
                     problem.work(rank) / problem.microbatches * batch * parts);
  uint64_t all = budget.left() + 1, begin = budget.spent();
  Ticks current = bestBlock.period;
  while (!budget.done() && bestBlock.period > least) {
    uint64_t left = 1000 - (budget.spent() - begin) * 1000 / all;
    Ticks heat = bestBlock.period * Ticks(left * left) / 1'000'000 *
                 tuning::steadyHeat / 1000;
    Ticks excess = random.chance(50)
                       ? 0
                       : Ticks(__int128(heat) * random.exponential() >> 16);
    if (period != current + excess && !tryPeriod(current + excess))
      break;
    auto lower = [&] {
      current = leastPeriod(period);
      if (current >= bestBlock.period)
        return;
      bestBlock = block;
      bestBlock.period = current;
    };
    for (unsigned n = 0; n != tuning::steadyMoves; ++n) {
      bool mayShorten = false;
      if (tryMove(mayShorten) && mayShorten && excess == 0 &&
          tryPeriod(period - 1))
        lower();
    }
    if (excess != 0)
      lower();
    budget.spend(work * 2);
    work = 0;
  }
}

Found searchSteady(const Problem &problem, const std::vector<Words> &starts,
                   uint64_t seed, Budget &budget) {
  Found found;
  if (problem.microbatches < 2 * mostOfBlock)
    return found;
  Timing timing(problem);
  std::vector<SteadyBlock> blocks;
  for (uint32_t batch = 1; batch <= mostOfBlock && !budget.done(); ++batch) {
    SteadySearch search(problem, batch, seed + batch);
    Budget share = budget.part(budget.left() / (mostOfBlock + 1 - batch));
    for (const Words &words : starts)
      search.offerFrom(words, share);
    for (const SteadyBlock &block : blocks)
      if (batch % block.batch == 0)
        search.offer(repeated(block, batch / block.batch));
    // One micro-batch after the other.
    SteadyBlock slow;
    slow.batch = batch;
    for (unsigned rank = 0; rank != problem.ranks; ++rank) {
      auto &entries = slow.ranks.emplace_back();
      for (int32_t n = 0; n != int32_t(batch); ++n) {
        for (unsigned c = 0; c != problem.chunks; ++c)
          entries.push_back({uint8_t(problem.letter(LetterF, c)), n});
        for (unsigned c = problem.chunks; c-- != 0;) {
          entries.push_back({uint8_t(problem.letter(LetterI, c)), n});
          if (problem.split)
            entries.push_back({uint8_t(problem.letter(LetterW, c)), n});
        }
      }
    }
    if (search.best().ranks.empty())
      search.offer(slow);
    search.run(share);
    budget.spend(share.spent());
    if (search.best().ranks.empty())
      continue;
    blocks.push_back(search.best());
    Words words = wordsOfBlock(problem, search.best());
    std::optional<Ticks> makespan = timing.run(words);
    budget.spend(Decoder::workFor(problem));
    if (makespan && (found.words.empty() || *makespan < found.makespan))
      found = {std::move(words), *makespan};
  }
  return found;
}

} // namespace pipec::search
