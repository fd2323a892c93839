//===- CertificateWindows.h - The windows of a proof ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every step has a window: its earliest start and its latest end in a schedule
// of the refuted makespan.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Certificate/Certificate.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <algorithm>

namespace pipec {

struct ProofWindows {
  /// From 0 to the refuted makespan.
  explicit ProofWindows(const Certificate &certificate);

  using Letter = Certificate::Letter;

  /// The number of a step: a letter and a micro-batch.
  size_t step(Letter letter, unsigned j) const {
    return (size_t(letter.kind) * certificate->stages + letter.stage) * m + j;
  }
  int64_t time(Letter letter) const {
    return certificate->model[letter.stage].times[letter.kind];
  }
  /// By letter, which is `kind * chunks + chunk`: the letters of the rank whose
  /// n-th occurrences precede its own. The rank has at most 64 chunks.
  std::vector<std::vector<unsigned>> lettersBefore(unsigned rank) const;
  /// True if every micro-batch that the rank has started on some chunks can be
  /// started on its other chunks within the cap (lemma 2). `counts` are how
  /// often each letter has run; only the counts of F are used.
  bool canFollow(unsigned rank, const std::vector<unsigned> &counts) const;

  const Certificate *certificate;
  /// The number of kinds of steps, and of micro-batches.
  unsigned kinds, m;
  std::vector<std::vector<unsigned>> stagesOf;
  /// By kind, stage and micro-batch.
  std::vector<int64_t> starts, ends;
};

/// The windows that the orders of a rank leave to its steps.
class KeptWindows {
public:
  explicit KeptWindows(const ProofWindows &windows)
      : starts(windows.starts.size(), -1), ends(windows.starts.size(), -1) {}

  /// An order in which `step` can begin at `start` and end at `end`.
  void add(size_t step, int64_t start, int64_t end) {
    if (starts[step] < 0 || start < starts[step])
      starts[step] = start;
    ends[step] = std::max(ends[step], end);
  }
  /// Narrows the steps of `rank` of the first `kinds` kinds.
  void store(ProofWindows &windows, unsigned rank, unsigned kinds) const {
    for (unsigned kind = 0; kind != kinds; ++kind)
      for (unsigned stage : windows.stagesOf[rank])
        for (unsigned j = 0; j != windows.m; ++j) {
          size_t step = windows.step({kind, stage}, j);
          windows.starts[step] = starts[step];
          windows.ends[step] = ends[step];
        }
  }

private:
  /// By step; -1 without an order.
  std::vector<int64_t> starts, ends;
};

/// The orders that remain for a rank.
enum class OrdersLeft { Some, None, TooManyStates };

/// Calls `visit(from, to, hop)`, with two letters, for each dependence between
/// steps of a micro-batch, in topological order.
template <typename Visitor>
void forEachDataArc(const ProofWindows &windows, Visitor visit) {
  using Letter = Certificate::Letter;
  enum : unsigned { F, I, W };
  const Certificate &certificate = *windows.certificate;
  for (const Certificate::Edge &edge : certificate.edges)
    visit(Letter{F, edge.from}, Letter{F, edge.to}, edge.hops[0]);
  for (unsigned stage = 0; stage != certificate.stages; ++stage)
    visit(Letter{F, stage}, Letter{I, stage}, 0);
  for (size_t i = certificate.edges.size(); i-- != 0;) {
    const Certificate::Edge &edge = certificate.edges[i];
    visit(Letter{I, edge.to}, Letter{I, edge.from}, edge.hops[1]);
  }
  for (unsigned stage = 0; windows.kinds == 3 && stage != certificate.stages;
       ++stage)
    visit(Letter{I, stage}, Letter{W, stage}, 0);
}

/// Narrows the windows of the steps of a rank to the times in its orders.
/// Without `withW`, narrows only F and I (B); W may then be interrupted.
OrdersLeft narrowRank(ProofWindows &windows, unsigned rank, bool withW);

/// By kind and chunk: how often each letter of a rank has started.
using LetterCounts = std::vector<unsigned>;

/// The least sum, over the orders of a rank, of the time of each step times
/// `costOf` the counts after its start. Orders as in `narrowRank`, without
/// windows. Nothing remains if a cost is negative.
OrdersLeft leastCost(ProofWindows &windows, unsigned rank, bool withW,
                     llvm::function_ref<int64_t(const LetterCounts &)> costOf,
                     __int128 &least);

/// None if the charges exceed the refuted makespan.
OrdersLeft checkCharges(ProofWindows &windows,
                        const Certificate::Charges &charges);

} // namespace pipec
