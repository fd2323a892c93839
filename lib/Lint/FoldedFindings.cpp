//===- FoldedFindings.cpp - Findings, one per statement -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Lint/FoldedFindings.h"

#include "Support/Words.h"

using namespace llvm;

namespace pipec {

void FoldedFindings::add(const Diagnostic &finding) {
  auto [it, isNew] = numbers.try_emplace(
      {finding.id, finding.severity, finding.range.Start.getPointer(),
       finding.range.End.getPointer(),
       finding.place && finding.range.isValid() ? "" : finding.message},
      all.size());
  if (isNew)
    all.push_back({finding, 0, {}});
  Folded &folded = all[it->second];
  ++folded.count;
  if (finding.place)
    folded.ranks.insert(finding.place->rank);
}

/// `rank 2`, `ranks 0 to 3` or `ranks 0, 2`.
static std::string ranksText(ArrayRef<unsigned> ranks) {
  if (ranks.size() == 1)
    return "rank " + std::to_string(ranks.front());
  bool isRange = ranks.back() - ranks.front() + 1 == ranks.size();
  return "ranks " + (isRange ? std::to_string(ranks.front()) + " to " +
                                   std::to_string(ranks.back())
                             : listText(ranks));
}

std::vector<Diagnostic> FoldedFindings::take() {
  std::vector<Diagnostic> findings;
  for (Folded &folded : all) {
    Diagnostic &finding = folded.first;
    if (folded.count > 1 && !folded.ranks.empty()) {
      finding.ranks.assign(folded.ranks.begin(), folded.ranks.end());
      std::string ranks = ranksText(finding.ranks);
      finding.message +=
          folded.count == folded.ranks.size()
              ? " (" + ranks + ")"
              : " (" + countText(folded.count, "step") + " of " + ranks + ")";
    }
    findings.push_back(std::move(finding));
  }
  all.clear();
  numbers.clear();
  return findings;
}

} // namespace pipec
