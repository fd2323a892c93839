//===- OrderChecker.h - The parts of a certificate of an order --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Certificate/CertificateLines.h"
#include "Certificate/OrderCertificate.h"
#include "Cost/UnitColumns.h"
#include "Support/Diagnostics/AnalysisDiags.h"

#include "llvm/ADT/STLExtras.h"

#include <map>
#include <set>

namespace pipec {

using Wide = __int128;

/// The compute steps of a rank, by number.
struct ComputeStep {
  Step step;
  /// The steps of its overlap: the number of the first, and the end.
  unsigned begin, end;
  /// Its time for a micro-batch of weight 1, and the factor of its overlap,
  /// later in parts of the common unit.
  Rational time;
  int64_t ticks = 0;
};

/// A chain of steps: its time apart from micro-batches, and by row of weights
/// and position the time for each part of a weight there.
struct Chain {
  int64_t fixed = 0;
  std::map<uint32_t, int64_t> shares;
};

/// The numbers of one mean, in which chains count `total` times in all.
struct Mean {
  std::vector<Wide> shares;
  Wide fixed = 0;
  Wide total = 0;
};

class OrderChecker : CertificateLines {
public:
  OrderChecker(llvm::StringRef text, const Schedule &schedule,
               DiagEngine &diags)
      : CertificateLines(text, diags), schedule(schedule),
        m(schedule.numMicrobatches()) {}

  llvm::FailureOr<CheckedOrder> run() {
    if (llvm::failed(refuseMicrobatchFigures(schedule,
                                             "a certificate of an order", diags,
                                             /*takesStages=*/true)) ||
        !readProblem() || !makeSteps() || !readOrder() || !readPaths() ||
        !readCases())
      return llvm::failure();
    return result;
  }

private:
  bool readProblem();
  bool makeSteps();
  bool readOrder();
  bool readPaths();
  bool readPath(Chain &chain);
  bool readMean(Mean &mean);
  bool readCases();
  bool readCase(const Mean &around);
  bool differs(const llvm::Twine &what, const llvm::Twine &here,
               const llvm::Twine &there) {
    (void)diags.report(place(), diag::CertificateDiffers, what.str(),
                       here.str(), there.str());
    return false;
  }
  bool tooLarge() {
    (void)diags.report(schedule.source, diag::CostsTooFine);
    return false;
  }
  bool feeds(const ComputeStep &from, const ComputeStep &to) const;
  bool isEqual(unsigned a, unsigned b) const {
    return llvm::all_of(weights,
                        [&](const auto &row) { return row[a] == row[b]; });
  }
  Wide leastOf(const Mean &mean) const;
  Wide assigned(const Mean &mean, llvm::ArrayRef<unsigned> positions,
                llvm::ArrayRef<unsigned> data) const;

  const Schedule &schedule;
  const unsigned m;
  CheckedOrder result;
  /// By row and micro-batch of the batch; then times `weightUnit`.
  std::vector<std::vector<Rational>> given;
  std::vector<std::vector<int64_t>> weights;
  /// All times are whole numbers of 1/(timeUnit weightUnit).
  int64_t timeUnit = 1, weightUnit = 1;
  std::vector<std::vector<ComputeStep>> ranks;
  std::set<std::pair<unsigned, unsigned>> edges;
  std::vector<Chain> chains;
  /// The micro-batches and the positions of the case at hand.
  std::vector<std::pair<unsigned, unsigned>> fixed;
  std::vector<bool> isFixed, isPlaced;
};

} // namespace pipec
