//===- Communicators.cpp - The communicators that a list needs ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Waiting/Communicators.h"

#include "Emit/Emitter.h"
#include "Support/Diagnostics/EmitDiags.h"
#include "Support/Json.h"
#include "Waiting/DeadlockReport.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace llvm;

namespace pipec {

static void writeCommunicatorJson(const NeededCommunicators &needed,
                                  raw_ostream &os) {
  const Communicators &all = needed.communicators;
  json::OStream json(os, /*IndentSize=*/2);
  json.object([&] {
    writeObjects(json, "communicators", seq<size_t>(0, all.size()),
                 [&](size_t number) {
                   writeArray(json, "ranks", all.ranks(number),
                              [&](unsigned rank) { json.value(rank); });
                   writeArray(json, "edges", all.edges(number),
                              [&](Communicators::Edge edge) {
                                json.array([&] {
                                  json.value(edge.first);
                                  json.value(edge.second);
                                });
                              });
                 });
    json.attribute("smallest", needed.smallest);
  });
  os << '\n';
}

LogicalResult emitCommunicators(const Schedule &schedule,
                                const EmitOptions &options, raw_ostream &os,
                                DiagEngine &diags) {
  if (!schedule.hasP2P())
    return diags.report(schedule.source, diag::NoTransfersToDivide,
                        schedule.name);
  Transfers transfers(schedule);
  NeededCommunicators needed = neededCommunicators(schedule, transfers);
  const Communicators &all = needed.communicators;
  if (all.size() == 0) {
    reportDeadlock(Waiting(schedule, transfers, WaitModel::Edge),
                   Severity::Error, nullptr, diags);
    return failure();
  }
  if (options.json) {
    writeCommunicatorJson(needed, os);
    return success();
  }
  for (size_t number = 0; number != all.size(); ++number) {
    os << number << ": ";
    interleave(
        all.edges(number), os,
        [&](Communicators::Edge edge) {
          os << edge.first << " -> " << edge.second;
        },
        ", ");
    os << '\n';
  }
  return success();
}

} // namespace pipec
