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
//
//===----------------------------------------------------------------------===//

#include "IR/TiedMeetings.h"
#include "Transforms/Passes.h"
#include "Verify/Verifier.h"
#include "Waiting/DeadlockReport.h"
#include "Waiting/Waiting.h"

using namespace llvm;

namespace pipec {

/// True if a schedule that finishes under `required` does under `model`. One
/// queue per rank is the strictest of all communicators.
static bool implies(WaitModel required, const CommModel &model) {
  return implies(required,
                 model.communicators() ? WaitModel::Stream : model.kind());
}

static bool endsUnder(const CommModel &model, WaitModel required,
                      const Schedule &schedule, const Transfers &transfers,
                      DiagEngine &diags) {
  Waiting waiting(schedule, transfers, model);
  if (waiting.ends())
    return true;
  // A schedule that fails under a model fails under the required model if that
  // implies the model.
  Severity severity =
      implies(required, model) ? Severity::Error : Severity::Warning;
  reportDeadlock(waiting, severity, nullptr, diags);
  return severity != Severity::Error;
}

LogicalResult runDetectDeadlock(Schedule &schedule,
                                const DetectDeadlockOptions &options,
                                DiagEngine &diags) {
  std::optional<CommModel> model;
  if (options.model.value) {
    FailureOr<CommModel> read = readModel(*options.model.value, diags);
    if (failed(read) || failed(checkEdges(schedule, *read, diags)))
      return failure();
    model = std::move(*read);
  }
  if ((!schedule.hasP2P() && TiedMeetings(schedule).allMeet()) ||
      endsWithBlockingTransfers(schedule))
    return success();
  Transfers transfers(schedule);
  bool sound = transfers.sound() ||
               succeeded(verify(schedule, VerifyLevel::Placed, diags));
  bool ends =
      model ? endsUnder(*model, options.require, schedule, transfers, diags)
            : checkDeadlock(schedule, transfers, options.require,
                            diags)[options.require];
  return success(sound && ends);
}

} // namespace pipec
