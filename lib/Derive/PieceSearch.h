//===- PieceSearch.h - The search for the pieces of a formula ---*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_DERIVE_PIECESEARCH_H
#define PIPEC_DERIVE_PIECESEARCH_H

#include "Derive/PieceFinder.h"

#include "llvm/ADT/BitVector.h"

namespace pipec {

/// The number of equations after which a finder only looks for single
/// polynomials.
inline constexpr size_t maxWork = 1000000;
/// Polynomials of some terms, with the values of the terms at all samples.
class PieceFinder::Family {
public:
  Family(const FitSamples &samples, std::vector<Atom> atoms, unsigned degree)
      : terms(std::move(atoms), degree) {
    for (const FitSample &sample : samples.samples)
      if (!terms.values(sample.variables, rows.emplace_back()))
        rows.back().clear();
  }

  const Terms terms;
  /// By sample; empty where an atom has no value.
  std::vector<std::vector<Residue>> rows;
};

/// A polynomial and the samples that it explains.
struct Piece {
  Polynomial polynomial;
  /// By position in the subset.
  llvm::BitVector explains;
};

/// The search in one family, for one component and subset. Positions are those
/// in the subset.
class PieceFinder::Attempt {
public:
  Attempt(const PieceFinder &finder, const Family &family, unsigned component,
          llvm::ArrayRef<unsigned> subset);

  std::optional<PiecewiseFormula> one();
  std::optional<PiecewiseFormula> several();
  /// The largest number of samples that one polynomial explains.
  size_t mostExplained();

private:
  using Positions = std::vector<unsigned>;

  const FitSample &sample(unsigned position) const {
    return finder.samples.samples[subset[position]];
  }
  bool isDetermined(const Polynomial &polynomial,
                    llvm::ArrayRef<unsigned> positions) const;
  bool isSupported(const Polynomial &polynomial,
                   llvm::ArrayRef<unsigned> positions) const;
  bool mayFit(llvm::ArrayRef<unsigned> positions, llvm::ArrayRef<int64_t> form,
              int64_t bound) const;
  std::optional<Piece> fit(llvm::ArrayRef<unsigned> positions) const;
  std::vector<Piece> pool(llvm::ArrayRef<unsigned> positions) const;
  Positions unexplained(llvm::ArrayRef<const Piece *> pieces) const;
  bool isEverywhere(const PiecewiseFormula &formula,
                    llvm::ArrayRef<unsigned> positions) const;
  std::optional<Condition> separate(llvm::ArrayRef<unsigned> inside,
                                    llvm::ArrayRef<unsigned> outside) const;
  std::optional<PiecewiseFormula>
  compose(const Piece &f, const Piece &g,
          llvm::ArrayRef<unsigned> positions) const;
  std::optional<PiecewiseFormula> compose(const Piece &f, const Piece &g,
                                          const Piece &h) const;
  std::optional<PiecewiseFormula> chooseFirst(const Piece &f, const Piece &g,
                                              const Piece &h) const;
  bool areNeeded(llvm::ArrayRef<const Piece *> pieces) const;

  const PieceFinder &finder;
  const Family &family;
  llvm::ArrayRef<unsigned> subset;
  Positions all;
  /// By position.
  std::vector<Rational> wanted;
  std::vector<Residue> residues;
  bool usable = true;
};

} // namespace pipec

#endif // PIPEC_DERIVE_PIECESEARCH_H
