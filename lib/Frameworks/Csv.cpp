//===- Csv.cpp - --emit=csv: PyTorch's schedule CSV -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The two formats of torch.distributed.pipelining: `compute_only` contains
// computes, pairs and empty cells; `compute_comms` also contains transfers and
// FSDP actions. The steps determine the format: they are written unchanged, one
// row per rank and one cell per step.
//
//   step                        cell
//   F s0 m7                     0F7
//   SEND_F s0 m7                0SEND_F7
//   SEND_F s0 m7 -> s3          0>3SEND_F7
//   RECV_F s3 m7 <- s0          3<0RECV_F7
//   UNSHARD s2                  2UNSHARD
//   REDUCE_TIED t0              t0REDUCE_TIED
//   overlap F s0 m7 & B s7 m3   (0F7;7B3)OVERLAP_F_B
//   overlap B s7 m3 & F s0 m7   (7B3;0F7)OVERLAP_B_F
//   bubble                      (empty)
//
// Batches and other overlaps have no cell; Frameworks/Targets.def lists the
// rules that refuse them. Rows may differ in length and lines end in LF. A row
// with a single empty cell is written as `""`, as by Python's csv module, since
// a blank line would be read as a row without cells.
//
// Lists of 25 million steps are normal, so the parts of cells are formatted
// once and copied into a buffer.
//
//===----------------------------------------------------------------------===//

#include "Frameworks/FrameworkFormats.h"
#include "Frameworks/TargetCheck.h"
#include "IR/DataFlow.h"
#include "IR/TieBuilder.h"
#include "Support/Diagnostics/EmitDiags.h"
#include "Support/TextBuffer.h"
#include "Support/Words.h"

#include "llvm/ADT/StringExtras.h"

#include <set>

using namespace llvm;

namespace pipec {

namespace {

/// A part of a cell. It is copied with a fixed size, which is fast; the next
/// part overwrites the excess.
template <unsigned Room> struct Piece {
  char text[Room - 1] = {};
  uint8_t size = 0;

  Piece() = default;
  explicit Piece(StringRef from) : size(from.size()) {
    assert(from.size() < Room);
    std::memcpy(text, from.data(), from.size());
  }
  char *copyTo(char *at) const {
    std::memcpy(at, this, Room);
    return at + size;
  }
};

/// Micro-batches from here on are formatted digit by digit.
constexpr unsigned maxNumbers = 1 << 16;

/// The maximum length of a cell, which is a pair.
constexpr size_t longestCell = 128;

/// The texts of cells. Each function writes to a buffer of at least
/// `longestCell` characters and returns the end of the text.
class CellTexts {
public:
  explicit CellTexts(const Schedule &schedule) {
    if (!schedule.graph.isChain())
      flow.emplace(schedule);
    for (unsigned i = 0, e = std::min(maxNumbers, schedule.numUnits); i != e;
         ++i)
      numbers.emplace_back(utostr(i));
    for (unsigned stage = 0; stage != schedule.numStages; ++stage) {
#define PIPEC_IDLE(Id, Text) heads.emplace_back(",");
#define PIPEC_STEP(Id, Text)                                                   \
  heads.emplace_back((streamOf(StepKind::Id) == Stream::Tied ? ",t" : ",") +   \
                     utostr(stage) + Text);
#include "Support/Steps.def"
    }
  }

  char *put(char *at, StringRef text) const {
    std::memcpy(at, text.data(), text.size());
    return at + text.size();
  }
  /// Writes the cell of a step that is not joined, with a comma before it.
  char *put(char *at, Step step) const {
    if (flow && (isP2P(step.kind()) || isSendWait(step.kind())))
      if (const DataFlow::Port *port = flow->transfer(step);
          port && !DataFlow::isOfChain(step.stage(), *port))
        return put(at, ("," + Twine(step.stage()) +
                        (isRecv(step.kind()) ? "<" : ">") + Twine(port->stage) +
                        stepKindName(step.kind()) + Twine(step.unit()))
                           .str());
    at = heads[step.stage() * numStepKinds + unsigned(step.kind())].copyTo(at);
    if (!hasUnit(step.kind()))
      return at;
    if (step.unit() >= numbers.size())
      return put(at, utostr(step.unit()));
    return numbers[step.unit()].copyTo(at);
  }
  /// The same with another character instead of the comma.
  char *put(char *at, char before, Step step) const {
    char *end = put(at, step);
    *at = before;
    return end;
  }

private:
  /// Of a schedule whose stages are not a chain.
  std::optional<DataFlow> flow;
  /// By stage and kind: `,3SEND_F`.
  std::vector<Piece<24>> heads;
  std::vector<Piece<8>> numbers;
};

} // namespace

/// Warns of the first edge of a stage graph that a reader of the CSV does not
/// find, or finds in addition (Import/Lists.h).
static void checkGraph(const Schedule &schedule, DiagEngine &diags) {
  std::set<StageGraph::Edge> used, edges;
  const DataFlow flow(schedule);
  bool inferred = false;
  for (const StepList &list : schedule.ranks)
    for (Step step : list)
      if (isP2P(step.kind()))
        if (const DataFlow::Port *port = flow.transfer(step)) {
          auto [from, to] = std::minmax({step.stage(), unsigned(port->stage)});
          used.insert({from, to});
          inferred |= !DataFlow::isOfChain(step.stage(), *port);
        }
  std::string text;
  schedule.graph.forEachEdge(schedule.numStages, [&](StageGraph::Edge edge) {
    edges.insert(edge);
    text +=
        (text.empty() ? "" : ",") + utostr(edge.from) + "->" + utostr(edge.to);
  });
  auto isWithin = [&](StageGraph::Edge edge) {
    return flow.homeIn(0, edge.from) == flow.homeIn(0, edge.to);
  };
  StringRef none = "it has no transfer that names a stage";
  auto warn = [&](StageGraph::Edge edge, auto kind, StringRef why) {
    diags
        .report(schedule.source, kind, edge.from, edge.to,
                inferred ? why : none)
        .note(schedule.source, diag::NoteCsvGraph, text);
  };
  for (StageGraph::Edge edge : edges)
    if (inferred ? !used.count(edge) && !(edge.ofChain() && isWithin(edge))
                 : !edge.ofChain())
      return warn(edge, diag::CsvEdgeLost,
                  isWithin(edge) ? "both are on one rank"
                                 : "it has no transfer between them");
  for (unsigned stage = 1; stage < schedule.numStages; ++stage)
    if (StageGraph::Edge edge{stage - 1, stage};
        !edges.count(edge) && (!inferred || isWithin(edge)))
      return warn(edge, diag::CsvEdgeAdded, "both are on one rank");
}

/// Warns of the first stage whose gradients are not reduced although others
/// are: a reader of the CSV would report that as a mistake.
static void checkReductions(const Schedule &schedule, DiagEngine &diags) {
  std::string text;
  std::optional<unsigned> excluded;
  for (unsigned stage = 0; stage != schedule.numStages; ++stage)
    if (schedule.reduces(stage))
      text += (text.empty() ? "" : ",") + utostr(stage);
    else if (!excluded)
      excluded = stage;
  if (excluded)
    diags.report(schedule.source, diag::CsvReductionLost, *excluded)
        .note(schedule.source, diag::NoteCsvReduce,
              text.empty() ? "none" : text);
}

/// Warns of the first group of tied stages that a reader of the CSV does not
/// find, or finds with other stages.
static void checkTies(const Schedule &schedule, DiagEngine &diags) {
  std::vector<std::vector<unsigned>> found = tiesOfLists(schedule);
  if (found == schedule.ties)
    return;
  std::string text;
  for (ArrayRef<unsigned> stages : schedule.ties)
    text += (text.empty() ? "" : ",") +
            join(map_range(stages, [](unsigned s) { return utostr(s); }), "+");
  for (const auto &[group, stages] : enumerate(schedule.ties)) {
    bool isNamed = group < found.size() && !found[group].empty();
    if (isNamed && found[group] == stages)
      continue;
    diags
        .report(schedule.source, diag::CsvTiesLost, listText(stages),
                isNamed ? "its cells tie stages " + listText(found[group])
                        : "it has no `t" + utostr(group) + "REDUCE_TIED`")
        .note(schedule.source, diag::NoteCsvTies, text);
    return;
  }
}

LogicalResult emitCsv(const Schedule &schedule, raw_ostream &os,
                      DiagEngine &diags) {
  if (failed(checkOutput(schedule, Output::Csv, diags)))
    return failure();
  if (!schedule.graph.isChain())
    checkGraph(schedule, diags);
  if (!schedule.ties.empty())
    checkTies(schedule, diags);
  if (!schedule.streams.empty())
    (void)diags.report(schedule.source, diag::CsvStreamsLost,
                       schedule.streams.names.front());
  if (schedule.hasFsdp() && !schedule.forwardOnly)
    checkReductions(schedule, diags);
  const CellTexts cells(schedule);
  TextBuffer out(os);
  for (const StepList &list : schedule.ranks) {
    for (size_t i = 0, e = list.size(); i != e; ++i) {
      char *const cell = out.reserve(longestCell);
      char *at;
      bool first = i == 0;
      Step step = list[i];
      if (step.joined()) {
        Step second = list[++i];
        at = cells.put(cell, ",");
        at = cells.put(at, '(', step);
        at = cells.put(at, ';', second);
        at = cells.put(at, ")");
        at = cells.put(at, overlapName(step, second));
      } else {
        at = cells.put(cell, step);
      }
      if (first) // no comma
        at = std::copy(cell + 1, at, cell);
      out.commit(at);
    }
    if (list.size() == 1 && list[0].kind() == StepKind::Bubble)
      out.text("\"\"");
    out.text("\n");
  }
  return success();
}

} // namespace pipec
