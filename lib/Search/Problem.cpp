//===- Problem.cpp - The search problem in integers -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Search/Problem.h"

#include "IR/RegularPlacements.h"

#include <algorithm>
#include <array>
#include <cassert>

namespace pipec::search {

std::vector<uint32_t> placementMap(bool isV, unsigned ranks, unsigned chunks) {
  std::vector<uint32_t> map(ranks * chunks);
  for (unsigned stage = 0; stage != map.size(); ++stage)
    map[stage] = isV ? rankInLegs(stage, ranks) : rankInLoop(stage, ranks);
  return map;
}

bool Problem::isChain() const {
  for (unsigned i = 0; i != edges.size(); ++i)
    if (edges[i].from != i || edges[i].to != i + 1)
      return false;
  return edges.size() + 1 == numStages();
}

void Problem::finish() {
  stageTable.assign(ranks * chunks, 0);
  chunkTable.assign(numStages(), 0);
  std::vector<unsigned> found(ranks);
  for (unsigned stage = 0; stage != numStages(); ++stage) {
    unsigned rank = map[stage];
    assert(found[rank] < chunks && "a rank has `chunks` stages");
    chunkTable[stage] = found[rank];
    stageTable[rank * chunks + found[rank]++] = stage;
  }
  letters.assign(ranks * numLetters(), Letter());
  together.assign(ranks * chunks, ~0u);
  beforeTable.clear();
  moreTakers = false;
  extras.assign(ranks, 0);
  bool chain = isChain();
  for (unsigned rank = 0; rank != ranks; ++rank) {
    for (unsigned chunk = 0; chunk != chunks; ++chunk) {
      unsigned stage = stageOf(rank, chunk);
      const StageFigures &figures = stages[stage];
      for (unsigned k = 0; k != numKinds(); ++k) {
        auto kind = LetterKind(k);
        Letter &own = letters[rank * numLetters() + letter(kind, chunk)];
        own.kind = kind;
        own.chunk = chunk;
        own.stage = stage;
        own.time = figures.time[k];
        Ticks given = kind == LetterF   ? -figures.taken()
                      : kind == LetterI ? figures.givenByI
                                        : figures.givenByW;
        own.taken = std::max<Ticks>(-given, 0) + figures.during[k];
        own.given = own.taken + given;
        moreTakers |= own.taken != (kind == LetterF ? figures.taken() : 0);
        extras[rank] += own.taken;
      }
    }
    findBefore(rank, chain);
  }
  findTransfers();
}

/// Finds which letters of a rank precede which, by the edges of all stages. In
/// a chain, the chunks of a rank follow each other.
void Problem::findBefore(unsigned rank, bool isChain) {
  using Chunks = uint32_t;
  static_assert(maxLetters / 3 <= 32);
  auto bit = [](unsigned chunk) { return Chunks(1) << chunk; };
  auto all = Chunks((uint64_t(1) << chunks) - 1);
  // By chunk: the other chunks of this rank that feed it, over any number of
  // edges, and those that it feeds.
  std::array<Chunks, 32> feeds = {}, fed = {};
  if (isChain || chunks == 1) {
    for (unsigned chunk = 0; chunk != chunks; ++chunk) {
      feeds[chunk] = bit(chunk) - 1;
      fed[chunk] = all & ~feeds[chunk] & ~bit(chunk);
    }
  } else {
    // The same by stage, with itself.
    std::vector<Chunks> up(numStages()), down(numStages());
    for (unsigned chunk = 0; chunk != chunks; ++chunk)
      up[stageOf(rank, chunk)] = down[stageOf(rank, chunk)] = bit(chunk);
    for (size_t i = 0; i != edges.size(); ++i)
      up[edges[i].to] |= up[edges[i].from];
    // The chunks whose F precede the I of a stage.
    std::vector<Chunks> waited = up;
    for (size_t i = edges.size(); i-- != 0;) {
      down[edges[i].from] |= down[edges[i].to];
      waited[edges[i].from] |= waited[edges[i].to];
    }
    for (unsigned chunk = 0; chunk != chunks; ++chunk) {
      feeds[chunk] = up[stageOf(rank, chunk)] & ~bit(chunk);
      fed[chunk] = down[stageOf(rank, chunk)] & ~bit(chunk);
      together[rank * chunks + chunk] = waited[stageOf(rank, chunk)];
    }
  }
  // Adds the letters of `set`, without those that others of `set` imply.
  auto add = [&](LetterKind kind, Chunks set, const auto &of) {
    Chunks implied = 0;
    for (unsigned chunk = 0; chunk != chunks; ++chunk)
      if (set & bit(chunk))
        implied |= of[chunk];
    for (unsigned chunk = 0; chunk != chunks; ++chunk)
      if (set & ~implied & bit(chunk))
        beforeTable.push_back(letter(kind, chunk));
  };
  for (unsigned index = 0; index != numLetters(); ++index) {
    Letter &own = letters[rank * numLetters() + index];
    own.before.begin = beforeTable.size();
    if (own.kind == LetterW)
      beforeTable.push_back(letter(LetterI, own.chunk));
    else if (own.kind == LetterF)
      add(LetterF, feeds[own.chunk], feeds);
    else if (fed[own.chunk])
      add(LetterI, fed[own.chunk], fed);
    else // The I of the last stage, which comes first, follows every F.
      add(LetterF, all & together[rank * chunks + own.chunk], feeds);
    own.before.end = beforeTable.size();
  }
}

void Problem::findTransfers() {
  // Sorted by the letter that has them: first counted, then filled in.
  auto fill = [&](Letter::Range Letter::*member, std::vector<Transfer> &table,
                  bool ofSource) {
    auto forEach = [&](auto visit) {
      for (const Edge &edge : edges) {
        if (map[edge.from] == map[edge.to])
          continue;
        for (LetterKind kind : {LetterF, LetterI}) {
          bool forward = kind == LetterF;
          uint32_t maker = step(kind, forward ? edge.from : edge.to, 0);
          uint32_t user = step(kind, forward ? edge.to : edge.from, 0);
          Ticks hop = forward ? edge.hopF : edge.hopI;
          uint32_t own = ofSource ? user : maker,
                   other = ofSource ? maker : user;
          visit(own / microbatches, Transfer{other / wordLength(), other, hop});
        }
      }
    };
    uint32_t total = 0;
    forEach([&](uint32_t index, Transfer) { ++(letters[index].*member).end; });
    for (Letter &letter : letters) {
      uint32_t count = (letter.*member).end;
      letter.*member = {total, total};
      total += count;
    }
    table.assign(total, Transfer());
    forEach([&](uint32_t index, Transfer transfer) {
      table[(letters[index].*member).end++] = transfer;
    });
  };
  fill(&Letter::sources, sourceTable, /*ofSource=*/true);
  fill(&Letter::users, userTable, /*ofSource=*/false);
}

Ticks Problem::work(unsigned rank) const {
  Ticks sum = 0;
  for (unsigned i = 0; i != numLetters(); ++i)
    sum += info(rank, i).time;
  return sum * microbatches;
}

Ticks Problem::maxWork() const {
  Ticks most = 0;
  for (unsigned rank = 0; rank != ranks; ++rank)
    most = std::max(most, work(rank));
  return most;
}

bool Problem::canFollow(unsigned rank, const uint32_t *started) const {
  uint32_t most = *std::max_element(started, started + chunks);
  for (unsigned chunk = 0; chunk != chunks; ++chunk) {
    uint32_t first = started[chunk];
    if (first == most)
      continue;
    Ticks sum = 0;
    for (unsigned q = 0; q != chunks; ++q) {
      if (!areTogether(rank, chunk, q))
        continue;
      Ticks taken = stages[stageOf(rank, q)].taken();
      sum += started[q] > first ? taken * (started[q] - first) : taken;
    }
    if (sum > caps[rank])
      return false;
  }
  return true;
}

bool Problem::isSafe(unsigned rank, uint32_t *counts, Ticks held,
                     unsigned letter) const {
  const Letter &own = info(rank, letter);
  if (!moreTakers && own.kind != LetterF)
    return true;
  if (held + own.taken > caps[rank])
    return false;
  ++counts[letter];
  bool safe = moreTakers ? canFinish(rank, counts, held + own.taken - own.given,
                                     caps[rank])
                         : canFollow(rank, counts);
  --counts[letter];
  return safe;
}

/// Runs the rest of the micro-batches that have begun, one by one, and each W
/// as soon as it fits; a W keeps no memory, and no other rank waits for it. All
/// later micro-batches fit one at a time.
bool Problem::canFinish(unsigned rank, uint32_t *counts, Ticks held,
                        Ticks cap) const {
  std::array<uint32_t, maxLetters> now;
  std::copy_n(counts, numLetters(), now.begin());
  auto run = [&](unsigned letter) {
    const Letter &own = info(rank, letter);
    if (held + own.taken > cap)
      return false;
    held += own.taken - own.given;
    ++now[letter];
    return true;
  };
  auto runWeights = [&] {
    for (bool any = split; any;) {
      any = false;
      for (unsigned c = 0; c != chunks; ++c)
        while (now[letter(LetterW, c)] != now[letter(LetterI, c)] &&
               run(letter(LetterW, c)))
          any = true;
    }
  };
  uint32_t begun = *std::max_element(now.begin(), now.begin() + chunks);
  uint32_t first =
      *std::min_element(now.begin() + chunks, now.begin() + 2 * chunks);
  for (uint32_t j = first; j < begun && held + extras[rank] > cap; ++j)
    for (unsigned i = 0; i != 2 * chunks; ++i) {
      // F in the order of the chunks, then I in the reverse order.
      unsigned next =
          i < chunks ? letter(LetterF, i) : letter(LetterI, 2 * chunks - 1 - i);
      if (now[next] > j)
        continue;
      runWeights();
      if (!run(next))
        return false;
    }
  runWeights();
  // If no W waits, all memory is freed.
  for (unsigned c = 0; split && c != chunks; ++c)
    if (now[letter(LetterW, c)] != now[letter(LetterI, c)])
      return false;
  return true;
}

Ticks Problem::roomForOne(unsigned rank) const {
  Ticks most = 0;
  for (unsigned first = 0; first != chunks; ++first) {
    if (first && areTogether(rank, first, 0))
      continue;
    // The other direction has run its micro-batch.
    std::array<uint32_t, maxLetters> counts = {};
    Ticks sum = 0;
    for (unsigned index = 0; index != numLetters(); ++index) {
      unsigned chunk = index % chunks;
      counts[index] = !areTogether(rank, first, chunk);
      if (index < chunks && !counts[index])
        sum += stages[stageOf(rank, chunk)].taken();
    }
    unsigned forward = letter(LetterF, first);
    const Letter &own = info(rank, forward);
    counts[forward] = 1;
    auto fits = [&](Ticks cap) {
      return own.taken <= cap &&
             canFinish(rank, counts.data(), own.taken - own.given, cap);
    };
    // `low` is too small, `high` is large enough.
    Ticks low = sum - 1, high = moreTakers ? std::max(sum, extras[rank]) : sum;
    while (high - low > 1) {
      Ticks middle = low + (high - low) / 2;
      (fits(middle) ? high : low) = middle;
    }
    most = std::max(most, high);
  }
  return most;
}

unsigned Problem::firstWithoutRoom() const {
  for (unsigned rank = 0; rank != ranks; ++rank)
    if (roomForOne(rank) > caps[rank])
      return rank;
  return ranks;
}

bool Problem::isValid(const Words &words) const {
  if (words.size() != ranks)
    return false;
  for (unsigned rank = 0; rank != ranks; ++rank) {
    if (words[rank].size() != wordLength())
      return false;
    std::array<uint32_t, maxLetters> counts = {};
    Ticks held = 0;
    for (uint8_t letter : words[rank]) {
      if (letter >= numLetters() || counts[letter] == microbatches)
        return false;
      const Letter &own = info(rank, letter);
      for (uint8_t other : before(own))
        if (counts[other] <= counts[letter])
          return false;
      held += own.taken;
      if (held > caps[rank])
        return false;
      held -= own.given;
      ++counts[letter];
    }
  }
  return true;
}

Ticks Problem::peak(unsigned rank, const Word &word) const {
  Ticks held = 0, most = 0;
  for (uint8_t letter : word) {
    held += info(rank, letter).taken;
    most = std::max(most, held);
    held -= info(rank, letter).given;
  }
  return most;
}

} // namespace pipec::search
