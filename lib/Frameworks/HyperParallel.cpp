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
//   batch RECV_B ..., SEND_F ... ["BATCH_SEND_RECV",["BWD_RECV",0,1],...]
//   OFFLOAD s0 m7               ["SWAP_LAUNCH_OFFLOAD",7,0]
//   bubble                      null
//
// A forward that is offloaded follows a SWAP_SET_GROUP, and a backward that
// waits for a reload a SWAP_WAIT_LOAD. Other overlaps, and batches with several
// peers, which the runtime would post one after the other, have no MetaStep;
// Frameworks/Targets.def lists the rules that refuse them.
//
//===----------------------------------------------------------------------===//

#include "Frameworks/FrameworkFormats.h"
#include "IR/StepPlaces.h"
#include "Support/Diagnostics/EmitDiags.h"

#include "llvm/ADT/DenseSet.h"

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

namespace {

/// Writes the list of a rank.
class MetaStepList {
public:
  MetaStepList(ArrayRef<Step> list, raw_ostream &os) : list(list), os(os) {
    for (Step step : list)
      if (step.kind() == StepKind::Offload)
        swapped.insert(unitKey(step));
  }

  void write() {
    os << '[';
    for (size_t begin = 0, end; begin != list.size(); begin = end) {
      end = Schedule::groupEnd(list, begin);
      // The runtime waits, and sums tied gradients, itself.
      StepKind kind = list[begin].kind();
      if ((isWait(kind) && kind != StepKind::WaitOffload) ||
          streamOf(kind) == Stream::Tied)
        continue;
      ArrayRef<Step> group = list.slice(begin, end - begin);
      for (Step step : group)
        if (!swapped.empty() && isCompute(step.kind()))
          writeSwap(step);
      separate();
      writeGroup(group);
    }
    os << ']';
  }

private:
  void separate() {
    if (!std::exchange(first, false))
      os << ',';
  }
  /// What precedes a forward, or the step that waits for a reload.
  void writeSwap(Step step) {
    bool isForward = step.kind() == StepKind::F;
    if (step.kind() == StepKind::W || !swapped.contains(unitKey(step)))
      return;
    separate();
    os << (isForward ? "[\"SWAP_SET_GROUP\"," : "[\"SWAP_WAIT_LOAD\",")
       << step.unit() << ',' << step.stage() << ']';
  }
  void writeGroup(ArrayRef<Step> group) {
    if (group.size() == 1)
      return writeStep(os, group[0]);
    os << "[\"";
    if (isP2P(group[0].kind()))
      os << "BATCH_SEND_RECV";
    else
      os << (group[0].kind() == StepKind::F ? "OVERLAP_F_B" : "OVERLAP_B_F");
    os << '"';
    for (Step step : group) {
      os << ',';
      writeStep(os, step);
    }
    os << ']';
  }

  ArrayRef<Step> list;
  raw_ostream &os;
  bool first = true;
  /// The units with an OFFLOAD.
  DenseSet<uint64_t> swapped;
};

} // namespace

/// Notes, once, that waits are omitted because HyperParallel's runtime waits
/// itself.
static void noteWaits(const Schedule &schedule, DiagEngine &diags) {
  std::optional<Step> first;
  size_t count = 0;
  for (const StepList &list : schedule.ranks)
    for (Step step : list)
      if (isTransferWait(step.kind())) {
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
                        writeRankLines(
                            json, "exec_order", schedule,
                            [&](unsigned rank, raw_ostream &out) {
                              MetaStepList(schedule.ranks[rank], out).write();
                            });
                      });
}

} // namespace pipec
