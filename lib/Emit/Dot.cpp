//===- Dot.cpp - --emit=dot: steps that wait for each other ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   digraph waits {
//     label="crossing: deadlock under one in-order stream per rank";
//     node [shape=box];
//     subgraph cluster_0 {
//       label="rank 0";
//       n3 [label="step 3\nSEND_F s0 m1 -> r1"];
//       n4 [label="step 4\nRECV_B s0 m0 <- r1"];
//     }
//     ...
//     n3 -> n12 [label="other side"];
//   }
//
// A shortest cycle of steps that wait for each other, for Graphviz: one box per
// step, one cluster per rank, one arrow per wait. If there is no cycle, the
// chain of waits that ends at an unmatched transfer. The model is one in-order
// stream per rank: a schedule that finishes under it finishes under all models,
// and results in a graph without nodes that says so.
//
//===----------------------------------------------------------------------===//

#include "Emit/Emitter.h"
#include "IR/StepPlaces.h"
#include "Support/Words.h"
#include "Waiting/Waiting.h"

#include <algorithm>
#include <map>

using namespace llvm;

namespace pipec {

/// The labels of arrows, by WaitReason.
static constexpr StringLiteral reasonLabels[] = {
    "input",      "input, after it", "queue", "precedes the other side",
    "other side", "batch",           "send",  "receive not posted"};
static_assert(std::size(reasonLabels) == unsigned(WaitReason::Post) + 1);

/// Writes `text` for use between the quotes of a label, on one line and with
/// terminal control characters replaced.
static void writeQuoted(raw_ostream &os, StringRef text) {
  for (char c : terminalText(text)) {
    if (c == '"' || c == '\\')
      os << '\\';
    os << c;
  }
}

static void writeGraph(const Waiting &waiting, raw_ostream &os) {
  const Schedule &schedule = waiting.schedule();
  std::vector<WaitEdge> edges = findShortestCycle(waiting);
  if (edges.empty())
    edges = findDeadEnd(waiting);
  std::map<unsigned, std::vector<uint32_t>> byRank;
  for (const WaitEdge &edge : edges)
    byRank[waiting.numbers().rankOf(edge.step)].push_back(edge.step);

  StepPlaces places(schedule);
  for (auto &[rank, steps] : byRank) {
    std::sort(steps.begin(), steps.end());
    os << "  subgraph cluster_" << rank << " {\n    label=\"rank " << rank
       << "\";\n";
    for (uint32_t step : steps) {
      uint32_t index = waiting.numbers().at(step).index;
      os << "    n" << step << " [label=\"step " << places.position(rank, index)
         << "\\n";
      writeQuoted(os, places.text(waiting.step(step)));
      os << "\"];\n";
    }
    os << "  }\n";
  }
  for (const WaitEdge &edge : edges)
    if (edge.target != StepNumbers::none)
      os << "  n" << edge.step << " -> n" << edge.target << " [label=\""
         << reasonLabels[unsigned(edge.reason)] << "\"];\n";
}

LogicalResult emitDot(const Schedule &schedule, const EmitOptions &,
                      raw_ostream &os, DiagEngine &) {
  Transfers transfers(schedule);
  Waiting waiting(schedule, transfers, WaitModel::Stream);
  os << "digraph waits {\n  label=\"";
  writeQuoted(os, schedule.name);
  if (waiting.ends()) {
    os << ": completes under every model\";\n}\n";
    return success();
  }
  os << ": deadlock under " << waiting.model().phrase()
     << "\";\n  node [shape=box];\n";
  writeGraph(waiting, os);
  os << "}\n";
  return success();
}

} // namespace pipec
