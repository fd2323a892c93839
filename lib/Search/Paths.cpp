//===- Paths.cpp - Bounds from paths, and from one rank alone -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Search/Paths.h"

#include <algorithm>
#include <limits>
#include <queue>
#include <tuple>

namespace pipec::search {

//===----------------------------------------------------------------------===//
// Memory arcs
//===----------------------------------------------------------------------===//

/// The arcs of a rank with two chunks, the first of which feeds the second: the
/// table of docs/Rationale/Bounds.md. The other counts are as favourable as the
/// order of the chunks and lemma 2 allow.
static void addArcsOfTwo(const Problem &problem, unsigned rank,
                         std::vector<MemoryArc> &arcs) {
  const StageFigures &first = problem.stages[problem.stageOf(rank, 0)];
  const StageFigures &second = problem.stages[problem.stageOf(rank, 1)];
  Ticks cap = problem.caps[rank];
  Ticks a0 = first.taken(), a1 = second.taken();
  Ticks b0 = first.givenByI, b1 = second.givenByI;
  Ticks w0 = first.givenByW, w1 = second.givenByW;
  Ticks m = problem.microbatches;
  Ticks inFlight = a0 ? std::min((cap - a1) / a0, m) : m;
  auto add = [&](unsigned forward, unsigned letter, Ticks lag) {
    if (lag < m)
      arcs.push_back({uint8_t(forward), uint8_t(letter), uint32_t(lag)});
  };
  auto largest = [&](auto fits) {
    Ticks lag = 0;
    while (lag < m && fits(lag + 1))
      ++lag;
    return lag;
  };
  unsigned f0 = problem.letter(LetterF, 0), f1 = problem.letter(LetterF, 1);
  unsigned i0 = problem.letter(LetterI, 0), i1 = problem.letter(LetterI, 1);
  add(f0, f1, inFlight);
  add(f0, i1, largest([&](Ticks x) {
        return a0 * x + a1 * (x - std::min(x, inFlight)) <= cap;
      }));
  if (a0) {
    add(f0, i0, cap / a0);
    add(f1, i0, (cap - a1) / a0);
  }
  if (a0 + a1)
    add(f1, i1, cap / (a0 + a1));
  if (!problem.split)
    return;
  unsigned v0 = problem.letter(LetterW, 0), v1 = problem.letter(LetterW, 1);
  add(f0, v1, largest([&](Ticks x) {
        Ticks q = a0 <= w1 ? std::min(x, inFlight) : 1;
        return a0 * q + w1 * (x - q) <= cap;
      }));
  if (w0) {
    add(f0, v0, (cap - b0) / w0);
    add(f1, v0, (cap - a1 - b0) / w0);
  }
  if (w1)
    add(f1, v1, (cap - a0 - b1) / w1);
}

/// The arcs of any rank, from the activations of each chunk alone. Until its W
/// has run, a micro-batch holds at least the memory that F or I leaves.
static void addArcsOfEach(const Problem &problem, unsigned rank,
                          std::vector<MemoryArc> &arcs) {
  for (unsigned chunk = 0; chunk != problem.chunks; ++chunk) {
    const StageFigures &own = problem.stages[problem.stageOf(rank, chunk)];
    Ticks cap = problem.caps[rank] - own.during[LetterF];
    Ticks atLeast = std::min(own.taken(), own.givenByW);
    auto forward = uint8_t(problem.letter(LetterF, chunk));
    if (own.taken())
      arcs.push_back(
          {forward, uint8_t(problem.letter(LetterI, chunk)),
           uint32_t(std::min<Ticks>(cap / own.taken(), problem.microbatches))});
    if (problem.split && atLeast)
      arcs.push_back(
          {forward, uint8_t(problem.letter(LetterW, chunk)),
           uint32_t(std::min<Ticks>((cap - own.taken()) / atLeast + 1,
                                    problem.microbatches))});
  }
}

Paths::Paths(const Problem &problem, bool memory)
    : problem(problem), memoryArcs(problem.ranks) {
  for (unsigned rank = 0; memory && rank != problem.ranks; ++rank) {
    auto &arcs = memoryArcs[rank];
    if (problem.chunks == 2 && !problem.hasMoreTakers() &&
        !problem.before(problem.info(rank, problem.letter(LetterF, 1))).empty())
      addArcsOfTwo(problem, rank, arcs);
    else
      addArcsOfEach(problem, rank, arcs);
    std::erase_if(arcs, [&](const MemoryArc &arc) {
      return arc.lag >= problem.microbatches;
    });
  }
}

//===----------------------------------------------------------------------===//
// Paths
//===----------------------------------------------------------------------===//

StepWindows Paths::open(Ticks makespan) const {
  return {std::vector<Ticks>(problem.numSteps(), 0),
          std::vector<Ticks>(problem.numSteps(), makespan)};
}

/// Calls `visit(rank, step, time, hop)` for each step that the step of `letter`
/// and micro-batch `j` follows, `hop` after its end.
template <typename Visitor>
void Paths::forSources(unsigned rank, unsigned letter, uint32_t j,
                       Visitor visit) const {
  const Letter &own = problem.info(rank, letter);
  if (j)
    visit(rank, problem.base(rank, letter) + j - 1, own.time, 0);
  for (uint8_t other : problem.before(own))
    visit(rank, problem.base(rank, other) + j, problem.info(rank, other).time,
          0);
  for (const Transfer &source : problem.sources(own))
    visit(source.rank, source.base + j, problem.infoOf(source.base).time,
          source.hop);
  if (own.kind == LetterF)
    for (const MemoryArc &arc : memoryArcs[rank])
      if (arc.forward == letter && arc.lag <= j)
        visit(rank, problem.base(rank, arc.letter) + j - arc.lag,
              problem.info(rank, arc.letter).time, 0);
}

bool Paths::moveStarts(StepWindows &windows, std::vector<char> *changed) const {
  std::vector<Ticks> &starts = windows.starts;
  bool good = true;
  unsigned stages = problem.numStages();
  for (uint32_t j = 0; j != problem.microbatches; ++j) {
    auto visit = [&](LetterKind kind, unsigned stage) {
      unsigned rank = problem.map[stage];
      unsigned index = problem.letter(kind, problem.chunkOf(stage));
      const Letter &letter = problem.info(rank, index);
      uint32_t step = problem.base(rank, index) + j;
      Ticks start = starts[step];
      forSources(rank, index, j,
                 [&](unsigned, uint32_t other, Ticks time, Ticks hop) {
                   start = std::max(start, starts[other] + time + hop);
                 });
      if (start == starts[step])
        return;
      starts[step] = start;
      good = good && start + letter.time <= windows.ends[step];
      if (changed)
        (*changed)[rank] = true;
    };
    for (unsigned stage = 0; stage != stages; ++stage)
      visit(LetterF, stage);
    for (unsigned stage = stages; stage-- != 0;) {
      visit(LetterI, stage);
      if (problem.split)
        visit(LetterW, stage);
    }
  }
  return good;
}

bool Paths::moveEnds(StepWindows &windows, std::vector<char> *changed) const {
  std::vector<Ticks> &ends = windows.ends;
  bool good = true;
  unsigned stages = problem.numStages();
  // Visits each step after all its successors, and passes its end on to its
  // predecessors.
  for (uint32_t j = problem.microbatches; j-- != 0;) {
    auto visit = [&](LetterKind kind, unsigned stage) {
      unsigned rank = problem.map[stage];
      unsigned index = problem.letter(kind, problem.chunkOf(stage));
      const Letter &letter = problem.info(rank, index);
      uint32_t step = problem.base(rank, index) + j;
      good = good && windows.starts[step] + letter.time <= ends[step];
      Ticks start = ends[step] - letter.time;
      forSources(rank, index, j,
                 [&](unsigned of, uint32_t other, Ticks, Ticks hop) {
                   if (start - hop >= ends[other])
                     return;
                   ends[other] = start - hop;
                   if (changed)
                     (*changed)[of] = true;
                 });
    };
    for (unsigned stage = 0; stage != stages; ++stage) {
      if (problem.split)
        visit(LetterW, stage);
      visit(LetterI, stage);
    }
    for (unsigned stage = stages; stage-- != 0;)
      visit(LetterF, stage);
  }
  return good;
}

bool Paths::narrow(StepWindows &windows, std::vector<char> *changed) const {
  return moveStarts(windows, changed) && moveEnds(windows, changed);
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

/// Far above every makespan; sums of two fit.
static constexpr Ticks far = Problem::maxTicks * 1024;

Ticks Paths::longest() const {
  StepWindows windows = open(far);
  narrow(windows);
  Ticks longest = 0;
  for (uint32_t step = 0; step != problem.numSteps(); ++step)
    longest =
        std::max(longest, windows.starts[step] + far - windows.ends[step] +
                              problem.infoOf(step).time);
  return longest;
}

Ticks Paths::machine(unsigned rank, const StepWindows &windows,
                     Ticks makespan) const {
  uint32_t first = problem.base(rank, 0);
  uint32_t length = problem.wordLength();
  std::vector<uint32_t> byStart(length);
  for (uint32_t i = 0; i != length; ++i)
    byStart[i] = first + i;
  std::sort(byStart.begin(), byStart.end(), [&](uint32_t a, uint32_t b) {
    return std::tie(windows.starts[a], a) < std::tie(windows.starts[b], b);
  });
  // Always runs the available step with the longest tail.
  struct Open {
    Ticks tail;
    Ticks left;
    bool operator<(const Open &other) const { return tail < other.tail; }
  };
  std::priority_queue<Open> open;
  Ticks now = 0, bound = 0;
  for (uint32_t i = 0; i != length || !open.empty();) {
    if (open.empty())
      now = std::max(now, windows.starts[byStart[i]]);
    for (; i != length && windows.starts[byStart[i]] <= now; ++i) {
      uint32_t step = byStart[i];
      open.push({makespan - windows.ends[step], problem.infoOf(step).time});
    }
    Open top = open.top();
    open.pop();
    Ticks until = now + top.left;
    if (i != length)
      until = std::min(until, windows.starts[byStart[i]]);
    top.left -= until - now;
    now = until;
    if (top.left)
      open.push(top);
    else
      bound = std::max(bound, now + top.tail);
  }
  return bound;
}

Ticks Paths::bound() const {
  StepWindows windows = open(far);
  narrow(windows);
  Ticks bound = longest();
  for (unsigned rank = 0; rank != problem.ranks; ++rank)
    bound = std::max(bound, machine(rank, windows, far));
  return bound;
}

} // namespace pipec::search
