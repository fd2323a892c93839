//===- Compare.cpp - A pipelined run beside an unpipelined one ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Compare.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <stdexcept>

namespace train {

namespace {

std::vector<int> allStages(const Config &config) {
  std::vector<int> stages(std::size_t(config.stages));
  std::iota(stages.begin(), stages.end(), 0);
  return stages;
}

Config withoutSlices(Config config) {
  config.slices = 1;
  return config;
}

/// The larger of the two; a NaN counts as infinite.
double worse(double a, double b) {
  return std::isnan(b) ? HUGE_VAL : std::max(a, b);
}

} // namespace

void Difference::merge(const Difference &other) {
  loss = worse(loss, other.loss);
  gradient = worse(gradient, other.gradient);
  exactGradient = worse(exactGradient, other.exactGradient);
  parameter = worse(parameter, other.parameter);
  allExact = allExact && other.allExact;
}

bool Difference::isEqual() const {
  return loss <= allowedRounding && gradient <= allowedRounding &&
         exactGradient == 0 && parameter <= allowedRounding;
}

Config configOf(const pipec::runtime::Schedule &schedule) {
  Config config;
  config.stages = schedule.stages;
  config.microbatches = schedule.microbatches;
  // Slices of different sizes.
  config.slices = schedule.slices;
  config.isSequence = config.slices > 1;
  if (config.isSequence)
    config.batch = 2 * config.slices + 1;
  for (pipec::runtime::StageEdge edge : schedule.edges)
    config.edges.push_back({edge.from, edge.to});
  if (config.edges.empty())
    for (int stage = 1; stage < config.stages; ++stage)
      config.edges.push_back({stage - 1, stage});
  for (std::span<const int> group : schedule.ties)
    config.ties.emplace_back(group.begin(), group.end());
  config.blocksPerStage =
      std::max(config.blocksPerStage, int(config.ties.size()));
  return config;
}

Reference::Reference(const Config &given)
    : config(withoutSlices(given)), model(config, allStages(config)),
      kept(std::size_t(config.stages)), outputs(std::size_t(config.stages)),
      gradients(std::size_t(config.stages)) {
  for (int stage = 0; stage != config.stages; ++stage) {
    sources.push_back(config.sourcesOf(stage));
    targets.push_back(config.targetsOf(stage));
    gradients[std::size_t(stage)].resize(sources.back().size());
  }
}

void Reference::run(int step, bool forwardOnly) {
  model.beginStep(step);
  std::size_t stages = std::size_t(config.stages);
  std::vector<const Values *> in;
  std::vector<Values *> out;
  for (int m = 0; m != config.microbatches; ++m) {
    for (std::size_t s = 0; s != stages; ++s) {
      in.clear();
      for (int source : sources[s])
        in.push_back(&outputs[std::size_t(source)]);
      model.forward(int(s), m, 0, in, s + 1 == stages ? nullptr : &outputs[s],
                    kept[s], carry);
    }
    for (std::size_t s = stages; s-- != 0 && !forwardOnly;) {
      in.clear();
      for (int target : targets[s]) {
        const std::vector<int> &from = sources[std::size_t(target)];
        auto at = std::find(from.begin(), from.end(), int(s)) - from.begin();
        in.push_back(&gradients[std::size_t(target)][std::size_t(at)]);
      }
      out.clear();
      for (Values &gradient : gradients[s])
        out.push_back(&gradient);
      model.backward(int(s), m, 0, in, out, kept[s], carry);
    }
  }
  // All stages are here, so the gradients of a shared parameter are one sum.
  for (int group = 0; group != int(config.ties.size()) && !forwardOnly;
       ++group) {
    const Values *const part = &sum;
    model.exportTied(group, sum);
    model.sumTied(group, {&part, 1});
  }
}

Difference Reference::compare(Model &other, bool forwardOnly, bool exactSoFar) {
  Difference result;
  if (other.holds(config.stages - 1)) {
    std::vector<double> mine = model.microbatchLosses();
    std::vector<double> theirs = other.microbatchLosses();
    std::size_t first = std::size_t(other.firstMicrobatch());
    for (std::size_t i = 0; i != theirs.size(); ++i)
      // In a bidirectional pipeline another rank has the other half.
      if (theirs[i] != 0)
        result.loss = worse(result.loss, std::abs(mine[first + i] - theirs[i]));
  }
  if (forwardOnly)
    return result;
  for (int stage = 0; stage != config.stages; ++stage) {
    if (!other.holds(stage))
      continue;
    const Values &mine = model.gradients(stage);
    const Values &theirs = other.gradients(stage);
    bool exact = exactSoFar && other.addedInOrder(stage);
    result.allExact = result.allExact && exact;
    Shards::Range range = other.ownRange(stage);
    for (std::size_t i = range.begin; i != range.end; ++i) {
      double difference = std::abs(mine[i] - theirs[i]);
      result.gradient = worse(result.gradient, difference);
      if (exact)
        result.exactGradient = worse(result.exactGradient, difference);
    }
  }
  return result;
}

Difference Reference::compareParameters(Model &other) {
  Difference result;
  for (int stage = 0; stage != config.stages; ++stage) {
    if (!other.holds(stage))
      continue;
    const Values &mine = model.parameters(stage);
    const Values &theirs = other.parameters(stage);
    Shards::Range range = other.ownRange(stage);
    for (std::size_t i = range.begin; i != range.end; ++i)
      result.parameter = worse(result.parameter, std::abs(mine[i] - theirs[i]));
  }
  return result;
}

std::size_t Reference::numParameters() const {
  std::size_t count = 0;
  for (int stage = 0; stage != config.stages; ++stage)
    count += model.gradients(stage).size();
  return count;
}

void checkKept(const Model &model, const pipec::runtime::Schedule &schedule,
               int rank, int counted) {
  if (!schedule.forwardOnly && model.peakKept() > counted)
    throw std::runtime_error(
        "rank " + std::to_string(rank) + " had " +
        std::to_string(model.peakKept()) +
        " activations on the device, and its executor has counted " +
        std::to_string(counted));
}

void printPeaks(int rank, const pipec::runtime::Schedule &schedule,
                int activations, int received, int sends) {
  std::printf("rank %d: peak %d activations, %d received tensors", rank,
              activations, received);
  if (schedule.waitsForSends)
    std::printf(", %d sends", sends);
  std::printf("\n");
}

bool printVerdict(const Difference &difference,
                  const pipec::runtime::Schedule &schedule) {
  bool forwardOnly = schedule.forwardOnly;
  std::printf("largest difference: losses %g", difference.loss);
  if (!forwardOnly)
    std::printf(", gradients %g", difference.gradient);
  if (schedule.updates)
    std::printf(", parameters %g", difference.parameter);
  std::printf("\n");
  const char *what = forwardOnly        ? "losses"
                     : schedule.updates ? "losses, gradients and parameters"
                                        : "losses and gradients";
  bool equal = difference.isEqual();
  if (!equal)
    std::printf("DIFFERENT: %s are not those of the unpipelined model\n", what);
  else if (difference.loss == 0 && difference.gradient == 0 &&
           difference.parameter == 0)
    std::printf("equal: %s are those of the unpipelined model, bit for bit\n",
                what);
  else
    std::printf("equal: %s are those of the unpipelined model up to the "
                "rounding of sums in another order (%g allowed)\n",
                what, allowedRounding);
  return equal;
}

std::string sizesText(const Config &config) {
  std::string text = std::to_string(config.stages) + " stages, " +
                     std::to_string(config.microbatches) +
                     " micro-batches of " + std::to_string(config.batch) +
                     " points";
  if (config.slices > 1)
    text += " in " + std::to_string(config.slices) + " slices";
  return text;
}

std::string copiesText(int copies) {
  return copies == 1 ? "" : ", " + std::to_string(copies) + " copies";
}

void checkCopies(int copies, const pipec::runtime::Schedule &schedule) {
  if (copies > 1 && !schedule.reducesGradients)
    throw std::runtime_error("several copies need a schedule with REDUCE_GRAD "
                             "steps (--passes=inject-fsdp,cpp adds them)");
  if (copies > 1 && !schedule.ties.empty())
    throw std::runtime_error("several copies of a network with tied stages");
}

Arguments parseArguments(int argc, char **argv, bool print) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    auto valueOf = [&](const char *option) -> const char * {
      return std::strcmp(argv[i], option) == 0 && i + 1 < argc ? argv[i + 1]
                                                               : nullptr;
    };
    if (const char *value = valueOf("--steps")) {
      arguments.steps = std::atoi(value);
      ++i;
    } else if (const char *value = valueOf("--patience")) {
      arguments.patience = std::atof(value);
      ++i;
    } else if (const char *value = valueOf("--copies")) {
      arguments.copies = std::atoi(value);
      ++i;
    } else if (const char *value = valueOf("--trace")) {
      arguments.trace = value;
      ++i;
    } else if (std::strcmp(argv[i], "--blocking") == 0) {
      arguments.blocking = true;
    } else if (std::strcmp(argv[i], "--blocking-receives") == 0) {
      arguments.blockingReceives = true;
    } else {
      arguments.steps = 0;
      break;
    }
  }
  if (arguments.steps < 1 || arguments.patience <= 0 || arguments.copies < 1) {
    if (print)
      std::fprintf(stderr,
                   "usage: %s [--steps N] [--patience SECONDS] [--blocking] "
                   "[--blocking-receives] [--copies N] [--trace FILE]\n",
                   argv[0]);
    std::exit(2);
  }
  return arguments;
}

} // namespace train
