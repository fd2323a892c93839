//===- Samples.cpp - The samples of one figure ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Calibrate/Samples.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

StringRef evidenceText(Evidence evidence) {
  switch (evidence) {
  case Evidence::Device:
    return "device spans";
  case Evidence::WithoutWaits:
    return "spans without waits";
  case Evidence::Executor:
    return "executor spans";
  case Evidence::InputThere:
    return "steps whose input was there";
  case Evidence::LowerQuartile:
    return "lower quartile of spans with waits";
  case Evidence::Transfers:
    return "sends and receives";
  case Evidence::Allocations:
    return "allocations";
  }
  llvm_unreachable("no other evidence");
}

int64_t quartile(ArrayRef<int64_t> sorted, unsigned numerator) {
  return sorted[((sorted.size() - 1) * numerator + 1) / 4];
}

int64_t Samples::typical() {
  constexpr size_t enough = 3;
  if (evidence == Evidence::LowerQuartile &&
      unwaited.size() >= std::min(enough, all.size())) {
    evidence = Evidence::InputThere;
    all = std::move(unwaited);
  }
  llvm::sort(all);
  return quartile(all, evidence == Evidence::LowerQuartile ? 1 : 2);
}

} // namespace pipec
