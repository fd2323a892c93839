//===- Report.h - What both programs read and print -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef PIPEC_EXAMPLES_LIBTORCH_REPORT_H
#define PIPEC_EXAMPLES_LIBTORCH_REPORT_H

#include "Model.h"

#include <pipec/runtime/Schedule.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace train {

/// Rounding that sums in another order may show.
inline constexpr double allowedRounding = 1e-12;

/// The number of training steps, from `[--steps N]`; 0 when that is not what
/// `argv` says.
inline int stepsOf(int argc, char **argv) {
  if (argc == 1)
    return 5;
  return argc == 3 && std::strcmp(argv[1], "--steps") == 0 ? std::atoi(argv[2])
                                                           : 0;
}

inline Config configOf(const pipec::runtime::Schedule &schedule) {
  return {schedule.stages, schedule.microbatches, schedule.forwardOnly};
}

inline void printHeading(const pipec::runtime::Schedule &schedule,
                         const char *what, const Reference &reference) {
  std::printf("%s: %d ranks as %s, %d stages, %d micro-batches, %zu "
              "parameters of torch::nn modules\n",
              schedule.name, schedule.ranks, what, schedule.stages,
              schedule.microbatches, reference.numParameters());
}

inline void printStep(int step, double loss, double unpipelined) {
  std::printf("step %d: loss %.15f, unpipelined %.15f\n", step, loss,
              unpipelined);
}

/// The closing lines; true when losses and gradients are equal.
inline bool printVerdict(double loss, double gradient) {
  std::printf("largest difference: losses %g, gradients %g\n", loss, gradient);
  bool equal = loss <= allowedRounding && gradient <= allowedRounding;
  std::printf("%s\n",
              !equal ? "DIFFERENT: not what PyTorch gives without a pipeline"
              : loss == 0 && gradient == 0
                  ? "equal: what PyTorch gives without a pipeline, bit for bit"
                  : "equal: what PyTorch gives without a pipeline, up to the "
                    "rounding of sums in another order (1e-12 allowed)");
  return equal;
}

} // namespace train

#endif // PIPEC_EXAMPLES_LIBTORCH_REPORT_H
