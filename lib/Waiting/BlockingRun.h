//===- BlockingRun.h - Does a schedule end if transfers block ---*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_WAITING_BLOCKINGRUN_H
#define PIPEC_WAITING_BLOCKINGRUN_H

#include "IR/Schedule.h"

namespace pipec {

/// True when the schedule is seen to come to its end with plain sends and
/// receives, at each of which a rank stays until the other side is there too.
/// Then it ends under every model of waiting (`WaitModel`), every transfer has
/// its other side and gives the receiver the tensor that it names, and every
/// compute step stands behind the receives that it consumes.
///
/// False says that this is not so, or was not looked into: a schedule with
/// batches is left to `Waiting`, as is all that has to be explained. Linear;
/// two bits a (stage, micro-batch), and a list is read once.
bool endsWithBlockingTransfers(const Schedule &schedule);

} // namespace pipec

#endif // PIPEC_WAITING_BLOCKINGRUN_H
