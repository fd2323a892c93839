//===- DetectDeadlock.cpp - Checking for deadlocks ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A check, which does not change the schedule. For example, these lists
// deadlock under one in-order stream per rank, since the send of each rank
// waits for a receive that follows the other rank's send:
//
//   rank 0                    rank 1
//   SEND_F s0 m1 -> r1        SEND_B s1 m0 -> r0
//   RECV_B s0 m0 <- r1        RECV_F s1 m1 <- r0
//
// Waiting/Waiting.h defines the models. A schedule that finishes with blocking
// sends and receives finishes under every model; this is checked first, since
// it is fast and the common case. Otherwise the models are run from the
// strictest to the mildest, up to the first under which the schedule finishes.
// A schedule that does not finish under `require` is an error; one that only
// fails under stricter models gets a warning. The verifier reports unmatched
// transfers and those that name different tensors.
//
// Needs: level compute. Ensures: the schedule finishes under `require`, and all
// its transfers match and name the same tensors. Cost: linear in the steps, one
// walk per model that is run.
//
//===----------------------------------------------------------------------===//

#include "IR/TiedMeetings.h"
#include "Transforms/Passes.h"
#include "Verify/Verifier.h"
#include "Waiting/BlockingRun.h"
#include "Waiting/DeadlockReport.h"

using namespace llvm;

namespace pipec {

namespace {

class DetectDeadlock : public Pass {
public:
  explicit DetectDeadlock(const DetectDeadlockOptions &options)
      : options(options) {}

  LogicalResult run(Schedule &schedule, DiagEngine &diags) override {
    if ((!schedule.hasP2P() && TiedMeetings(schedule).allMeet()) ||
        endsWithBlockingTransfers(schedule))
      return success();
    Transfers transfers(schedule);
    bool sound = transfers.sound() ||
                 succeeded(verify(schedule, VerifyLevel::Placed, diags));
    bool ends = options.model.value
                    ? checkOne(schedule, transfers, diags)
                    : checkDeadlock(schedule, transfers, options.require,
                                    diags)[options.require];
    return success(sound && ends);
  }

private:
  // A schedule that fails under a model fails under the required model if that
  // implies the model.
  Severity severityOf(WaitModel model) const {
    return implies(options.require, model) ? Severity::Error
                                           : Severity::Warning;
  }

  bool checkOne(const Schedule &schedule, const Transfers &transfers,
                DiagEngine &diags) const {
    Waiting waiting(schedule, transfers, *options.model.value);
    if (waiting.ends())
      return true;
    reportDeadlock(waiting, severityOf(waiting.model()), nullptr, diags);
    return severityOf(waiting.model()) != Severity::Error;
  }

  DetectDeadlockOptions options;
};

} // namespace

std::unique_ptr<Pass> makeDetectDeadlock(const DetectDeadlockOptions &options) {
  return std::make_unique<DetectDeadlock>(options);
}

} // namespace pipec
