//===- Replay.h - Times by the equations of the model -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The start of every step of a small schedule, computed directly by the
// equations of the model: each time is the latest of the times that it depends
// on. Uses exact fractions and nothing of lib/Simulation.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_UNITTESTS_SIMULATION_REPLAY_H
#define PIPEC_UNITTESTS_SIMULATION_REPLAY_H

#include "IR/Schedule.h"
#include "Waiting/WaitModel.h"

#include <map>
#include <optional>
#include <vector>

namespace pipec::test {

/// The times of a schedule that finishes under `model`; without a model, the
/// times of its compute steps under free arrival.
class Replay {
public:
  Replay(const Schedule &schedule, std::optional<WaitModel> model)
      : schedule(schedule), model(model) {}

  /// When the compute step at `index` of `rank` starts.
  Rational computeStart(unsigned rank, size_t index);
  /// When the P2P step at `index` of `rank` starts; a send, once its edge is
  /// free.
  Rational transferStart(unsigned rank, size_t index);
  /// When the rank passes the wait for a send at `index`.
  Rational waitEnd(unsigned rank, size_t index);
  Rational makespan();

private:
  using Place = std::pair<unsigned, size_t>;

  size_t groupBegin(unsigned rank, size_t index) const;
  Rational duration(unsigned rank, size_t begin) const;
  Rational computeEnd(unsigned rank, size_t index);
  /// When the rank reaches the group at `begin`.
  Rational reached(unsigned rank, size_t begin);
  std::optional<Place> findStep(StepKind kind, unsigned stage,
                                unsigned microbatch) const;
  std::vector<unsigned> producers(Step step) const;
  Rational arrival(unsigned rank, Step step);
  Rational opStart(Place op);
  Rational opComplete(Place op);
  std::optional<Place> sendBefore(Place send) const;
  Rational edgeStart(Place send);
  bool isHeld(unsigned rank, size_t begin) const;
  bool sameQueue(unsigned rank, Step a, Step b) const;
  Place other(Place op) const;
  Rational hop(unsigned from, unsigned to) const;

  const Schedule &schedule;
  std::optional<WaitModel> model;
  std::map<Place, Rational> starts, reaches, opStarts, completes, edgeStarts;
};

} // namespace pipec::test

#endif // PIPEC_UNITTESTS_SIMULATION_REPLAY_H
