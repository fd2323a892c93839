//===- PieceFinder.h - Finding the pieces of a formula ----------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Finds a formula of at most three polynomials for one component of the
// samples. A polynomial is fitted to the samples of a half-space, for each of a
// list of half-spaces; the samples that it does not explain are treated in the
// same way. The formula is then the least or the largest of the polynomials, or
// the choice by a condition that divides the samples.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_DERIVE_PIECEFINDER_H
#define PIPEC_DERIVE_PIECEFINDER_H

#include "Derive/PiecewiseFormula.h"

#include <memory>

namespace pipec {

/// Finds formulas for subsets of the samples, which must outlive it; so must
/// the finder its formulas, whose terms it owns.
class PieceFinder {
public:
  explicit PieceFinder(const FitSamples &samples);
  ~PieceFinder();

  /// Returns a formula that has the exact value of `component` at each sample
  /// of `subset`, of which those that are not held out determine it and at
  /// least one is held out. For a subset that is one case of several
  /// (`divided`), formulas of several pieces have no divisions. Nothing if none
  /// was found.
  std::optional<PiecewiseFormula>
  find(unsigned component, llvm::ArrayRef<unsigned> subset, bool divided);

  /// The largest number of samples of `subset` that one polynomial of degree 1
  /// explains; of several components, the least of these.
  size_t mostExplained(llvm::ArrayRef<unsigned> subset);

private:
  class Family;
  class Attempt;

  const FitSamples &samples;
  std::vector<LinearForm> forms;
  /// By form and sample, the value of the form.
  std::vector<std::vector<int64_t>> formValues;
  /// The families of polynomials, in the order in which they are tried.
  std::vector<std::unique_ptr<Family>> families;
  size_t numWithoutDivision = 0;
  /// The number of equations so far.
  mutable size_t work = 0;
};

/// The first sample that contradicts every polynomial of degree 2 that has the
/// values of the samples before it; nothing if there is none. For figures of
/// one component.
std::optional<unsigned> firstContradiction(const FitSamples &samples);

} // namespace pipec

#endif // PIPEC_DERIVE_PIECEFINDER_H
