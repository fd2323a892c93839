//===- MainThreads.cpp - Trains with any schedule, ranks as threads -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiled with the source that pipec wrote for a schedule:
//
//   pipec one_f_one_b -Dranks=4 -Dmicrobatches=8 --emit=cpp -o demo.h
//   c++ -std=c++20 -O2 -I include -I /usr/include/eigen3
//       -DPIPEC_SCHEDULE_ALIAS=compiled -include demo.h
//       examples/train/MainThreads.cpp examples/train/Threads.cpp
//       examples/train/Compare.cpp examples/train/Network.cpp -pthread -o demo
//   ./demo
//
//===----------------------------------------------------------------------===//

#include "Threads.h"

int main(int argc, char **argv) {
  return train::trainOnThreads(argc, argv, compiled::schedule,
                               compiled::run<train::ThreadWorker>);
}
