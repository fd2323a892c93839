//===- Problem.cpp - What is searched, in whole numbers ------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Search/Problem.h"

#include <algorithm>
#include <array>
#include <cassert>

namespace pipec::search {

std::vector<uint32_t> placementMap(bool isV, unsigned ranks, unsigned chunks) {
  std::vector<uint32_t> map(ranks * chunks);
  for (unsigned stage = 0; stage != map.size(); ++stage) {
    bool back = isV && stage / ranks % 2;
    map[stage] = back ? ranks - 1 - stage % ranks : stage % ranks;
  }
  return map;
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
  letters.resize(ranks * numLetters());
  for (unsigned rank = 0; rank != ranks; ++rank)
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
        own.taken = kind == LetterF ? figures.taken() : 0;
        own.given = kind == LetterI   ? figures.givenByI
                    : kind == LetterW ? figures.givenByW
                                      : 0;
        if (kind == LetterF)
          own.before = chunk ? int(letter(LetterF, chunk - 1)) : -1;
        else if (kind == LetterI)
          own.before = chunk + 1 == chunks ? int(letter(LetterF, chunk))
                                           : int(letter(LetterI, chunk + 1));
        else
          own.before = letter(LetterI, chunk);
      }
    }
  auto link = [&](LetterKind kind, unsigned from, unsigned to, Ticks hop) {
    if (map[from] == map[to])
      return;
    unsigned maker = letter(kind, chunkTable[from]);
    unsigned user = letter(kind, chunkTable[to]);
    Letter &source = letters[map[from] * numLetters() + maker];
    Letter &target = letters[map[to] * numLetters() + user];
    target.sourceRank = map[from];
    target.sourceBase = base(map[from], maker);
    target.sourceHop = hop;
    source.userRank = map[to];
    source.userBase = base(map[to], user);
    source.userHop = hop;
  };
  for (unsigned stage = 1; stage < numStages(); ++stage) {
    link(LetterF, stage - 1, stage, stages[stage].hopF);
    link(LetterI, stage, stage - 1, stages[stage - 1].hopI);
  }
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

bool Problem::isSafe(unsigned rank, const uint32_t *started, Ticks held) const {
  if (held > caps[rank])
    return false;
  for (unsigned chunk = 1; chunk < chunks; ++chunk) {
    uint32_t first = started[chunk];
    if (first >= started[0])
      continue;
    Ticks sum = 0;
    for (unsigned q = 0; q != chunks; ++q) {
      Ticks taken = info(rank, letter(LetterF, q)).taken;
      sum += started[q] > first ? taken * (started[q] - first) : taken;
    }
    if (sum > caps[rank])
      return false;
  }
  return true;
}

unsigned Problem::firstWithoutRoom() const {
  for (unsigned rank = 0; rank != ranks; ++rank) {
    Ticks sum = 0;
    for (unsigned chunk = 0; chunk != chunks; ++chunk)
      sum += info(rank, letter(LetterF, chunk)).taken;
    if (sum > caps[rank])
      return rank;
  }
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
      if (own.before >= 0 && counts[own.before] <= counts[letter])
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
