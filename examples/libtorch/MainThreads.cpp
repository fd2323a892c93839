//===- MainThreads.cpp - Trains with any schedule, ranks as threads -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiled with `-DPIPEC_SCHEDULE_ALIAS=compiled -include SOURCE`, where SOURCE
// is what pipec wrote for a schedule; see CMakeLists.txt.
//
//===----------------------------------------------------------------------===//

#include "Threads.h"

int main(int argc, char **argv) {
  return train::trainOnThreads(argc, argv, compiled::schedule,
                               compiled::run<train::ThreadWorker>);
}
