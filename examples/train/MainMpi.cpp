//===- MainMpi.cpp - Trains with any schedule, ranks as MPI processes -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiled with the source that pipec wrote for a schedule:
//
//   pipec one_f_one_b -Dranks=4 -Dmicrobatches=8 --emit=cpp -o demo.h
//   mpicxx -std=c++20 -O2 -I include -I /usr/include/eigen3
//       -DPIPEC_SCHEDULE_ALIAS=compiled -include demo.h
//       examples/train/MainMpi.cpp examples/train/Mpi.cpp
//       examples/train/Compare.cpp examples/train/Network.cpp -o demo
//   mpirun -n 4 ./demo
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
