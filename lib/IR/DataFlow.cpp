//===- DataFlow.cpp - Which step makes what for which steps ---------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IR/DataFlow.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

StageGraph StageGraph::chain(unsigned numStages) {
  std::vector<Edge> edges;
  edges.reserve(numStages);
  for (unsigned stage = 1; stage < numStages; ++stage)
    edges.push_back({stage - 1, stage});
  return StageGraph(numStages, std::move(edges));
}

/// A forward-only schedule has some when it was not verified.
static bool hasGradients(const Schedule &schedule) {
  auto deals = [](Step step) {
    return dataKind(step.kind()) == DataKind::Gradient;
  };
  return !schedule.forwardOnly ||
         any_of(schedule.ranks,
                [&](const StepList &list) { return any_of(list, deals); });
}

DataFlow::DataFlow(const Schedule &schedule)
    : DataFlow(schedule, StageGraph::chain(schedule.numStages)) {}

DataFlow::DataFlow(const Schedule &schedule, const StageGraph &graph, bool kept)
    : stages(graph.numStages()), microbatches(schedule.numMicrobatches),
      split(schedule.directionSplit()),
      directions(schedule.placement.numDirections()),
      rows(directions * stages * numRows) {
  assert(stages == schedule.numStages);
  homes.reserve(directions * stages);
  for (unsigned d = 0; d != directions; ++d)
    for (uint32_t rank : schedule.placement.map(d))
      homes.push_back(uint16_t(rank));

  std::vector<unsigned> numIn(stages), numOut(stages);
  for (StageGraph::Edge edge : graph.edges()) {
    ++numIn[edge.to];
    ++numOut[edge.from];
  }
  // What enters a stage on the way forth leaves it on the way back.
  addPlanes(DataKind::Activation, numIn);
  addPlanes(DataKind::Gradient, numOut);
  for (unsigned stage = 0; stage != stages; ++stage) {
    unsigned in = numIn[stage], out = numOut[stage];
    sizeRow(unsigned(DataKind::Activation), stage, in, out + kept);
    sizeRow(unsigned(DataKind::Gradient), stage, out + kept, in + kept);
    sizeRow(weightRow, stage, kept, 0);
  }
  std::vector<unsigned> in(stages), out(stages);
  for (StageGraph::Edge edge : graph.edges()) {
    unsigned output = out[edge.from]++, input = in[edge.to]++;
    connect(unsigned(DataKind::Activation), StepKind::F, edge.from, output,
            unsigned(DataKind::Activation), StepKind::F, edge.to, input,
            plane(DataKind::Activation, edge.to, input));
    connect(unsigned(DataKind::Gradient), StepKind::B, edge.to, input,
            unsigned(DataKind::Gradient), StepKind::B, edge.from, output,
            plane(DataKind::Gradient, edge.from, output));
  }

  for (unsigned stage = 0; kept && stage != stages; ++stage) {
    unsigned in = numIn[stage], out = numOut[stage];
    connect(unsigned(DataKind::Activation), StepKind::F, stage, out,
            unsigned(DataKind::Gradient), StepKind::B, stage, out, numPlanes++);
    connect(unsigned(DataKind::Gradient), StepKind::B, stage, in, weightRow,
            StepKind::W, stage, 0, numPlanes++);
  }

  for (ArrayRef<unsigned> tied : graph.tied()) {
    unsigned others = tied.size() - 1;
    for (unsigned stage : tied) {
      sizeRow(unsigned(DataKind::Reduction), stage, 0, others);
      sizeRow(waitRow, stage, others, 0);
    }
    // The ports of a stage are the others in their order.
    for (unsigned from = 0; from != tied.size(); ++from)
      for (unsigned to = 0; to != tied.size(); ++to)
        if (from != to)
          connect(unsigned(DataKind::Reduction), StepKind::ReduceGrad,
                  tied[from], to - (to > from), waitRow,
                  StepKind::WaitReduceGrad, tied[to], from - (from > to),
                  numPlanes++);
  }
  if (graph.tied().empty() && !kept && !hasGradients(schedule))
    numPlanes = firstPlane[unsigned(DataKind::Gradient)];
}

/// Numbers the inputs of all stages: the first ones stage by stage, whether
/// there is one or not, then the others.
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

/// Makes room for the ports of a row in all directions.
void DataFlow::sizeRow(unsigned row, unsigned stage, unsigned inputs,
                       unsigned outputs) {
  assert(inputs < maxPorts && outputs < maxPorts);
  for (size_t d = 0; d != directions; ++d) {
    Row &of = rows[(stage + d * stages) * numRows + row];
    of.numInputs = inputs;
    of.numOutputs = outputs;
    if (inputs <= 1 && outputs <= 1)
      continue;
    of.begin = ports.size();
    ports.resize(ports.size() + inputs + outputs);
  }
}

/// Enters the data of `plane`: port `output` of the row `maker` of stage `from`
/// and port `input` of the row `taker` of stage `to`.
void DataFlow::connect(unsigned maker, StepKind makerKind, unsigned from,
                       unsigned output, unsigned taker, StepKind takerKind,
                       unsigned to, unsigned input, uint32_t plane) {
  for (size_t d = 0; d != directions; ++d) {
    uint16_t fromRank = homes[from + d * stages];
    uint16_t toRank = homes[to + d * stages];
    bool transfers = fromRank != toRank;
    Port out{plane,           toRank,    uint16_t(to),
             uint16_t(input), takerKind, transfers};
    Port in{plane,            fromRank,  uint16_t(from),
            uint16_t(output), makerKind, transfers};
    Row &makes = rows[(from + d * stages) * numRows + maker];
    Row &takes = rows[(to + d * stages) * numRows + taker];
    if (output == 0)
      makes.firstOutput = out;
    if (input == 0)
      takes.firstInput = in;
    if (makes.numInputs > 1 || makes.numOutputs > 1)
      ports[makes.begin + makes.numInputs + output] = out;
    if (takes.numInputs > 1 || takes.numOutputs > 1)
      ports[takes.begin + input] = in;
  }
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
