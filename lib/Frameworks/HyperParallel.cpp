//===- HyperParallel.cpp - --emit=hyperparallel: its exec_order -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The execution order that MindSpore HyperParallel's PipelineScheduleRuntime
// runs, as JSON; docs/HyperParallel.md has the loader. A rank is a list, a step
// is an array with the arguments of its MetaStep:
//
//   step                        JSON
//   F s0 m7                     ["FWD",7,0]
//   SEND_F s0 m7 -> r1          ["FWD_SEND",7,0]
//   UNSHARD s2                  ["FSDP_UNSHARD",null,2]
//   overlap F s0 m7 & B s3 m2   ["OVERLAP_F_B",["FWD",7,0],["BWD",2,3]]
//   overlap B s3 m2 & F s0 m7   ["OVERLAP_B_F",["BWD",2,3],["FWD",7,0]]
//   bubble                      null
//
// Batches and other overlaps have no MetaStep; Frameworks/Targets.def lists the
// rules that refuse them.
//
//===----------------------------------------------------------------------===//

#include "Frameworks/FrameworkFormats.h"
#include "IR/StepPlaces.h"
#include "Support/Diagnostics/EmitDiags.h"

using namespace llvm;

namespace pipec {

/// The name of a kind in HyperParallel's MetaStepType.
static StringLiteral metaStepType(StepKind kind) {
  switch (kind) {
#define PIPEC_META_STEP(Kind, Type)                                            \
  case StepKind::Kind:                                                         \
    return Type;
#include "IR/MetaSteps.def"
  case StepKind::WaitSendF:
  case StepKind::WaitSendB:
  case StepKind::WaitReduceGrad:
  case StepKind::ReduceTied:
  case StepKind::R:
  case StepKind::Update:
  case StepKind::Offload:
  case StepKind::WaitOffload:
  case StepKind::Reload:
  case StepKind::Bubble:
    break;
  }
  llvm_unreachable("steps that are not written have no type");
}

static void writeStep(raw_ostream &os, Step step) {
  if (step.kind() == StepKind::Bubble) {
    os << "null";
    return;
  }
  os << "[\"" << metaStepType(step.kind()) << "\",";
  if (hasUnit(step.kind()))
    os << step.unit();
  else
    os << "null";
  os << ',' << step.stage() << ']';
}

static void writeList(raw_ostream &os, ArrayRef<Step> list) {
  os << '[';
  bool first = true;
  for (size_t i = 0; i != list.size(); ++i) {
    // The runtime waits, and sums tied gradients, itself.
    if (isWait(list[i].kind()) || list[i].stream() == Stream::Tied)
      continue;
    if (!std::exchange(first, false))
      os << ',';
    if (!list[i].joined()) {
      writeStep(os, list[i]);
      continue;
    }
    os << "[\"" << overlapName(list[i], list[i + 1]) << "\",";
    writeStep(os, list[i]);
    os << ',';
    writeStep(os, list[++i]);
    os << ']';
  }
  os << ']';
}

/// Notes, once, that waits are omitted because HyperParallel's runtime waits
/// itself.
static void noteWaits(const Schedule &schedule, DiagEngine &diags) {
  std::optional<Step> first;
  size_t count = 0;
  for (const StepList &list : schedule.ranks)
    for (Step step : list)
      if (isWait(step.kind())) {
        ++count;
        if (!first)
          first = step;
      }
  if (first)
    (void)diags.reportAs(Severity::Note, first->source(), diag::WaitsDropped,
                         stepText(schedule, *first), count, "hyperparallel");
}

LogicalResult emitHyperParallel(const Schedule &schedule, raw_ostream &os,
                                DiagEngine &diags) {
  return emitJsonFile(schedule, Output::HyperparallelOrder, "", os, diags,
                      [&](json::OStream &json) {
                        noteWaits(schedule, diags);
                        writeRankLines(json, "exec_order", schedule,
                                       [&](unsigned rank, raw_ostream &out) {
                                         writeList(out, schedule.ranks[rank]);
                                       });
                      });
}

} // namespace pipec
