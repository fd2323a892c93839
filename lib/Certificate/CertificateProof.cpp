//===- CertificateProof.cpp - The proof of a certificate ------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every step has a window: its earliest start and its latest end in a schedule
// of the refuted makespan. Windows are narrowed along the order of data and of
// micro-batches, and by all orders of one rank, with a table of everything that
// the rank can have done. When a window is too small for its step, or a rank
// has no order left, there is no such schedule (docs/Rationale/Bounds.md).
//
//===----------------------------------------------------------------------===//

#include "Certificate/Certificate.h"
#include "Support/Diagnostics/SearchDiags.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

#include <algorithm>
#include <bit>
#include <queue>

using namespace llvm;

namespace pipec {

namespace {

class Proof {
public:
  Proof(const Certificate &certificate, DiagEngine &diags)
      : certificate(certificate), diags(diags),
        kinds(certificate.split ? 3 : 2), m(certificate.microbatches) {
    size_t steps = size_t(kinds) * certificate.stages * m;
    starts.assign(steps, 0);
    ends.assign(steps, certificate.refuted);
    stagesOf.resize(certificate.ranks);
    for (auto [stage, rank] : enumerate(certificate.map))
      stagesOf[rank].push_back(stage);
  }

  LogicalResult run() {
    if (narrowPaths())
      return success();
    for (unsigned rank : certificate.rounds) {
      FailureOr<bool> left = narrowRank(rank);
      if (failed(left))
        return failure();
      if (!*left || narrowPaths())
        return success();
    }
    if (certificate.machine && takesTooLong(*certificate.machine))
      return success();
    return diags.report(certificate.byPlace, diag::CertificateOpen,
                        certificate.refuted);
  }

private:
  /// The counts of the letters of a rank, packed.
  using Key = std::pair<uint64_t, uint64_t>;
  struct State {
    Key key;
    int64_t earliest;
    int64_t latest = -1;
  };
  static constexpr size_t maxStates = 3'000'000;

  size_t step(unsigned kind, unsigned stage, unsigned j) const {
    return (size_t(kind) * certificate.stages + stage) * m + j;
  }
  int64_t time(unsigned kind, unsigned stage) const {
    return certificate.model[stage].times[kind];
  }

  bool narrowPaths();
  FailureOr<bool> narrowRank(unsigned rank);
  bool takesTooLong(unsigned rank) const;

  /// Calls `visit(from, to, hop)` for what each step of a micro-batch waits
  /// for, kinds and stages as pairs, in an order in which it is known.
  template <typename Visitor> void forDataArcs(Visitor visit) const {
    unsigned stages = certificate.stages;
    for (unsigned s = 1; s < stages; ++s)
      visit(0, s - 1, 0, s, certificate.model[s].hops[0]);
    for (unsigned s = stages; s-- != 0;) {
      visit(0, s, 1, s, 0);
      if (s + 1 != stages)
        visit(1, s + 1, 1, s, certificate.model[s].hops[1]);
      if (kinds == 3)
        visit(1, s, 2, s, 0);
    }
  }

  const Certificate &certificate;
  DiagEngine &diags;
  unsigned kinds;
  unsigned m;
  /// By kind, stage and micro-batch.
  std::vector<int64_t> starts, ends;
  std::vector<std::vector<unsigned>> stagesOf;
};

} // namespace

/// Moves starts and ends along data and the order of micro-batches, until
/// nothing changes. True when a window is too small.
bool Proof::narrowPaths() {
  for (bool changed = true; changed;) {
    changed = false;
    auto arc = [&](size_t from, int64_t fromTime, size_t to, int64_t toTime,
                   int64_t hop) {
      int64_t start = starts[from] + fromTime + hop;
      int64_t end = ends[to] - toTime - hop;
      if (starts[to] < start) {
        starts[to] = start;
        changed = true;
      }
      if (ends[from] > end) {
        ends[from] = end;
        changed = true;
      }
    };
    auto arcsOf = [&](unsigned j) {
      forDataArcs([&](unsigned kind, unsigned stage, unsigned toKind,
                      unsigned toStage, int64_t hop) {
        arc(step(kind, stage, j), time(kind, stage), step(toKind, toStage, j),
            time(toKind, toStage), hop);
      });
      if (j + 1 == m)
        return;
      for (unsigned kind = 0; kind != kinds; ++kind)
        for (unsigned stage = 0; stage != certificate.stages; ++stage)
          arc(step(kind, stage, j), time(kind, stage), step(kind, stage, j + 1),
              time(kind, stage), 0);
    };
    for (unsigned j = 0; j != m; ++j)
      arcsOf(j);
    for (unsigned j = m; j-- != 0;)
      arcsOf(j);
    // A window that is too small stays so.
    for (unsigned kind = 0; kind != kinds; ++kind)
      for (unsigned stage = 0; stage != certificate.stages; ++stage)
        for (unsigned j = 0; j != m; ++j)
          if (size_t i = step(kind, stage, j);
              starts[i] + time(kind, stage) > ends[i])
            return true;
  }
  return false;
}

/// Jackson's rule: whether the steps of a rank take longer than there is, even
/// if they may be interrupted.
bool Proof::takesTooLong(unsigned rank) const {
  struct Job {
    int64_t start, left, end;
  };
  std::vector<Job> jobs;
  for (unsigned kind = 0; kind != kinds; ++kind)
    for (unsigned stage : stagesOf[rank])
      for (unsigned j = 0; j != m; ++j) {
        size_t i = step(kind, stage, j);
        jobs.push_back({starts[i], time(kind, stage), ends[i]});
      }
  llvm::sort(jobs,
             [](const Job &a, const Job &b) { return a.start < b.start; });
  auto later = [](const Job &a, const Job &b) { return a.end > b.end; };
  std::priority_queue<Job, std::vector<Job>, decltype(later)> open(later);
  int64_t now = 0;
  for (size_t next = 0; next != jobs.size() || !open.empty();) {
    if (open.empty())
      now = std::max(now, jobs[next].start);
    while (next != jobs.size() && jobs[next].start <= now)
      open.push(jobs[next++]);
    Job job = open.top();
    open.pop();
    int64_t until = now + job.left;
    if (next != jobs.size())
      until = std::min(until, jobs[next].start);
    job.left -= until - now;
    now = until;
    if (job.left)
      open.push(job);
    else if (now > job.end)
      return true;
  }
  return false;
}

/// Narrows the windows of one rank to those of its orders. False when it has
/// none.
FailureOr<bool> Proof::narrowRank(unsigned rank) {
  ArrayRef<unsigned> stages = stagesOf[rank];
  unsigned chunks = stages.size(), letters = kinds * chunks;
  unsigned bits = std::bit_width(m);
  auto tooLarge = [&] {
    return diags.report(certificate.byPlace, diag::CertificateTooLarge, rank);
  };
  // One value of the table is never a key.
  if (letters * bits > 120)
    return tooLarge();
  auto pack = [&](ArrayRef<unsigned> counts) {
    unsigned __int128 key = 0;
    for (unsigned count : counts)
      key = key << bits | count;
    return Key(uint64_t(key >> 64), uint64_t(key));
  };
  auto unpack = [&](Key key, MutableArrayRef<unsigned> counts) {
    unsigned __int128 rest = (unsigned __int128)key.first << 64 | key.second;
    for (unsigned i = letters; i-- != 0; rest >>= bits)
      counts[i] = unsigned(rest & ((1u << bits) - 1));
  };
  // The letters in the order in which one micro-batch runs; W after its I.
  auto kindOf = [&](unsigned letter) { return letter / chunks; };
  auto stageOf = [&](unsigned letter) { return stages[letter % chunks]; };
  auto predecessor = [&](unsigned letter) -> int {
    unsigned chunk = letter % chunks;
    switch (kindOf(letter)) {
    case 0:
      return chunk ? int(letter) - 1 : -1;
    case 1:
      return chunk + 1 == chunks ? int(chunk) : int(letter) + 1;
    default:
      return int(letter - chunks);
    }
  };
  /// The cap and lemma 2.
  auto isSafe = [&](ArrayRef<unsigned> counts) {
    auto taken = [&](unsigned chunk) {
      const Certificate::Stage &own = certificate.model[stages[chunk]];
      return own.given[0] + own.given[1];
    };
    int64_t held = 0;
    for (unsigned chunk = 0; chunk != chunks; ++chunk) {
      int64_t f = counts[chunk], i = counts[chunks + chunk];
      held += taken(chunk) * (f - i);
      if (kinds == 3)
        held += certificate.model[stages[chunk]].given[1] *
                (i - int64_t(counts[2 * chunks + chunk]));
    }
    if (held > certificate.caps[rank])
      return false;
    for (unsigned chunk = 1; chunk < chunks; ++chunk) {
      if (counts[chunk] >= counts[0])
        continue;
      int64_t sum = 0;
      for (unsigned q = 0; q != chunks; ++q)
        sum += taken(q) * std::max<int64_t>(
                              int64_t(counts[q]) - int64_t(counts[chunk]), 1);
      if (sum > certificate.caps[rank])
        return false;
    }
    return true;
  };

  // The states by how many steps were run.
  std::vector<std::vector<State>> layers = {
      {{pack(SmallVector<unsigned>(letters)), 0}}};
  std::vector<unsigned> counts(letters);
  DenseMap<Key, uint32_t> numbers;
  size_t total = 0;
  unsigned length = letters * m;
  for (unsigned done = 0; done != length; ++done) {
    std::vector<State> next;
    numbers.clear();
    for (const State &state : layers.back()) {
      unpack(state.key, counts);
      for (unsigned letter = 0; letter != letters; ++letter) {
        unsigned j = counts[letter];
        int before = predecessor(letter);
        if (j == m || (before >= 0 && counts[before] <= j))
          continue;
        size_t i = step(kindOf(letter), stageOf(letter), j);
        int64_t end = std::max(state.earliest, starts[i]) +
                      time(kindOf(letter), stageOf(letter));
        if (end > ends[i])
          continue;
        ++counts[letter];
        if (kindOf(letter) != 0 || isSafe(counts)) {
          Key key = pack(counts);
          auto [it, isNew] = numbers.try_emplace(key, next.size());
          if (isNew)
            next.push_back({key, end});
          else
            next[it->second].earliest =
                std::min(next[it->second].earliest, end);
        }
        --counts[letter];
      }
    }
    if (next.empty())
      return false;
    total += next.size();
    if (total > maxStates)
      return tooLarge();
    layers.push_back(std::move(next));
  }

  std::vector<int64_t> newStarts(starts.size(), -1), newEnds(starts.size(), -1);
  layers.back().front().latest = certificate.refuted;
  for (unsigned done = length; done-- != 0;) {
    numbers.clear();
    for (auto [i, state] : enumerate(layers[done + 1]))
      numbers.try_emplace(state.key, uint32_t(i));
    for (State &state : layers[done]) {
      unpack(state.key, counts);
      for (unsigned letter = 0; letter != letters; ++letter) {
        unsigned j = counts[letter];
        int before = predecessor(letter);
        if (j == m || (before >= 0 && counts[before] <= j))
          continue;
        ++counts[letter];
        auto it = numbers.find(pack(counts));
        --counts[letter];
        if (it == numbers.end())
          continue;
        size_t i = step(kindOf(letter), stageOf(letter), j);
        int64_t start = std::max(state.earliest, starts[i]);
        int64_t end = std::min(layers[done + 1][it->second].latest, ends[i]);
        int64_t last = end - time(kindOf(letter), stageOf(letter));
        if (start > last)
          continue;
        state.latest = std::max(state.latest, last);
        if (newStarts[i] < 0 || start < newStarts[i])
          newStarts[i] = start;
        newEnds[i] = std::max(newEnds[i], end);
      }
    }
  }
  if (layers.front().front().latest < 0)
    return false;
  for (unsigned kind = 0; kind != kinds; ++kind)
    for (unsigned stage : stages)
      for (unsigned j = 0; j != m; ++j) {
        size_t i = step(kind, stage, j);
        starts[i] = newStarts[i];
        ends[i] = newEnds[i];
      }
  return true;
}

LogicalResult checkProof(const Certificate &certificate, DiagEngine &diags) {
  return Proof(certificate, diags).run();
}

} // namespace pipec
