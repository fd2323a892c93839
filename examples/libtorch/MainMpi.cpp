//===- MainMpi.cpp - Trains with any schedule, ranks as MPI processes -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiled with `-DPIPEC_SCHEDULE_ALIAS=compiled -include SOURCE`, where SOURCE
// is what pipec wrote for a schedule; see CMakeLists.txt.
//
//===----------------------------------------------------------------------===//

#include "Mpi.h"

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int status = train::trainOnMpi(argc, argv, compiled::schedule,
                                 compiled::run<train::MpiWorker>);
  MPI_Finalize();
  return status;
}
