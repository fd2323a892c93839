//===- DataFlow.cpp - Producers and consumers of data ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "IR/DataFlow.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

/// True if there are gradients. An unverified forward-only schedule may have
/// some.
static bool hasGradients(const Schedule &schedule) {
  auto deals = [](Step step) {
    return dataKind(step.kind()) == DataKind::Gradient;
  };
  return !schedule.forwardOnly ||
         any_of(schedule.ranks,
                [&](const StepList &list) { return any_of(list, deals); });
}

DataFlow::DataFlow(const Schedule &schedule, bool kept)
    : stages(schedule.numStages), units(schedule.numUnits),
      slices(schedule.numSlices), split(schedule.directionSplit()),
      directions(schedule.placement.numDirections()),
      rows(directions * stages * numStepKinds),
      chain(schedule.graph.isChain()) {
  const StageGraph &graph = schedule.graph;
  homes.reserve(directions * stages);
  for (unsigned d = 0; d != directions; ++d)
    for (uint32_t rank : schedule.placement.map(d))
      homes.push_back(uint16_t(rank));

  std::vector<unsigned> numIn(stages), numOut(stages);
  graph.forEachEdge(stages, [&](StageGraph::Edge edge) {
    ++numIn[edge.to];
    ++numOut[edge.from];
  });
  // What enters a stage in the forward direction leaves it in the backward
  // direction.
  addPlanes(DataKind::Activation, numIn);
  addPlanes(DataKind::Gradient, numOut);
  for (unsigned stage = 0; stage != stages; ++stage) {
    unsigned in = numIn[stage], out = numOut[stage];
    sizeRow(StepKind::F, stage, in, out + kept);
    sizeRow(StepKind::B, stage, out + kept, in + kept);
    sizeRow(StepKind::W, stage, kept, 0);
    sizeRow(StepKind::SendF, stage, 0, 0, out);
    sizeRow(StepKind::RecvF, stage, 0, 0, in);
    sizeRow(StepKind::SendB, stage, 0, 0, in);
    sizeRow(StepKind::RecvB, stage, 0, 0, out);
  }
  std::vector<unsigned> in(stages), out(stages);
  graph.forEachEdge(stages, [&](StageGraph::Edge edge) {
    unsigned output = out[edge.from]++, input = in[edge.to]++;
    uint32_t forth = plane(DataKind::Activation, edge.to, input);
    connect(StepKind::F, edge.from, output, StepKind::F, edge.to, input, forth);
    connect(StepKind::SendF, edge.from, output, StepKind::RecvF, edge.to, input,
            forth);
    uint32_t back = plane(DataKind::Gradient, edge.from, output);
    connect(StepKind::B, edge.to, input, StepKind::B, edge.from, output, back);
    connect(StepKind::SendB, edge.to, input, StepKind::RecvB, edge.from, output,
            back);
  });

  for (unsigned stage = 0; kept && stage != stages; ++stage) {
    unsigned in = numIn[stage], out = numOut[stage];
    connect(StepKind::F, stage, out, StepKind::B, stage, out, numPlanes++);
    connect(StepKind::B, stage, in, StepKind::W, stage, 0, numPlanes++);
  }

  copyRow(StepKind::I, StepKind::B);
  copyRow(StepKind::WaitSendF, StepKind::SendF);
  copyRow(StepKind::WaitSendB, StepKind::SendB);
  if (!kept && !hasGradients(schedule))
    numPlanes = firstPlane[unsigned(DataKind::Gradient)];
}

/// Numbers the inputs of all stages: first one input per stage, whether it
/// exists or not, then the remaining ones.
void DataFlow::addPlanes(DataKind data, ArrayRef<unsigned> numInputs) {
  firstPlane[unsigned(data)] = numPlanes;
  numPlanes += stages;
  if (all_of(numInputs, [](unsigned inputs) { return inputs <= 1; }))
    return;
  for (unsigned inputs : numInputs) {
    morePlanes[unsigned(data)].push_back(numPlanes);
    numPlanes += inputs > 1 ? inputs - 1 : 0;
  }
}

uint32_t DataFlow::plane(DataKind data, unsigned stage, unsigned port) const {
  return port == 0 ? firstPlane[unsigned(data)] + stage
                   : morePlanes[unsigned(data)][stage] + port - 1;
}

/// Reserves the ports of a row in all directions.
void DataFlow::sizeRow(StepKind kind, unsigned stage, unsigned inputs,
                       unsigned outputs, unsigned moved) {
  assert(inputs < maxPorts && outputs < maxPorts && moved < maxPorts);
  if (inputs + outputs != 0)
    kindsWithData |= step_facts::bit(kind);
  for (size_t d = 0; d != directions; ++d) {
    Row &row = rowAt(kind, stage, d);
    row.numInputs = inputs;
    row.numOutputs = outputs;
    row.numMoved = moved;
    if (inputs <= 1 && outputs <= 1 && moved <= 1)
      continue;
    simple = false;
    row.begin = ports.size();
    ports.resize(ports.size() + inputs + outputs + moved);
  }
}

/// Connects output `output` of the steps `maker` of stage `from` to input
/// `input` of the steps `taker` of stage `to` by the data of `plane`, or a send
/// `maker` to a receive `taker` that transfer these data.
void DataFlow::connect(StepKind maker, unsigned from, unsigned output,
                       StepKind taker, unsigned to, unsigned input,
                       uint32_t plane) {
  for (size_t d = 0; d != directions; ++d) {
    uint16_t fromRank = homes[from + d * stages];
    uint16_t toRank = homes[to + d * stages];
    bool transfers = fromRank != toRank;
    portOf(rowAt(maker, from, d), output, /*isOutput=*/!isP2P(maker)) = {
        plane, toRank, uint16_t(to), uint16_t(input), taker, transfers};
    portOf(rowAt(taker, to, d), input, /*isOutput=*/false) = {
        plane, fromRank, uint16_t(from), uint16_t(output), maker, transfers};
  }
}

/// The place of a port of a row.
DataFlow::Port &DataFlow::portOf(Row &row, unsigned number, bool isOutput) {
  if (isOutput)
    return row.numOutputs > 1 ? ports[row.begin + row.numInputs + number]
                              : row.firstOutput;
  return row.numInputs > 1 || row.numMoved > 1 ? ports[row.begin + number]
                                               : row.firstInput;
}

/// Steps of `kind` have the ports of another kind.
void DataFlow::copyRow(StepKind kind, StepKind like) {
  for (size_t d = 0; d != directions; ++d)
    for (unsigned stage = 0; stage != stages; ++stage)
      rowAt(kind, stage, d) = rowAt(like, stage, d);
  if (takesOrMakes(like))
    kindsWithData |= step_facts::bit(kind);
}

std::optional<unsigned> DataFlow::portTo(StepKind kind, unsigned stage,
                                         unsigned other) const {
  // The ports are in ascending order of the stages at the other ends.
  const Row &of = rowAt(kind, stage, 0);
  ArrayRef<Port> moved(of.numMoved > 1 ? &ports[of.begin] : &of.firstInput,
                       of.numMoved);
  const Port *at = partition_point(
      moved, [&](const Port &port) { return port.stage < other; });
  if (at == moved.end() || at->stage != other)
    return std::nullopt;
  return at - moved.begin();
}

std::optional<unsigned> DataFlow::portOfChain(StepKind kind,
                                              unsigned stage) const {
  bool up = !isRecv(kind) == (dataKind(kind) == DataKind::Activation);
  if (!up && stage == 0)
    return std::nullopt;
  return portTo(kind, stage, up ? stage + 1 : stage - 1);
}

//===----------------------------------------------------------------------===//
// Edges
//===----------------------------------------------------------------------===//

EdgeNumbers::EdgeNumbers(const DataFlow &flow) {
  for (unsigned d = 0; d != flow.numDirections(); ++d)
    for (unsigned stage = 0; stage != flow.numStages(); ++stage)
      for (DataKind data : {DataKind::Activation, DataKind::Gradient})
        for (const DataFlow::Port &port :
             flow.outputs(flow.row(data, stage, d)))
          if (port.transfers)
            pairs.push_back({flow.homeIn(d, stage), port.rank});
  llvm::sort(pairs);
  pairs.erase(llvm::unique(pairs), pairs.end());
}

uint32_t EdgeNumbers::find(uint32_t from, uint32_t to) const {
  return lower_bound(pairs, std::pair(from, to)) - pairs.begin();
}

} // namespace pipec
