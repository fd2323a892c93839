//===- FitSamples.cpp - Measured figures to fit ---------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Derive/FitSamples.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <cassert>
#include <set>

using namespace llvm;

namespace pipec {

/// A number that looks random (the finalizer of SplitMix64).
static uint64_t mixed(uint64_t bits) {
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return bits ^ (bits >> 31);
}

void holdOut(FitSamples &samples, size_t sizeVariables) {
  assert(sizeVariables <= samples.names.size() && "there are that many");
  std::vector<std::set<int64_t>> values(sizeVariables);
  for (const FitSample &sample : samples.samples)
    for (size_t i = 0; i != sizeVariables; ++i)
      values[i].insert(sample.variables[i]);
  for (FitSample &sample : samples.samples) {
    uint64_t bits = 0x9e3779b97f4a7c15;
    bool largest = false;
    for (size_t i = 0; i != sizeVariables; ++i) {
      bits = mixed(bits + uint64_t(sample.variables[i]));
      largest |=
          values[i].size() >= 4 && sample.variables[i] == *values[i].rbegin();
    }
    sample.heldOut = largest || bits % 3 == 0;
  }
}

bool isSpread(const FitSamples &samples, ArrayRef<unsigned> subset) {
  constexpr size_t enough = 3;
  auto count = [&](unsigned variable, auto numbers) {
    std::set<int64_t> values;
    for (unsigned number : numbers) {
      values.insert(samples.samples[number].variables[variable]);
      if (values.size() == enough)
        break;
    }
    return values.size();
  };
  auto all = llvm::seq<unsigned>(0, samples.samples.size());
  return llvm::all_of(llvm::seq<unsigned>(0, samples.names.size()),
                      [&](unsigned variable) {
                        size_t own = count(variable, subset);
                        return own == enough || own == count(variable, all);
                      });
}

} // namespace pipec
