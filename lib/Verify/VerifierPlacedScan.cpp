//===- VerifierPlacedScan.cpp - The fast scan of transfers ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The scan goes over each list once, rank by rank. One byte per (stage,
// micro-batch) records the steps seen so far: a send must follow its producer,
// a receive must precede its consumer, and neither may occur twice. Each edge
// has a table of data. The rank that is scanned first writes the numbers of the
// data that it transfers, in order; the other rank compares them. The size of a
// table is the number of data that the edge must transfer, so no transfer is
// missing if all tables are full.
//
//===----------------------------------------------------------------------===//

#include "Verify/VerifierDetail.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

namespace {

class PlacedScan {
public:
  PlacedScan(const Schedule &schedule, const Cells &cells, const DataFlow &flow,
             const EdgeNumbers &edges)
      : schedule(schedule), flow(flow), edges(edges) {
    // Sparse or very large schedules, and rows with several ports, use the
    // slower check only. It is as fast for few steps.
    if (!cells.isDense() || flow.size() > maxName || !flow.isSimple())
      return;
    makeSides();
    makeRules();
    seen.resize(cells.size());
    usable = true;
  }

  bool isGood() {
    if (!usable)
      return false;
    for (uint32_t rank = 0; rank != schedule.ranks.size(); ++rank)
      if (!isGood(schedule.ranks[rank], rank))
        return false;
    return all_of(sides, [](const Side &side) { return side.at == side.end; });
  }

private:
  /// The bits of a (stage, micro-batch): the steps that produce its data, and
  /// the ends of its transfers.
  static uint8_t makes(DataKind data) { return 1 << unsigned(data); }
  static uint8_t sends(DataKind data) { return 4 << unsigned(data); }
  static uint8_t receives(DataKind data) { return 16 << unsigned(data); }
  static constexpr uint32_t maxName = 0xfffffffe;
  static constexpr unsigned numKinds = unsigned(StepKind::RecvB) + 1;
  /// The side of steps without an edge; its table is empty.
  static constexpr uint32_t noSide = 0;

  /// The conditions and effects of steps of one kind, stage and direction.
  struct Rule {
    /// The bits of its pair that must be set; the bits that must be clear.
    uint8_t needed = 0;
    uint8_t excluded = 0;
    /// The bits that the step sets.
    uint8_t adds = 0;
    /// The side of a P2P step on its edge, and the number of its datum for
    /// micro-batch 0.
    uint32_t side = noSide;
    uint32_t name = 0;
  };
  /// One side of an edge: the position of its next transfer in the table.
  struct Side {
    uint32_t at = 0;
    uint32_t end = 0;
    /// All ones on the rank that is scanned second and compares.
    uint32_t compares = 0;
  };

  void makeSides() {
    std::vector<uint32_t> rooms(edges.size());
    forEachRow([&](unsigned direction, unsigned stage, DataKind data) {
      unsigned split = std::min(flow.directionSplit(), schedule.numUnits);
      if (schedule.forwardOnly && data == DataKind::Gradient)
        return;
      for (const DataFlow::Port &output :
           flow.outputs(flow.row(data, stage, direction)))
        if (output.transfers)
          rooms[edges.find(flow.homeIn(direction, stage), output.rank)] +=
              direction ? schedule.numUnits - split : split;
    });
    sides.resize(2 * edges.size() + 1);
    uint32_t at = 0;
    for (size_t edge = 0; edge != edges.size(); ++edge) {
      auto [from, to] = edges.ranks(edge);
      uint32_t end = at + rooms[edge];
      sides[2 * edge + 1] = {at, end, from > to ? ~0u : 0};
      sides[2 * edge + 2] = {at, end, from > to ? 0 : ~0u};
      at = end;
    }
    names.resize(at);
  }

  template <typename Fn> void forEachRow(Fn fn) const {
    for (unsigned d = 0; d != flow.numDirections(); ++d)
      for (unsigned stage = 0; stage != schedule.numStages; ++stage)
        for (DataKind data : {DataKind::Activation, DataKind::Gradient})
          fn(d, stage, data);
  }

  void makeRules() {
    rules.resize(flow.numDirections() * size_t(schedule.numStages) * numKinds);
    forEachRow([&](unsigned direction, unsigned stage, DataKind data) {
      Rule *rule =
          &rules[(size_t(direction) * schedule.numStages + stage) * numKinds];
      auto set = [&](StepKind kind, Rule value) {
        rule[unsigned(kind)] = value;
      };
      const DataFlow::Row &row = flow.row(data, stage, direction);
      uint32_t rank = flow.homeIn(direction, stage);
      Rule send{makes(data), sends(data), sends(data)};
      // The backward frees the output of a forward.
      if (data == DataKind::Activation)
        send.excluded |= makes(DataKind::Gradient);
      for (const DataFlow::Port &output : flow.outputs(row))
        if (output.transfers) {
          send.side = 2 * edges.find(rank, output.rank) + 1;
          send.name = flow.datum(output, 0) + 1;
        }
      set(sendKind(data), send);
      Rule receive{0, uint8_t(makes(data) | receives(data)), receives(data)};
      uint8_t received = 0;
      for (const DataFlow::Port &input : flow.inputs(row))
        if (input.transfers) {
          receive.side = 2 * edges.find(input.rank, rank) + 2;
          receive.name = flow.datum(input, 0) + 1;
          received = receives(data);
        }
      set(recvKind(data), receive);
      for (StepKind kind : {StepKind::F, StepKind::B, StepKind::I})
        if (dataKind(kind) == data)
          set(kind, {received, 0, makes(data)});
    });
  }

  // All kinds of steps take the same path. The order of kinds is unpredictable,
  // and a mispredicted branch costs more than the unnecessary work.
  bool isGood(const StepList &list, uint32_t rank) {
    const size_t microbatches = schedule.numUnits;
    const unsigned split = flow.directionSplit();
    uint32_t wrong = 0;
    for (const Step &step : list) {
      if (unsigned(step.kind()) >= numKinds)
        continue;
      unsigned row = step.stage();
      if (step.unit() >= split)
        row += schedule.numStages;
      const Rule &rule = rules[size_t(row) * numKinds + unsigned(step.kind())];
      uint8_t &pair = seen[step.stage() * microbatches + step.unit()];
      wrong |= (~pair & rule.needed) | (pair & rule.excluded);
      pair |= rule.adds;
      if (isCompute(step.kind()))
        continue;
      wrong |= (flow.home(step) != rank) | step.port();
      Side &side = sides[rule.side];
      if (side.at == side.end)
        return false;
      uint32_t name = rule.name + step.unit();
      uint32_t &entry = names[side.at++];
      wrong |= (entry ^ name) & side.compares;
      entry = name;
    }
    return !wrong;
  }

  const Schedule &schedule;
  const DataFlow &flow;
  const EdgeNumbers &edges;
  bool usable = false;
  /// Indexed by direction, stage and kind.
  std::vector<Rule> rules;
  /// By edge, the side of its sends and that of its receives; `noSide` comes
  /// first.
  std::vector<Side> sides;
  /// The data of each edge, in order: their numbers plus 1, or 0 if unknown.
  std::vector<uint32_t> names;
  std::vector<uint8_t> seen;
};

} // namespace

bool areTransfersPlaced(const Schedule &schedule, const Cells &cells,
                        const DataFlow &flow, const EdgeNumbers &edges) {
  return PlacedScan(schedule, cells, flow, edges).isGood();
}

} // namespace pipec
