//===- OrderLibrary.cpp - pipec/order.h with an interface of C ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <pipec/order.h>

#include <cmath>
#include <memory>
#include <sstream>
#include <string>

using namespace pipec::order;

#define PIPEC_EXPORT extern "C" __attribute__((visibility("default")))

/// Reads the text of `pipec order --lists`; null if it is something else.
PIPEC_EXPORT void *pipec_order_read(const char *text, size_t length) {
  try {
    auto lists = std::make_unique<Lists>();
    std::istringstream stream(std::string(text, length));
    return lists->read(stream) ? lists.release() : nullptr;
  } catch (const std::bad_alloc &) {
    return nullptr;
  }
}

PIPEC_EXPORT void pipec_order_free(void *lists) {
  delete static_cast<Lists *>(lists);
}

/// Finds an order with `rows` rows of weights, one per micro-batch. Without
/// sizes these are null, and without a limit that is not a number. Returns the
/// order, the times makespan, given and bound, and 1, or 2 if it is optimal; or
/// 0 if none was found, of which the program says why.
PIPEC_EXPORT int pipec_order_find(const void *lists, const double *weights,
                                  size_t rows, const double *sizes,
                                  double limit, uint64_t effort, uint64_t seed,
                                  uint32_t *order, double *times) {
  try {
    const Lists &own = *static_cast<const Lists *>(lists);
    size_t m = own.microbatches;
    std::vector<std::vector<double>> all;
    for (size_t row = 0; row != rows; ++row)
      all.emplace_back(weights + row * m, weights + (row + 1) * m);
    Options options;
    options.effort = effort;
    options.seed = seed;
    if (sizes)
      options.sizes = std::vector<double>(sizes, sizes + m);
    if (!std::isnan(limit))
      options.limit = Amount(limit);
    Result result = find(own, all, options);
    if (result.state != Result::State::Found)
      return 0;
    std::copy(result.order.begin(), result.order.end(), order);
    times[0] = result.makespan;
    times[1] = result.given;
    times[2] = result.bound;
    return result.optimal ? 2 : 1;
  } catch (const std::bad_alloc &) {
    return 0;
  }
}
