//===- CertificateProof.cpp - The proof of a certificate ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every step has a window: its earliest start and its latest end in a schedule
// of the refuted makespan. Windows are narrowed along the order of data and of
// micro-batches, and by all orders of one rank (CertificateRank.cpp). When a
// window is too small for its step, a rank has no order left, or charges exceed
// the makespan (CertificateCharges.cpp), there is no such schedule
// (docs/Rationale/Bounds.md).
//
//===----------------------------------------------------------------------===//

#include "Certificate/CertificateWindows.h"
#include "Support/Diagnostics/SearchDiags.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <queue>

using namespace llvm;

namespace pipec {

ProofWindows::ProofWindows(const Certificate &certificate)
    : certificate(&certificate), kinds(certificate.kinds()),
      m(certificate.microbatches), stagesOf(certificate.ranks) {
  size_t steps = size_t(kinds) * certificate.stages * m;
  starts.assign(steps, 0);
  ends.assign(steps, certificate.refuted);
  for (auto [stage, rank] : enumerate(certificate.map))
    stagesOf[rank].push_back(stage);
}

std::vector<std::vector<unsigned>>
ProofWindows::lettersBefore(unsigned rank) const {
  const std::vector<unsigned> &own = stagesOf[rank];
  unsigned chunks = own.size();
  // By stage: the chunks of the rank from which there is a way to it.
  std::vector<uint64_t> sources(certificate->stages);
  for (auto [chunk, stage] : enumerate(own))
    sources[stage] |= uint64_t(1) << chunk;
  for (const Certificate::Edge &edge : certificate->edges)
    sources[edge.to] |= sources[edge.from];
  std::vector<std::vector<unsigned>> before(kinds * chunks);
  for (unsigned to = 0; to != chunks; ++to) {
    for (unsigned from = 0; from != chunks; ++from) {
      if (from != to && (sources[own[to]] >> from & 1)) {
        before[to].push_back(from);
        before[chunks + from].push_back(chunks + to);
      }
      // The last stage follows all F of a micro-batch, and all I follow it.
      before[chunks + to].push_back(from);
    }
    if (kinds == 3)
      before[2 * chunks + to].push_back(chunks + to);
  }
  return before;
}

bool ProofWindows::canFollow(unsigned rank,
                             const std::vector<unsigned> &counts) const {
  const std::vector<unsigned> &own = stagesOf[rank];
  unsigned most =
      *std::max_element(counts.begin(), counts.begin() + own.size());
  for (unsigned chunk = 0; chunk != own.size(); ++chunk) {
    if (counts[chunk] == most)
      continue;
    int64_t sum = 0;
    for (unsigned q = 0; q != own.size(); ++q) {
      const Certificate::Stage &stage = certificate->model[own[q]];
      sum += stage.taken() *
             std::max<int64_t>(int64_t(counts[q]) - int64_t(counts[chunk]), 1);
    }
    if (sum > certificate->caps[rank])
      return false;
  }
  return true;
}

/// Calls `visit` for the letters of all stages.
template <typename Visitor>
static void forEachLetter(const ProofWindows &windows, Visitor visit) {
  for (unsigned kind = 0; kind != windows.kinds; ++kind)
    for (unsigned stage = 0; stage != windows.certificate->stages; ++stage)
      visit(Certificate::Letter{kind, stage});
}

/// Moves starts and ends along data and the order of micro-batches, until
/// nothing changes. True when a window is too small.
static bool narrowPaths(ProofWindows &windows) {
  using Letter = Certificate::Letter;
  unsigned m = windows.m;
  for (bool changed = true; changed;) {
    changed = false;
    auto narrow = [&](Letter from, unsigned fromBatch, Letter to,
                      unsigned toBatch, int64_t hop) {
      size_t first = windows.step(from, fromBatch);
      size_t second = windows.step(to, toBatch);
      int64_t start = windows.starts[first] + windows.time(from) + hop;
      int64_t end = windows.ends[second] - windows.time(to) - hop;
      changed |= windows.starts[second] < start || windows.ends[first] > end;
      windows.starts[second] = std::max(windows.starts[second], start);
      windows.ends[first] = std::min(windows.ends[first], end);
    };
    auto narrowFrom = [&](unsigned j) {
      forEachDataArc(windows, [&](Letter from, Letter to, int64_t hop) {
        narrow(from, j, to, j, hop);
      });
      if (j + 1 != m)
        forEachLetter(windows, [&](Letter letter) {
          narrow(letter, j, letter, j + 1, 0);
        });
    };
    for (unsigned j = 0; j != m; ++j)
      narrowFrom(j);
    for (unsigned j = m; j-- != 0;)
      narrowFrom(j);
    // A window that is too small stays so.
    bool tooSmall = false;
    forEachLetter(windows, [&](Letter letter) {
      for (unsigned j = 0; j != m; ++j) {
        size_t i = windows.step(letter, j);
        tooSmall |= windows.starts[i] + windows.time(letter) > windows.ends[i];
      }
    });
    if (tooSmall)
      return true;
  }
  return false;
}

/// Jackson's rule: true if some step of a rank cannot end in its window, even
/// if steps may be interrupted.
static bool takesTooLong(const ProofWindows &windows, unsigned rank) {
  struct Job {
    int64_t start, left, end;
  };
  std::vector<Job> jobs;
  for (unsigned kind = 0; kind != windows.kinds; ++kind)
    for (unsigned stage : windows.stagesOf[rank])
      for (unsigned j = 0; j != windows.m; ++j) {
        size_t i = windows.step({kind, stage}, j);
        jobs.push_back(
            {windows.starts[i], windows.time({kind, stage}), windows.ends[i]});
      }
  std::ranges::sort(jobs, {}, &Job::start);
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

/// Assumes the case, or its opposite.
static void assume(ProofWindows &windows, const Certificate::Case &split,
                   bool opposite) {
  size_t step = windows.step(split.letter, split.microbatch);
  int64_t &start = windows.starts[step], &end = windows.ends[step];
  if (split.isLater != opposite)
    start = std::max(start, split.time + 1);
  else
    end = std::min(end, split.time + windows.time(split.letter));
}

/// Narrows the windows as a part of a proof says.
static OrdersLeft narrow(ProofWindows &windows, const Certificate::Part &part,
                         unsigned &rank) {
  if (narrowPaths(windows))
    return OrdersLeft::None;
  for (Certificate::Part::Round round : part.rounds) {
    rank = round.rank;
    OrdersLeft left = narrowRank(windows, rank, round.withW);
    if (left != OrdersLeft::Some)
      return left;
    if (narrowPaths(windows))
      return OrdersLeft::None;
  }
  if (part.machine && takesTooLong(windows, *part.machine))
    return OrdersLeft::None;
  if (!part.charges)
    return OrdersLeft::Some;
  rank = part.charges->rank;
  return checkCharges(windows, *part.charges);
}

bool isRefutedAlone(const Certificate &certificate) {
  ProofWindows windows(certificate);
  if (narrowPaths(windows))
    return true;
  for (unsigned rank = 0; rank != certificate.ranks; ++rank)
    if (takesTooLong(windows, rank))
      return true;
  return false;
}

LogicalResult checkProof(const Certificate &certificate, DiagEngine &diags) {
  // The windows of the opposites that are still to come.
  std::vector<ProofWindows> opposites;
  ProofWindows windows(certificate);
  for (const Certificate::Part &part : certificate.proof) {
    unsigned rank = 0;
    OrdersLeft left = narrow(windows, part, rank);
    if (left == OrdersLeft::TooManyStates)
      return diags.report(part.place, diag::CertificateTooLarge, rank);
    if (part.split) {
      opposites.push_back(windows);
      assume(opposites.back(), *part.split, /*opposite=*/true);
      assume(windows, *part.split, /*opposite=*/false);
      continue;
    }
    if (left == OrdersLeft::Some)
      return diags.report(part.place, diag::CertificateOpen,
                          certificate.refuted);
    if (opposites.empty())
      return success();
    windows = std::move(opposites.back());
    opposites.pop_back();
  }
  llvm_unreachable("the reader ends a proof with its last case");
}

} // namespace pipec
