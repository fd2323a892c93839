//===- ProofText.h - Certificates for all sizes -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The claims of a proof as text (docs/Prove.md), which is checked without the
// program: that the program makes these lists is the only part of the proof
// that the text does not contain.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Prove/LineBound.h"
#include "Prove/PatternProof.h"
#include "Support/DiagEngine.h"

#include "llvm/Support/raw_ostream.h"

namespace pipec {

/// The schedules with `microbatches.at(x)` micro-batches, for x >= `least`.
struct ProofFamily {
  Affine microbatches, units;
  int64_t least = 0;
  std::vector<RankPattern> ranks;
};

/// The families of a proof: one for each residue of the period.
struct ProofText {
  /// The number of ticks in a unit of time.
  int64_t perUnit = 1;
  std::vector<ProofFamily> families;
  /// A lower bound for all schedules, if a search has one.
  std::optional<LineBound> bound;
};

/// True for the text of such a certificate.
bool isProofText(llvm::StringRef text);
void writeProofText(const ProofText &proof, llvm::raw_ostream &os);
/// Reports text that is not a certificate.
llvm::FailureOr<ProofText> readProofText(llvm::StringRef text,
                                         DiagEngine &diags);

/// The result of checking a certificate.
struct CheckedProof {
  /// With these numbers of micro-batches or any larger ones of the same family
  /// the schedule is valid and completes.
  int64_t from = 0, step = 1;
  size_t families = 0;
  /// The time that `step` further micro-batches add.
  Rational rate;
  /// The makespan of the family that the schedule belongs to.
  Line makespan;
  std::optional<ProvenLine> bound;
};

/// Checks the proof, and that `schedule`, whose placement and costs apply to
/// all sizes, belongs to a family of it. Reports the first failure.
llvm::FailureOr<CheckedProof> checkProofText(const ProofText &proof,
                                             const Schedule &schedule,
                                             DiagEngine &diags);

} // namespace pipec
