//===- StateScan.cpp - Whether each step finds the state it needs ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step changes the state of one object (States.def, Steps.def). All steps of
// an object are on one rank, so one walk over each list in order, with the
// state of each object, checks that every step starts from the state that its
// row names, and that every object ends in its last state. A compute step also
// needs the parameters of its stage whole, and one that makes weight gradients
// needs the gradients not reduced yet. VerifierObjects.cpp checks lists with
// recomputation, copies or optimizer steps.
//
//===----------------------------------------------------------------------===//

#include "Verify/VerifierDetail.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

HeldStages heldStages(const Schedule &schedule, const PresentRanks &present) {
  HeldStages held;
  for (unsigned d = 0; d != schedule.placement.numDirections(); ++d)
    for (unsigned s = 0; s != schedule.numStages; ++s)
      if (unsigned rank = schedule.placement.rankOf(s, d);
          present.contains(rank))
        held.push_back({rank, s});
  llvm::sort(held);
  held.erase(std::unique(held.begin(), held.end()), held.end());
  return held;
}

namespace {

class StateScanner {
public:
  StateScanner(const Schedule &schedule, const PresentRanks &present)
      : schedule(schedule), flow(schedule), cells(schedule),
        held(heldStages(schedule, present)),
        slotOf(schedule.numStages, foreign),
        units(cells.isDense() ? cells.size() : 0, State::Absent) {
    // Without all pairs of stages and units there are errors to report.
    scan.units = present.all() && cells.isDense();
  }

  StateScan run() {
    ArrayRef<HeldStages::value_type> rest = held;
    for (uint32_t rank = 0; rank != schedule.ranks.size(); ++rank) {
      auto own = rest.take_while([&](auto pair) { return pair.first == rank; });
      runRank(rank, own);
      rest = rest.drop_front(own.size());
    }
    State last = schedule.forwardOnly ? State::Saved : State::Done;
    scan.units &= all_of(units, [&](State state) { return state == last; });
    return scan;
  }

private:
  /// The state of a stage on the current rank.
  struct Stage {
    State parameters = State::Sharded;
    State gradients = State::Local;
    /// True after the first UNSHARD or RESHARD. The parameters of a stage
    /// without any are always whole.
    bool managed = false;
    bool computed = false;
  };
  /// The slot of steps on stages that the rank does not hold.
  static constexpr uint32_t foreign = 0;

  void runRank(uint32_t rank, ArrayRef<HeldStages::value_type> own) {
    const StepList &list = schedule.ranks[rank];
    stages.assign(1 + own.size(), Stage());
    for (auto [i, stage] : enumerate(own))
      slotOf[stage.second] = 1 + i;
    // Stores to bytes may alias anything, so use locals in the loop.
    State *const unitOf = units.data();
    const size_t numUnits = schedule.numUnits;
    const bool scansUnits = scan.units;
    bool wrong = false, overlaps = false, acts = false;
    uint32_t kinds = 0;
    for (const Step &step : list) {
      StepKind kind = step.kind();
      kinds |= step_facts::bit(kind);
      if (step_facts::has(step_facts::extras, kind)) {
        if (acts && kind == StepKind::R)
          compute(step);
        continue;
      }
      if (isCompute(kind)) {
        if (scansUnits) {
          State &unit = unitOf[step.stage() * numUnits + step.unit()];
          wrong |= unit != stateBefore(kind);
          wrong |= flow.home(step) != rank;
          unit = stateAfter(kind);
          overlaps |= step.joined();
        }
        if (acts)
          compute(step);
      } else if (objectOf(stateBefore(kind)) != Object::None) {
        // Most lists have no actions, so the computes before the first one are
        // visited only now.
        if (!acts)
          for (const Step *before = list.data(); before != &step; ++before)
            if (computesUnit(before->kind()))
              compute(*before);
        acts = true;
        act(step);
      }
    }
    scan.kinds |= kinds;
    scan.units &= !wrong && !(overlaps && hasInnerFeed(flow, list));
    scan.waits &= pending == 0;
    pending = 0;
    for (auto [rank, stage] : own) {
      const Stage &state = stages[slotOf[stage]];
      scan.shards &= state.parameters == State::Sharded &&
                     (schedule.forwardOnly || !schedule.reduces(stage) ||
                      state.gradients == State::Reduced);
      slotOf[stage] = foreign;
    }
  }

  void compute(Step step) {
    Stage &stage = stages[slotOf[step.stage()]];
    stage.computed = true;
    bool sharded = stage.managed && stage.parameters == State::Sharded;
    bool reduced = stage.gradients == State::Reduced;
    scan.shards &= !sharded && !(reduced && makesWeightGradient(step.kind()));
  }

  /// Visits a step that changes, or waits for, parameters or gradients.
  void act(Step step) {
    StepKind kind = step.kind();
    uint32_t number = step.stage() + 1;
    if (isWait(kind)) {
      scan.waits &= pending == number;
      pending = 0;
      return;
    }
    uint32_t slot = slotOf[step.stage()];
    Stage &stage = stages[slot];
    bool good = slot != foreign;
    if (objectOf(stateBefore(kind)) == Object::Parameters) {
      good &= stage.parameters == stateBefore(kind) &&
              (stage.managed || !stage.computed);
      stage.managed = true;
      stage.parameters = stateAfter(kind);
    } else {
      good &= stage.gradients == stateBefore(kind) &&
              !(stage.managed && stage.parameters == State::Sharded) &&
              !schedule.forwardOnly && schedule.reduces(step.stage());
      stage.gradients = stateAfter(kind);
      scan.waits &= pending == 0;
      pending = number;
    }
    scan.shards &= good;
  }

  const Schedule &schedule;
  DataFlow flow;
  Cells cells;
  HeldStages held;
  /// Indexed by stage, for the current rank.
  std::vector<uint32_t> slotOf;
  std::vector<Stage> stages;
  std::vector<State> units;
  /// The stage of the REDUCE_GRAD that the current rank has not waited for,
  /// plus 1; 0 if there is none.
  uint32_t pending = 0;
  StateScan scan;
};

} // namespace

StateScan scanStates(const Schedule &schedule, const PresentRanks &present) {
  return StateScanner(schedule, present).run();
}

} // namespace pipec
