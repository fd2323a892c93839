//===- OrderLists.h - A schedule from lists without a header ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Import/Readers.h"
#include "Support/Literals.h"

#include <array>

namespace pipec {

/// The list in which a stage occurs first.
struct StageUse {
  static constexpr uint32_t nowhere = ~0u;
  uint32_t rank = nowhere;
  SourceLoc place;
};

/// Infers the rank of each stage from the lists of some ranks: a loop or a V
/// over `numRanks` ranks, whichever agrees with `uses`, which is by stage.
/// Without `numStages` there are as many as complete the last round. Reports a
/// stage that fits neither.
llvm::FailureOr<std::vector<uint32_t>>
completeMap(llvm::ArrayRef<StageUse> uses, unsigned numRanks,
            std::optional<unsigned> numStages, DiagEngine &diags);

/// Collects the lists of an order and the keys of its file, and infers the
/// rest:
///
///   ranks          the number of lists
///   stages         one more than the highest stage of any step
///   micro-batches  one more than the highest micro-batch of any step
///   map            the list in which each stage occurs
///   forward-only   if no step is a B, I or W
///
/// If the file has the lists of some ranks only, the map is that of a loop or a
/// V (`completeMap`).
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
    if (step.kind() == StepKind::Bubble)
      return;
    if (step.stage() >= uses.size())
      uses.resize(step.stage() + 1);
    StageUse &use = uses[step.stage()];
    if (use.rank == StageUse::nowhere)
      use = {unsigned(lists.size() - 1), step.source()};
    else if (use.rank + 1 != lists.size() && !twice)
      twice = {step.stage(), unsigned(lists.size() - 1), step.source()};
    if (hasMicrobatch(step.kind()))
      numMicrobatches = std::max(numMicrobatches, step.microbatch() + 1);
    backwards |= isCompute(step.kind()) && step.kind() != StepKind::F;
  }

  /// The schedule that begins at `source`; reports what does not fit.
  llvm::FailureOr<Schedule> finish(SourceLoc source);

private:
  struct List {
    unsigned rank;
    SourceLoc place;
    StepList steps;
  };
  /// A stage that is in a second list.
  struct StageTwice {
    unsigned stage;
    unsigned list;
    SourceLoc place;
  };

  llvm::LogicalResult inferSizes();
  llvm::LogicalResult placeLists();
  llvm::LogicalResult inferMap();

  const ListOptions &options;
  DiagEngine &diags;
  Schedule schedule;
  std::vector<List> lists;
  std::array<Size, 3> allSizes{{{"ranks", maxRanks},
                                {"stages", maxStages},
                                {"microbatches", maxMicrobatches}}};
  std::vector<uint32_t> declaredMap;
  SourceLoc mapPlace;
  std::vector<SourceLoc> mapPlaces;
  std::optional<LayerLayout> layout;
  llvm::SMRange layoutPlace;
  /// By stage; the ranks are indices into `lists`.
  std::vector<StageUse> uses;
  std::optional<StageTwice> twice;
  unsigned numMicrobatches = 0;
  bool backwards = false;
};

} // namespace pipec
