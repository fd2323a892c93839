//===- one-rank.cpp - Runs an executor for one rank and one stage ---------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled with `-DPIPEC_SCHEDULE_ALIAS=compiled -include SOURCE`. Writes the
// name of the schedule and the steps that ran.
//
//===----------------------------------------------------------------------===//

#include <pipec/runtime/ThreadTransport.h>

#include <cstdio>

struct Model {
  using Tensor = int;
  using Activation = int;
  int stages() const { return 1; }
  int microbatches() const { return compiled::microbatches; }
  void forward(int, int m, int *, int *, int &) { std::printf(" F%d", m); }
  void backward(int, int m, const int *, int *, int &) {
    std::printf(" B%d", m);
  }
  void backwardInput(int, int m, const int *, int *, int &) {
    std::printf(" I%d", m);
  }
  void backwardWeight(int, int m, const int *, int &) { std::printf(" W%d", m); }
};

int main() {
  pipec::runtime::ThreadGroup group(1);
  pipec::runtime::ThreadTransport transport(group, 0);
  Model model;
  pipec::runtime::Executor worker(model, transport);
  std::printf("%s:", compiled::schedule.name);
  compiled::run(0, worker);
  std::printf("\n");
}
