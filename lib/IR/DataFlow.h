//===- DataFlow.h - Producers and consumers of data -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The model of data flow: the single definition that the verifier, the walks,
// the waiting engine, the simulation and the P2P passes use.
//
// Components
//
//   stage graph  which stages of the model feed which (`StageGraph`). A stage
//                edge goes from a stage to one that consumes its output. Most
//                models are chains, in which stage s feeds stage s + 1.
//   placement    the rank of each stage (`Placement`). A bidirectional schedule
//                places the stages twice: a micro-batch flows in one of two
//                directions, those below `Schedule::directionSplit` in
//                direction 0.
//
// Definitions
//
//   datum        the result of one step for one other step and one micro-batch.
//                Each stage edge u -> v has two: the activation, which F u
//                produces and F v consumes, and the gradient, which B or I v
//                produces and B or I u consumes. A step with several consumers
//                produces a datum for each.
//   producer     the step that produces a datum, which is available when the
//                step ends.
//   consumer     the step that consumes a datum. It cannot start earlier.
//   transfer     a datum whose producer and consumer are on different ranks. It
//                is moved by a send on the producer's rank, after the producer,
//                and a receive on the consumer's rank, before the consumer.
//   edge         a directed pair of ranks between which transfers go. Transfers
//                have no names: the k-th send of an edge matches the k-th
//                receive.
//   peer         the rank at the other end of a transfer.
//
// A stage also keeps results for its own later steps: the activations that F
// saves for B or I, and the gradient that I keeps for W. All steps of a pair of
// stage and micro-batch are on one rank, so these dependences follow from the
// order of one list (the states of Support/Steps.def), and most users do not
// need them. In a flow `withKept` they are data too, in the last port of a row.
//
//                          inputs                     outputs
//   F s m                  F u m for all u -> s       F v m for all s -> v
//   B s m, I s m           B v m for all s -> v       B u m for all u -> s
//   all others             none                       none
//
// where "B s m" means the B or the I of the list. The inputs and outputs of a
// row are in the order of the graph's edges; a P2P step identifies its datum by
// the index in this order (`Step::port`).
//
//===----------------------------------------------------------------------===//

#pragma once

#include "IR/Schedule.h"

#include <array>
#include <optional>
#include <vector>

namespace pipec {

/// The data flow of a schedule as a table for loops over all steps, with one
/// row per kind of step, stage and direction. Its size depends only on the
/// stage graph.
class DataFlow {
public:
  /// The data that the steps of a row consume, produce or move.
  struct Port {
    /// The data of one port of one row, one datum per micro-batch.
    uint32_t plane = 0;
    /// The step at the other end, which is the producer of an input, the
    /// consumer of an output, or the receive of the data of a send: its rank,
    /// stage and kind (B even if the list may have an I), and its port.
    uint16_t rank = 0;
    uint16_t stage = 0;
    uint16_t port = 0;
    StepKind kind = StepKind::Bubble;
    /// True if the other end is on another rank, so that the data of the port
    /// are transfers.
    bool transfers = false;
    /// True if the other end is a step of the same stage.
    bool isKept(Step self) const { return stage == self.stage(); }
  };
  /// The ports of the steps of one kind, stage and direction: their inputs and
  /// outputs, or the data that they transfer. Most rows have at most one port
  /// of each of these, which is stored in the row, so that a walk touches
  /// little memory.
  class Row {
    friend class DataFlow;
    Port firstInput;
    Port firstOutput;
    /// For a row with several ports of one of these: the index in
    /// `DataFlow::ports` of all inputs, followed by all outputs.
    uint32_t begin = 0;
    uint16_t numInputs = 0;
    uint16_t numOutputs = 0;
    /// Of P2P steps, in the place of the inputs.
    uint16_t numMoved = 0;
  };

  explicit DataFlow(const Schedule &schedule) : DataFlow(schedule, false) {}
  /// The flow of a schedule, including the data that stages keep for
  /// themselves.
  static DataFlow withKept(const Schedule &schedule) {
    return DataFlow(schedule, true);
  }

  /// False if no step of this kind consumes or produces data.
  bool takesOrMakes(StepKind kind) const {
    return step_facts::has(kindsWithData, kind);
  }
  const Row &row(Step step) const {
    return rowAt(step.kind(), step.stage(), step.unit() >= split);
  }
  /// The row of the F of a stage, or of its B, which equals that of its I.
  const Row &row(DataKind data, unsigned stage, unsigned direction) const {
    return rowAt(makerOf(data), stage, direction);
  }
  llvm::ArrayRef<Port> inputs(const Row &row) const {
    return {row.numInputs > 1 ? &ports[row.begin] : &row.firstInput,
            row.numInputs};
  }
  llvm::ArrayRef<Port> outputs(const Row &row) const {
    return {row.numOutputs > 1 ? &ports[row.begin + row.numInputs]
                               : &row.firstOutput,
            row.numOutputs};
  }
  llvm::ArrayRef<Port> inputs(Step step) const { return inputs(row(step)); }
  llvm::ArrayRef<Port> outputs(Step step) const { return outputs(row(step)); }

  /// The number of data. Data are numbered from 0.
  size_t size() const { return numPlanes * units; }
  /// The number of the datum of a port for a micro-batch. Data are numbered by
  /// consumer, so that the lookups of a rank are contiguous and in the order of
  /// its list.
  size_t datum(const Port &port, unsigned unit) const {
    return port.plane * units + unit;
  }
  /// A number below `size` for the F of a stage, or for its B or I: the number
  /// of its first input if it has one, otherwise a number that no datum has.
  size_t number(DataKind data, unsigned stage, unsigned unit) const {
    return (firstPlane[unsigned(data)] + stage) * units + unit;
  }
  size_t number(Step step) const {
    return number(dataKind(step.kind()), step.stage(), step.unit());
  }

  /// The port of a P2P step, or of the send that a wait for a send waits for:
  /// the data that is transferred and the P2P step at the other end. Null if
  /// the stage does not have the port.
  LLVM_ATTRIBUTE_ALWAYS_INLINE const Port *transfer(Step step) const {
    const Row &of = row(step);
    if (step.port() >= of.numMoved)
      return nullptr;
    return of.numMoved > 1 ? &ports[of.begin + step.port()] : &of.firstInput;
  }
  /// The matching P2P step of `step`, which transfers the data of `port`.
  static Step otherEnd(Step step, const Port &port) {
    assert(isP2P(port.kind));
    Step other(port.kind, port.stage, step.unit());
    other.setPort(port.port);
    return other;
  }
  /// The step at the other end of `port`, for a step of `unit`.
  static Step partner(const Port &port, unsigned unit) {
    return Step(port.kind, port.stage, unit);
  }

  /// The rank on which the placement puts a step.
  uint32_t home(unsigned stage, unsigned unit) const {
    return homes[stage + (unit >= split ? stages : 0)];
  }
  uint32_t home(Step step) const { return home(step.stage(), step.unit()); }
  uint32_t homeIn(unsigned direction, unsigned stage) const {
    return homes[stage + direction * stages];
  }
  size_t numStages() const { return stages; }
  unsigned numSlices() const { return slices; }
  /// True if each row has at most one input and one output, as in a chain.
  bool isSimple() const { return simple; }
  /// The first micro-batch of direction 1, see `Schedule::directionSplit`.
  unsigned directionSplit() const { return split; }
  unsigned numDirections() const { return directions; }

  /// True if the stages form a chain.
  bool isChain() const { return chain; }
  /// True if `port`, of a P2P step of `stage`, is on an edge of the chain.
  static bool isOfChain(unsigned stage, const Port &port) {
    return port.stage == stage + 1 || port.stage + 1u == stage;
  }
  /// For a P2P step, or a wait for a send, on an edge that is not one of a
  /// chain: the stage at the other end. Nothing for all other steps.
  std::optional<unsigned> otherStage(Step step) const {
    if (chain || !(isP2P(step.kind()) || isSendWait(step.kind())))
      return std::nullopt;
    const Port *port = transfer(step);
    return port && !isOfChain(step.stage(), *port)
               ? std::optional<unsigned>(port->stage)
               : std::nullopt;
  }
  /// The index of the port of a P2P step of a kind and stage whose other end is
  /// a step of stage `other`. Nothing if there is none.
  std::optional<unsigned> portTo(StepKind kind, unsigned stage,
                                 unsigned other) const;
  /// The same for the edge of the chain.
  std::optional<unsigned> portOfChain(StepKind kind, unsigned stage) const;

private:
  DataFlow(const Schedule &schedule, bool kept);

  static constexpr StepKind makerOf(DataKind data) {
    return data == DataKind::Activation ? StepKind::F : StepKind::B;
  }
  const Row &rowAt(StepKind kind, unsigned stage, size_t direction) const {
    return rows[(stage + direction * stages) * numStepKinds + unsigned(kind)];
  }
  Row &rowAt(StepKind kind, unsigned stage, size_t direction) {
    return rows[(stage + direction * stages) * numStepKinds + unsigned(kind)];
  }
  void addPlanes(DataKind data, llvm::ArrayRef<unsigned> numInputs);
  uint32_t plane(DataKind data, unsigned stage, unsigned port) const;
  void sizeRow(StepKind kind, unsigned stage, unsigned inputs, unsigned outputs,
               unsigned moved = 0);
  void connect(StepKind maker, unsigned from, unsigned output, StepKind taker,
               unsigned to, unsigned input, uint32_t plane);
  Port &portOf(Row &row, unsigned number, bool isOutput);
  void copyRow(StepKind kind, StepKind like);

  size_t stages;
  size_t units;
  unsigned slices;
  unsigned split;
  unsigned directions;
  size_t numPlanes = 0;
  /// By kind of data: the first plane of the first inputs of all stages, and
  /// the first plane of the other inputs.
  std::array<size_t, 2> firstPlane{};
  std::array<std::vector<uint32_t>, 2> morePlanes;
  /// Indexed by direction, stage and kind.
  std::vector<Row> rows;
  std::vector<uint16_t> homes;
  /// The ports of the rows with several ports of one sort.
  std::vector<Port> ports;
  bool simple = true;
  bool chain = true;
  /// Bit K for the kind of value K.
  uint32_t kindsWithData = 0;
};

/// The directed pairs of ranks between which the transfers of a schedule go,
/// numbered in ascending order.
class EdgeNumbers {
public:
  static constexpr uint32_t none = ~0u;

  explicit EdgeNumbers(const DataFlow &flow);

  size_t size() const { return pairs.size(); }
  /// The source and the destination of an edge.
  std::pair<uint32_t, uint32_t> ranks(uint32_t edge) const {
    return pairs[edge];
  }
  /// The edge between two ranks, which must exist.
  uint32_t find(uint32_t from, uint32_t to) const;

private:
  std::vector<std::pair<uint32_t, uint32_t>> pairs;
};

/// A table indexed by datum. Its size is linear in the number of steps,
/// whatever sizes the header of a schedule declares: it is an array in the
/// normal case of lists that are nearly complete, and a map for lists with few
/// steps of a huge model. Loops that run after a check of the number of steps
/// use a vector instead.
template <typename T> class DatumTable {
public:
  DatumTable(const Schedule &schedule, const DataFlow &flow)
      : DatumTable(schedule, flow.size()) {}
  /// A table that is indexed by other numbers below `size`.
  DatumTable(const Schedule &schedule, size_t size)
      : flat(size <= 16 * schedule.numSteps() + 4096 ? size : 0),
        entries(flat.empty() ? nullptr : flat.data()) {}

  /// The entry of a datum; adds it if necessary.
  T &operator[](size_t number) {
    return entries ? entries[number] : sparse[number];
  }
  /// The entry of a datum, or a default-constructed value if there is none.
  const T &operator[](size_t number) const {
    if (entries)
      return entries[number];
    auto it = sparse.find(number);
    return it == sparse.end() ? missing : it->second;
  }

private:
  std::vector<T> flat;
  /// The data of `flat`; null if `sparse` is used.
  T *entries;
  llvm::DenseMap<size_t, T> sparse;
  T missing{};
};

} // namespace pipec
