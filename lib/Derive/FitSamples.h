//===- FitSamples.h - Measured figures to fit -------------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_DERIVE_FITSAMPLES_H
#define PIPEC_DERIVE_FITSAMPLES_H

#include "Support/Rational.h"

#include "llvm/ADT/ArrayRef.h"

#include <string>
#include <utility>
#include <vector>

namespace pipec {

/// One measurement: the values of the variables, and those of the components of
/// the figure.
struct FitSample {
  std::vector<int64_t> variables;
  std::vector<Rational> values;
  /// Formulas are not fitted to this sample, only compared with it.
  bool heldOut = false;
  /// False if the figure has no values here; no formula may include the sample.
  bool known = true;
};

/// What formulas are fitted to. All samples have the same number of variables
/// and the same number of components.
struct FitSamples {
  /// The names of the variables, in the order in which formulas have them.
  std::vector<std::string> names;
  /// The pairs of variables of which one may be divided by the other.
  std::vector<std::pair<unsigned, unsigned>> divisions;
  std::vector<FitSample> samples;

  size_t numComponents() const {
    return samples.empty() ? 0 : samples.front().values.size();
  }
};

/// Chooses the samples that are held out, by their first `sizeVariables`
/// variables, so that samples of one size stay together: those with the largest
/// value of a variable that has at least four values, and about a third of the
/// others. The choice depends on the values of the variables only.
void holdOut(FitSamples &samples, size_t sizeVariables);

/// True if each variable has three values among `subset`, or all that it has.
/// What holds for one or two values of a variable may be a coincidence.
bool isSpread(const FitSamples &samples, llvm::ArrayRef<unsigned> subset);

} // namespace pipec

#endif // PIPEC_DERIVE_FITSAMPLES_H
