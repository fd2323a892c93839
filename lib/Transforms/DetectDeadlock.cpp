//===- DetectDeadlock.cpp - Does the schedule end -------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A check: the schedule stays as it is. Under one in-order stream a rank this
// waits for ever, since each rank's send waits for a receive that stands behind
// the other rank's send:
//
//   rank 0                    rank 1
//   SEND_F s0 m1 -> r1        SEND_B s1 m0 -> r0
//   RECV_B s0 m0 <- r1        RECV_F s1 m1 <- r0
//
// What a model means is in Waiting/Waiting.h. A schedule that ends with plain
// blocking sends and receives ends under every model, which is found out first,
// since it is quick and the common case. Otherwise the models are run from the
// strict to the mild; the rest follows from the first that ends. A schedule
// that does not end under `require` is an error; one that only fails under
// stricter models gets a warning. Transfers without another side, and such that
// give the receiver another tensor, are the verifier's to report.
//
// Needs: level compute. Ensures: the schedule ends under `require`, its
// transfers all meet, and each gives the tensor that the receiver names.
// Cost: linear in the steps, a walk for each model that has to be run.
//
//===----------------------------------------------------------------------===//

#include "Transforms/Passes.h"
#include "Verify/Verifier.h"
#include "Waiting/BlockingRun.h"
#include "Waiting/Witness.h"

using namespace llvm;

namespace pipec {

namespace {

class DetectDeadlock : public Pass {
public:
  explicit DetectDeadlock(const DetectDeadlockOptions &options)
      : options(options) {}

  LogicalResult run(Schedule &schedule, DiagEngine &diags) override {
    if (!schedule.hasP2P() || endsWithBlockingTransfers(schedule))
      return success();
    Transfers transfers(schedule);
    bool sound = transfers.sound() ||
                 succeeded(verify(schedule, VerifyLevel::Placed, diags));
    bool ends = options.model.value
                    ? checkOne(schedule, transfers, diags)
                    : checkDeadlock(schedule, transfers, options.require,
                                    diags)[unsigned(options.require)];
    return success(sound && ends);
  }

private:
  // What fails under a model no stricter than the required one fails under that
  // one too.
  Severity severityOf(WaitModel model) const {
    return model >= options.require ? Severity::Error : Severity::Warning;
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
