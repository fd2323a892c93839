//===- Primus.cpp - --emit=primus: its table of nodes ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of nodes that the pipeline of Primus runs instead of a loop of
// Megatron-LM, as JSON; docs/Primus.md has the loader. A rank is a list, a node
// is [type, micro-batch, chunk] and its arguments, if it has any:
//
//   step                   JSON
//   F s0 m7                ["F",7,0]
//   B s0 m7                ["BW",7,0]
//   I s0 m7, W s0 m7       ["B",7,0], ["W",7,0]
//   SEND_F s0 m7 -> r1     ["SF",7,0,{"from_pp_rank":0,"to_pp_rank":1,
//                                     "send_to_chunk":0,"time_step":3}]
//   RECV_F s1 m7 <- r0     ["RF",7,0,{"from_pp_rank":0,"to_pp_rank":1,
//                                     "recv_from_chunk":0,"time_step":2}]
//   overlap F s0 m7 & B s0 m3
//                          ["F",7,0,{"combined_node":true,"combined_group":
//                                    ["(F|7|0)","(BW|3|0)"]}], ["BW",3,0,{...}]
//
// Transfers with the same time step are one batch. Primus hands data between
// stages of one rank over in nodes, too: such a pair of nodes is written after
// the producer.
//
//===----------------------------------------------------------------------===//

#include "Frameworks/FrameworkFormats.h"
#include "IR/DataFlow.h"
#include "IR/RegularPlacements.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec {

namespace {

/// The name of a kind in Primus' FuncType.
StringLiteral nodeType(StepKind kind) {
  switch (kind) {
  case StepKind::F:
    return "F";
  case StepKind::B:
    return "BW";
  case StepKind::I:
    return "B";
  case StepKind::W:
    return "W";
  case StepKind::SendF:
    return "SF";
  case StepKind::RecvF:
    return "RF";
  case StepKind::SendB:
    return "SB";
  case StepKind::RecvB:
    return "RB";
  default:
    llvm_unreachable("other steps have no node");
  }
}

/// Writes the nodes of the ranks.
class NodeWriter {
public:
  explicit NodeWriter(const Schedule &schedule)
      : schedule(schedule), flow(schedule), chunks(schedule.numStages) {
    std::vector<unsigned> held(schedule.numRanks);
    for (auto [stage, rank] : enumerate(schedule.placement.map(0)))
      chunks[stage] = held[rank]++;
  }

  void writeRank(raw_ostream &out, unsigned rank);

private:
  /// Begins a node, up to its arguments.
  raw_ostream &begin(StepKind kind, unsigned microbatch, unsigned stage) {
    *os << comma << "[\"" << nodeType(kind) << "\"," << microbatch << ','
        << chunks[stage];
    return *os;
  }
  void writeCompute(Step step, StringRef arguments);
  void writeTransfer(StepKind kind, unsigned microbatch, unsigned stage,
                     const DataFlow::Port &other, unsigned rank);
  void writeOverlap(ArrayRef<Step> group);
  void writeLocal(Step step, unsigned rank);
  std::string printed(Step step) const {
    return ("\"(" + nodeType(step.kind()) + "|" + Twine(step.unit()) + "|" +
            Twine(chunks[step.stage()]) + ")\"")
        .str();
  }

  const Schedule &schedule;
  DataFlow flow;
  /// The chunk of each stage on its rank.
  std::vector<unsigned> chunks;
  raw_ostream *os = nullptr;
  ListSeparator comma{","};
  unsigned timeStep = 0;
};

} // namespace

void NodeWriter::writeCompute(Step step, StringRef arguments) {
  begin(step.kind(), step.unit(), step.stage()) << arguments << ']';
}

/// Writes an end of a transfer on `rank`; `other` is the other end.
void NodeWriter::writeTransfer(StepKind kind, unsigned microbatch,
                               unsigned stage, const DataFlow::Port &other,
                               unsigned rank) {
  bool send = isSend(kind);
  begin(kind, microbatch, stage)
      << ",{\"from_pp_rank\":" << (send ? rank : other.rank)
      << ",\"to_pp_rank\":" << (send ? other.rank : rank) << ",\""
      << (send ? "send_to_chunk" : "recv_from_chunk")
      << "\":" << chunks[other.stage] << ",\"time_step\":" << timeStep << "}]";
}

void NodeWriter::writeOverlap(ArrayRef<Step> group) {
  std::string arguments = ",{\"combined_node\":true,\"combined_group\":[";
  ListSeparator comma(",");
  for (Step member : group)
    arguments += (Twine(StringRef(comma)) + printed(member)).str();
  arguments += "]}";
  for (Step member : group)
    writeCompute(member, arguments);
}

/// Writes the pair of nodes for each result of `step` that stays on its rank.
void NodeWriter::writeLocal(Step step, unsigned rank) {
  if (!makesData(step.kind()))
    return;
  DataKind data = dataKind(step.kind());
  for (const DataFlow::Port &output : flow.outputs(step)) {
    if (output.transfers)
      continue;
    writeTransfer(sendKind(data), step.unit(), step.stage(), output, rank);
    DataFlow::Port producer = output;
    producer.stage = step.stage();
    writeTransfer(recvKind(data), step.unit(), output.stage, producer, rank);
    ++timeStep;
  }
}

void NodeWriter::writeRank(raw_ostream &out, unsigned rank) {
  os = &out;
  comma = ListSeparator(",");
  timeStep = 0;
  const StepList &list = schedule.ranks[rank];
  out << '[';
  for (size_t i = 0, end; i != list.size(); i = end) {
    end = Schedule::groupEnd(list, i);
    ArrayRef<Step> group = ArrayRef(list).slice(i, end - i);
    StepKind kind = group.front().kind();
    if (isP2P(kind)) {
      for (Step step : group)
        writeTransfer(step.kind(), step.unit(), step.stage(),
                      *flow.transfer(step), rank);
      ++timeStep;
    } else if (isCompute(kind)) {
      if (group.size() > 1)
        writeOverlap(group);
      else
        writeCompute(group.front(), "");
      for (Step step : group)
        writeLocal(step, rank);
    }
  }
  out << ']';
}

LogicalResult emitPrimus(const Schedule &schedule, raw_ostream &os,
                         DiagEngine &diags) {
  return emitJsonFile(
      schedule, Output::PrimusTable, "pipec-primus 1", os, diags,
      [&](json::OStream &json) {
        NodeWriter nodes(schedule);
        bool isLoop =
            pipec::isLoop(schedule.placement.map(0), schedule.numRanks);
        json.attribute("chunks", schedule.numStages / schedule.numRanks);
        json.attribute("placement", isLoop ? "loop" : "v");
        writeRankLines(json, "nodes", schedule,
                       [&](unsigned rank, raw_ostream &out) {
                         nodes.writeRank(out, rank);
                       });
      });
}

} // namespace pipec
