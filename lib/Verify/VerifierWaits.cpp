//===- VerifierWaits.cpp - Waits for sends --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A wait refers to an earlier send of its own rank, so each list is checked
// separately, in one walk with a state per send. By the rules of PyTorch 2.15,
// a list with waits for sends has exactly one after each send. A list without
// waits is valid: its rank waits at the end.
//
//===----------------------------------------------------------------------===//

#include "Verify/VerifierDetail.h"

#include "Support/Diagnostics/VerifierDiags.h"

using namespace llvm;

namespace pipec {

namespace {

class SendWaits {
public:
  SendWaits(const Schedule &schedule, DiagEngine &diags)
      : schedule(schedule), cells(schedule), reporter(schedule, diags),
        states(2 * cells.size()) {}

  LogicalResult run() {
    for (uint32_t rank = 0; rank != schedule.ranks.size(); ++rank) {
      const StepList &list = schedule.ranks[rank];
      for (uint32_t i = 0; i != list.size() && !reporter.full(); ++i)
        judge({rank, i}, list[i]);
      for (uint32_t i = 0; i != list.size() && !reporter.full(); ++i)
        if (isSend(list[i].kind()) && isHome(rank, list[i]) &&
            stateOf(list[i]) == State::Pending) {
          stateOf(list[i]) = State::Waited; // one report per send
          Step wait = list[i];
          wait.setKind(waitOfSend(wait.kind()));
          (void)reporter.report({rank, i}, diag::SendWaitMissing,
                                reporter.text(wait));
        }
    }
    return success(!reporter.failed);
  }

private:
  enum class State : uint8_t { NotSent, Pending, Waited };

  bool isHome(uint32_t rank, Step step) const {
    return schedule.rankOf(step.stage(), step.unit()) == rank;
  }
  State &stateOf(Step step) {
    bool gradient = dataKind(step.kind()) == DataKind::Gradient;
    size_t place = 2 * cells.index(step) + gradient;
    return step.port() ? moreStates[{place, step.port()}] : states[place];
  }

  void judge(StepRef ref, Step step) {
    if (isSend(step.kind())) {
      if (isHome(ref.rank, step) && stateOf(step) == State::NotSent)
        stateOf(step) = State::Pending;
      return;
    }
    if (!isSendWait(step.kind()))
      return;
    if (isHome(ref.rank, step) && stateOf(step) == State::Pending) {
      stateOf(step) = State::Waited;
      return;
    }
    auto is = [&](StepKind kind) {
      return [&, kind](Step other) {
        return other.kind() == kind && other.stage() == step.stage() &&
               other.unit() == step.unit() && other.port() == step.port();
      };
    };
    // Errors are rare, so search the list.
    ArrayRef<Step> list = schedule.ranks[ref.rank];
    Step send = step;
    send.setKind(sendOfWait(step.kind()));
    if (isHome(ref.rank, step) && stateOf(step) == State::Waited) {
      auto diagnostic = reporter.report(ref, diag::SendWaitDoubled);
      noteFirst(diagnostic, ref.rank,
                find_if(list, is(step.kind())) - list.begin());
      return;
    }
    auto diagnostic =
        reporter.report(ref, diag::SendWaitEarly, reporter.text(send));
    noteFirst(diagnostic, ref.rank,
              find_if(list, is(send.kind())) - list.begin());
  }

  void noteFirst(InFlightDiagnostic &diagnostic, uint32_t rank, size_t index) {
    if (index != schedule.ranks[rank].size())
      reporter.noteHere(diagnostic, {rank, uint32_t(index)});
  }

  const Schedule &schedule;
  Cells cells;
  StepReporter reporter;
  /// By cell, the states of its SEND_F and its SEND_B.
  std::vector<State> states;
  /// Indexed by place in `states` and port: the sends with a port other than 0.
  DenseMap<std::pair<size_t, unsigned>, State> moreStates;
};

} // namespace

LogicalResult verifySendWaits(const Schedule &schedule, DiagEngine &diags) {
  return SendWaits(schedule, diags).run();
}

} // namespace pipec
