//===- Lists.h - Schedules from lists without a header ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The lists of a file have no header, so it is inferred:
//
//   ranks          the number of lists: the rows of a CSV
//   stages         one more than the highest stage of any step
//   micro-batches  one more than the highest micro-batch of any step
//   map            the list in which each stage occurs
//   forward-only   if no step is a B, I or W
//
// If there are lists of some ranks only, the map is a loop or a V.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Import/Readers.h"
#include "Support/Json.h"

#include <array>
#include <vector>

namespace pipec {

/// The lists that name a stage, and the first step of each.
struct StageUse {
  static constexpr uint32_t nowhere = ~0u;
  uint32_t rank = nowhere;
  SourceLoc place;
  uint32_t otherRank = nowhere;
  SourceLoc otherPlace;
  /// True if there is a third list.
  bool furtherRanks = false;
};

/// The sizes and the map that the steps of lists imply.
struct ListSizes {
  std::vector<StageUse> stages;
  SourceLoc highestMicrobatch;
  unsigned numUnits = 0;
  uint32_t kinds = 0; // a bit per kind that occurs

  /// Records a step of a rank. All steps of a rank must come together.
  void note(Step step, uint32_t rank) {
    if (step.stage() >= stages.size())
      stages.resize(step.stage() + 1);
    StageUse &use = stages[step.stage()];
    if (use.rank != rank)
      noteRank(use, step, rank);
    if (hasUnit(step.kind()) && step.unit() >= numUnits) {
      numUnits = step.unit() + 1;
      highestMicrobatch = step.source();
    }
    kinds |= 1u << unsigned(step.kind());
  }
  bool isForwardOnly() const;
  /// Reports the first stage that a second list names.
  llvm::LogicalResult checkOneRank(DiagEngine &diags) const;
  /// Sets the map and the stages of a schedule with the lists of some ranks: a
  /// loop or a V, whichever agrees with them. Without `numStages` there are as
  /// many as complete the last round. Reports a stage that fits neither.
  llvm::LogicalResult completeMap(Schedule &schedule,
                                  std::optional<unsigned> numStages,
                                  DiagEngine &diags) const;

private:
  static void noteRank(StageUse &use, Step step, uint32_t rank);
};

/// Collects the lists of an order and the keys of its file, and infers the
/// rest.
class OrderLists {
public:
  /// A size that a file may declare.
  struct Size {
    llvm::StringLiteral key;
    unsigned limit;
    std::optional<unsigned> declared = std::nullopt;
    SourceLoc place = {};
  };

  OrderLists(const ListOptions &options, DiagEngine &diags)
      : options(options), diags(diags) {
    schedule.name = options.name.str();
  }

  void setName(llvm::StringRef name) { schedule.name = name.str(); }
  /// Reads the value of a key that all orders may have: `ranks`, `stages`,
  /// `microbatches`, `stage_to_rank` and `layout`. Nothing if `key` is another
  /// one. Returns false after reporting an error.
  std::optional<bool> readShared(LiteralReader &reader, llvm::StringRef key);
  static bool readSize(LiteralReader &reader, Size &size);
  /// The value of `stage_to_rank`, and the places of its entries.
  llvm::ArrayRef<uint32_t> map() const { return declaredMap; }
  SourceLoc placeInMap(size_t stage) const { return mapPlaces[stage]; }
  /// True if the text has the key `stage_to_rank`.
  bool hasMap() const { return mapPlace.isValid(); }

  /// Begins the list of `rank`, or of the rank after the last list. Null after
  /// reporting one list too many. The result is valid until the next call.
  StepList *begin(std::optional<unsigned> rank, SourceLoc place);
  /// Adds a step to the last list.
  void add(StepList &list, Step step) {
    list.push_back(step);
    if (step.kind() != StepKind::Bubble)
      found.note(step, lists.size() - 1);
  }

  /// The schedule that begins at `source`; reports what does not fit.
  llvm::FailureOr<Schedule> finish(SourceLoc source);

private:
  struct List {
    unsigned rank;
    SourceLoc place;
    StepList steps;
  };

  llvm::LogicalResult inferSizes();
  llvm::LogicalResult placeLists();
  llvm::LogicalResult inferMap();

  const ListOptions &options;
  DiagEngine &diags;
  Schedule schedule;
  std::vector<List> lists;
  std::array<Size, 3> allSizes{
      {{"ranks", maxRanks}, {"stages", maxStages}, {"microbatches", maxUnits}}};
  std::vector<uint32_t> declaredMap;
  SourceLoc mapPlace;
  std::vector<SourceLoc> mapPlaces;
  std::optional<LayerLayout> layout;
  llvm::SMRange layoutPlace;
  /// Until the map is inferred, the ranks are indices into `lists`.
  ListSizes found;
};

/// Collects the sizes of the steps of a CSV, and creates the header of a
/// schedule.
///
/// A stage in two rows is an error, as in PyTorch, unless the whole file is
/// bidirectional: there are as many stages as ranks, each stage s is in rows s
/// and p-1-s, and the steps of micro-batches below m/2 are in row s, the others
/// in row p-1-s.
class CsvHeader : public ListSizes {
public:
  /// Records a REDUCE_TIED.
  void noteTied(Step step) {
    if (step.stage() >= tied.size())
      tied.resize(step.stage() + 1);
    if (!tied[step.stage()].isValid())
      tied[step.stage()] = step.source();
  }

  /// Sets the sizes and the map of `schedule`, which must have only the lists.
  /// Reports sizes that differ from `options`, and stages that are missing or
  /// in the wrong rows, at their cells of `text`.
  llvm::LogicalResult infer(Schedule &schedule, llvm::StringRef text,
                            const ListOptions &options,
                            DiagEngine &diags) const;

private:
  llvm::LogicalResult inferMap(Schedule &schedule, llvm::StringRef text,
                               DiagEngine &diags) const;
  llvm::LogicalResult inferTies(Schedule &schedule, llvm::StringRef text,
                                const ListOptions &options,
                                DiagEngine &diags) const;

  /// By group of tied stages, the first cell that names it.
  std::vector<SourceLoc> tied;
};

/// True if the other end of a transfer is a later stage.
inline bool goesUp(StepKind kind) {
  return isRecv(kind) != (dataKind(kind) == DataKind::Activation);
}

/// Collects the transfers of lists that name the stage at their other end, and
/// sets the stage graph of a schedule and the ports of its transfers.
///
/// A transfer that does not name that stage is on an edge of the chain, stage s
/// to stage s + 1; one that does (`0>3SEND_F2` in a CSV) is on the edge that it
/// names. The graph is given on the command line, or inferred if transfers name
/// stages:
///
///   edge that a transfer names             in the graph
///   edge of the chain between two ranks    if a transfer is on it
///   edge of the chain within one rank      in the graph
class ListGraph {
public:
  /// Records that `step`, which gets this index in the list of a rank, names
  /// `peer`. Its port is a mark until `apply`.
  void note(Step &step, uint32_t rank, uint32_t index, unsigned peer) {
    step.setPort(markedPort);
    named.push_back({rank, index, peer});
  }

  /// Sets the graph and the ports. `schedule` must be complete otherwise.
  /// Reports a graph that is invalid, and transfers on edges that it lacks.
  llvm::LogicalResult apply(Schedule &schedule, const ListOptions &options,
                            DiagEngine &diags) const;

private:
  /// The port of steps that name a stage, until `apply`. All others
  /// have port 0.
  static constexpr unsigned markedPort = 1;

  struct Named {
    uint32_t rank;
    uint32_t index;
    unsigned peer;
  };

  llvm::LogicalResult infer(const Schedule &schedule, GraphBuilder &builder,
                            DiagEngine &diags) const;
  llvm::LogicalResult setPorts(Schedule &schedule, DiagEngine &diags) const;

  std::vector<Named> named;
};

} // namespace pipec
