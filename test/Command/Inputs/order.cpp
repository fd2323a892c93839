// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prints the result of pipec/order.h for a file of lists and weights.
#include <pipec/order.h>

#include <cstdio>
#include <fstream>

int main(int, char **argv) {
  pipec::order::Lists lists;
  std::ifstream file(argv[1]);
  if (!lists.read(file))
    return 1;
  std::vector<double> weights(lists.microbatches);
  std::ifstream numbers(argv[2]);
  for (double &weight : weights)
    numbers >> weight;
  pipec::order::Result best = pipec::order::find(lists, weights);
  for (uint32_t number : best.order)
    std::printf(number == best.order.back() ? "%u\n" : "%u ", number);
  std::printf("makespan %g (given %g, bound %g)\n", best.makespan, best.given,
              best.bound);
}
