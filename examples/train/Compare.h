//===- Compare.h - A pipelined run beside an unpipelined one ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reference is the same network on one thread without a pipeline: every
// micro-batch goes through all stages and back, as a whole and one after the
// other, and then comes the update. A pipeline must give the same losses and
// gradients: to the last bit where it adds up the micro-batches of a stage in
// the same order, and else up to the rounding of sums in another order.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_EXAMPLES_TRAIN_COMPARE_H
#define PIPEC_EXAMPLES_TRAIN_COMPARE_H

#include "Model.h"

#include <pipec/runtime/Schedule.h>

#include <string>

namespace train {

/// What one rank found in one or more training steps.
struct Difference {
  double loss = 0;
  double gradient = 0;
  /// Of a stage whose sums must be equal to the last bit.
  double exactGradient = 0;
  /// Of parameters that UPDATE steps have changed.
  double parameter = 0;
  bool allExact = true;

  void merge(const Difference &other);
  /// Nothing differs by more than it may.
  bool isEqual() const;
};

/// Rounding that sums in another order may show, for values of the size that
/// occur here.
inline constexpr double allowedRounding = 1e-12;

/// The network of a schedule.
Config configOf(const pipec::runtime::Schedule &schedule);

/// The unpipelined network, whose micro-batches are not cut into slices.
class Reference {
public:
  explicit Reference(const Config &given);

  /// All micro-batches of one step forth and, unless `forwardOnly`, back.
  void run(int step, bool forwardOnly);
  void update() { model.update(); }
  double loss() const { return model.loss(); }

  /// Compares the gradients that `other` has of the stages that it holds, and
  /// the losses if it holds the last stage. `exactSoFar`: the parameters are
  /// still those of this network to the last bit, so that equal sums are equal.
  Difference compare(Model &other, bool forwardOnly, bool exactSoFar);

  /// Compares the parameters of the stages that `other` holds, after the update
  /// of both.
  Difference compareParameters(Model &other);

  std::size_t numParameters() const;

private:
  Config config;
  Model model;
  std::vector<Kept> kept;
  Carry carry;
  std::vector<Values> outputs;
  Values sum;
  /// For each stage the gradients of its inputs.
  std::vector<std::vector<Values>> gradients;
  std::vector<std::vector<int>> sources, targets;
};

/// Throws if a rank had more activations on the device than its executor has
/// counted.
void checkKept(const Model &model, const pipec::runtime::Schedule &schedule,
               int rank, int counted);

/// The largest counts of a rank, as pipec::runtime::Statistics has them. That
/// of sends is shown where it does not depend on timing.
void printPeaks(int rank, const pipec::runtime::Schedule &schedule,
                int activations, int received, int sends);

/// The closing lines; true when everything is equal.
bool printVerdict(const Difference &difference,
                  const pipec::runtime::Schedule &schedule);

/// The sizes for the first line: `4 stages, 8 micro-batches of 4 points`.
std::string sizesText(const Config &config);

/// `, 3 copies`, nothing for one.
std::string copiesText(int copies);

/// Throws when `copies` copies of a pipeline cannot train this schedule.
void checkCopies(int copies, const pipec::runtime::Schedule &schedule);

/// What the command line says.
struct Arguments {
  int steps = 5;
  double patience = 20;
  bool blocking = false;
  bool blockingReceives = false;
  /// Copies of the pipeline that share the data.
  int copies = 1;
  std::string trace;
};
/// Exits when `argv` says anything else; `print`: and tells how to use the
/// program.
Arguments parseArguments(int argc, char **argv, bool print = true);

} // namespace train

#endif // PIPEC_EXAMPLES_TRAIN_COMPARE_H
