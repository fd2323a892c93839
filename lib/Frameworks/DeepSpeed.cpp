//===- DeepSpeed.cpp - --emit=deepspeed: its instructions -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The instructions that DeepSpeed's PipelineEngine executes, as JSON;
// pipec.deepspeed.use loads the file (docs/DeepSpeed.md). There is one stage
// per rank. An instruction is an array of the name of its class and the number
// of a buffer, which it uses for one micro-batch at a time:
//
//   step              instructions
//   F s0 m7           ["LoadMicroBatch",1],["ForwardPass",1]
//   B s0 m7           ["BackwardPass",1]
//   SEND_F s0 m7      ["SendActivation",1]
//   RECV_F s1 m7      ["RecvActivation",1]
//   SEND_B s1 m7      ["SendGrad",1]
//   RECV_B s0 m7      ["RecvGrad",1]
//
// Only the first and the last rank load micro-batches. A step of DeepSpeed is a
// list of instructions that ends with a compute; this means nothing to the
// engine. The last step of every rank reduces gradients and runs the optimizer.
//
// A micro-batch has its buffer from its RECV_F to its SEND_B; on the first rank
// from its F to its B. It gets the first buffer that is free then, so there are
// as many buffers as micro-batches alive at the same time.
//
// Linear in the steps, times the logarithm of the number of buffers.
//
//===----------------------------------------------------------------------===//

#include "Frameworks/FrameworkFormats.h"

#include "llvm/ADT/StringExtras.h"

#include <functional>
#include <queue>

using namespace llvm;

namespace pipec {

namespace {

/// The buffers of one rank.
class Buffers {
public:
  explicit Buffers(unsigned numUnits) : ofMicrobatch(numUnits) {}

  /// Gives a micro-batch the first free buffer.
  void take(unsigned microbatch) {
    if (free.empty())
      free.push(count++);
    ofMicrobatch[microbatch] = free.top();
    free.pop();
  }
  void release(unsigned microbatch) { free.push(ofMicrobatch[microbatch]); }

  unsigned operator[](unsigned microbatch) const {
    return ofMicrobatch[microbatch];
  }

private:
  unsigned count = 0;
  std::vector<unsigned> ofMicrobatch;
  std::priority_queue<unsigned, std::vector<unsigned>, std::greater<>> free;
};

class InstructionWriter {
public:
  explicit InstructionWriter(const Schedule &schedule) : schedule(schedule) {}

  void write(json::OStream &json) const {
    writeRankLines(
        json, "buffers", schedule,
        [&](unsigned rank, raw_ostream &os) { os << countBuffers(rank); });
    writeRankLines(
        json, "instructions", schedule,
        [&](unsigned rank, raw_ostream &os) { writeInstructions(rank, os); });
    writeRankLines(
        json, "order", schedule,
        [&](unsigned rank, raw_ostream &os) { writeOrder(rank, os); });
  }

private:
  // The first and the last step of a micro-batch on a rank.
  static bool begins(Step step, unsigned rank) {
    return step.kind() == (rank == 0 ? StepKind::F : StepKind::RecvF);
  }
  static bool ends(Step step, unsigned rank) {
    return step.kind() == (rank == 0 ? StepKind::B : StepKind::SendB);
  }

  unsigned countBuffers(unsigned rank) const;
  void writeInstructions(unsigned rank, raw_ostream &os) const;
  void writeOrder(unsigned rank, raw_ostream &os) const;

  const Schedule &schedule;
};

} // namespace

unsigned InstructionWriter::countBuffers(unsigned rank) const {
  unsigned live = 0, peak = 0;
  for (Step step : schedule.ranks[rank]) {
    if (begins(step, rank))
      peak = std::max(peak, ++live);
    live -= ends(step, rank);
  }
  return peak;
}

/// The instruction for a step.
static StringLiteral instructionName(StepKind kind) {
  switch (kind) {
  case StepKind::F:
    return "ForwardPass";
  case StepKind::B:
    return "BackwardPass";
  case StepKind::SendF:
    return "SendActivation";
  case StepKind::RecvF:
    return "RecvActivation";
  case StepKind::SendB:
    return "SendGrad";
  case StepKind::RecvB:
    return "RecvGrad";
  default:
    llvm_unreachable("refused by the rules of the output");
  }
}

void InstructionWriter::writeInstructions(unsigned rank,
                                          raw_ostream &os) const {
  bool loads = rank == 0 || rank + 1 == schedule.numRanks;
  Buffers buffers(schedule.numUnits);
  bool isFirst = true; // of a step of DeepSpeed
  auto add = [&](StringRef name, unsigned buffer) {
    os << (isFirst ? "[[\"" : ",[\"") << name << "\"," << buffer << ']';
    isFirst = false;
  };
  os << '[';
  for (Step step : schedule.ranks[rank]) {
    // The engine sums tied gradients at the end.
    if (step.stream() == Stream::Tied)
      continue;
    unsigned microbatch = step.unit();
    if (begins(step, rank))
      buffers.take(microbatch);
    unsigned buffer = buffers[microbatch];
    if (loads && step.kind() == StepKind::F)
      add("LoadMicroBatch", buffer);
    add(instructionName(step.kind()), buffer);
    if (ends(step, rank))
      buffers.release(microbatch);
    if (isCompute(step.kind())) {
      os << "],";
      isFirst = true;
    }
  }
  os << (isFirst ? "[" : ",")
     << "[\"ReduceTiedGrads\"],[\"ReduceGrads\"],[\"OptimizerStep\"]]]";
}

void InstructionWriter::writeOrder(unsigned rank, raw_ostream &os) const {
  ListSeparator comma(",");
  os << '[';
  for (Step step : schedule.ranks[rank])
    if (isCompute(step.kind()))
      os << comma << '"' << stepKindName(step.kind()) << step.unit() << '"';
  os << ']';
}

LogicalResult emitDeepSpeed(const Schedule &schedule, raw_ostream &os,
                            DiagEngine &diags) {
  return emitJsonFile(
      schedule, Output::DeepspeedFile, "pipec-deepspeed 1", os, diags,
      [&](json::OStream &json) { InstructionWriter(schedule).write(json); });
}

} // namespace pipec
