//===- DataModel.h - A schedule as data for templates -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The data model of docs/DataModel.md: the objects and fields of DataModel.def,
// computed from a schedule on demand. Only the loops of the ranks, once
// families are needed, and the steps of one rank are stored.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Emit/RankFamily.h"
#include "IR/DataFlow.h"
#include "Support/SourceFiles.h"
#include "Template/TemplateData.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Path.h"

#include <memory>
#include <optional>

namespace pipec {

/// Finds the lines of steps. The steps of a rank come from few statements, so
/// each position is only looked up once.
class SourceLines {
public:
  SourceLines(const Schedule &schedule, const SourceFiles &files)
      : files(files) {
    llvm::SMLoc loc = files.expand(schedule.source);
    if (!loc.isValid())
      return;
    std::string path = files.lineColumn(loc).file.str();
    file = llvm::sys::path::filename(path).str();
    fromProgram = llvm::StringRef(file).ends_with(".pipe");
  }

  /// The name of the file, without folders; empty if unknown.
  const std::string &fileName() const { return file; }

  /// The line of a step; 0 if it comes from a list of steps, whose lines add no
  /// information.
  unsigned operator()(Step step) {
    if (!fromProgram || !step.source().isValid())
      return 0;
    auto [it, isNew] = lines.try_emplace(step.source().offset, 0);
    if (isNew)
      it->second = files.lineColumn(files.expand(step.source())).line;
    return it->second;
  }

private:
  const SourceFiles &files;
  std::string file;
  bool fromProgram = false;
  llvm::DenseMap<uint32_t, unsigned> lines;
};

/// The types of objects in the data model.
enum class DataType : uint16_t {
#define PIPEC_DATA_OBJECT(Object, View, Summary) Object,
#include "Emit/DataModel.def"
  /// A list whose items are loops, groups or steps.
  Node,
};

/// Units of one stage that have an R: `count` units from `first` on, each
/// `stride` after the one before.
struct RecomputedUnits {
  unsigned stage, first, count, stride;
};

/// The data model of one schedule, which must outlive it. Not thread-safe,
/// since it caches its last results.
class DataModel : public TemplateData {
public:
  /// With `impliesWaits`, the families have no waits for sends where
  /// `mostSends` says what they are.
  DataModel(const Schedule &schedule, const SourceFiles &files,
            bool impliesWaits = false);

  std::optional<unsigned> nameNumber(llvm::StringRef name) const override;
  llvm::ArrayRef<llvm::StringRef> names() const override;
  DataNode root() const override;
  bool has(const DataNode &object, unsigned name) const override;
  DataValue get(const DataNode &object, unsigned name) const override;
  std::optional<unsigned> flagBit(unsigned name) const override;
  DataFlags flags(const DataNode &object) const override;
  DataNode item(const DataNode &list, uint32_t index) const override;
  uint64_t numObjects() const override;

  /// Calls `visit(name, value)` for the fields of an object in the JSON, in
  /// order.
  void forEachField(
      const DataNode &object,
      llvm::function_ref<void(llvm::StringRef name, const DataValue &value)>
          visit) const;

private:
  /// The views of objects and the table of fields (DataModelFields.cpp).
  struct Fields;

  /// A term of a micro-batch expression: a loop variable with a factor, a
  /// column, or a number.
  struct Term {
    bool minus = false;
    /// The depth of the loop, or -1.
    int loop = -1;
    int64_t factor = 1;
    /// The column, or -1.
    int column = -1;
    int64_t number = 0;
  };
  /// `DataNode::a` of a step in the plain list of the rank `DataNode::b`. Other
  /// parts of families have the family in `a`; `b` is the row of a Value, and
  /// the index in `FamilyBody::nodes` of a Loop, Group, Step or Term.
  static constexpr uint32_t noFamily = ~0u;

  static DataNode listOf(DataType type, size_t size, uint32_t a = 0,
                         uint32_t b = 0) {
    return {uint16_t(type), 0, uint32_t(size), a, b};
  }
  /// The result of the analysis of the loops of all ranks.
  struct Families {
    std::vector<LoopTree> trees;
    std::vector<RankFamily> families;
    std::vector<FamilyBody> bodies;
    std::vector<std::string> typeNames;
    /// By rank: its family (~0u for none) and its row.
    std::vector<std::pair<uint32_t, uint32_t>> places;
  };

  /// The pairs of ranks with transfers, and the communicators for them.
  struct Communication {
    std::vector<std::pair<unsigned, unsigned>> pairs;
    /// Empty if the lists always deadlock.
    llvm::StringRef communicators;
  };

  const Families &families() const;
  const Communication &communication() const;
  llvm::StringRef digest() const;
  llvm::ArrayRef<Step> stepsOf(unsigned rank) const;
  Step stepOf(const DataNode &object) const;
  llvm::SmallVector<Term, 4> termsOf(const DataNode &object) const;

  const Schedule &schedule;
  DataFlow flow;
  mutable SourceLines lines;
  std::string nameText, sourceText;
  std::string cppNamespace, cppGuard, cppShortName, quotedName, quotedSource;
  std::vector<std::string> phaseTexts, paramTexts, tieTexts, streamTexts;
  std::string layout;
  /// Those of a graph that is not a chain.
  std::vector<StageGraph::Edge> edges;
  std::vector<bool> sharded, reduced;
  std::vector<RecomputedUnits> recomputed;
  bool isSharded = false, reducesGradients = false, waitsForSends = false,
       waitsForReductions = false, hasSteps = false;
  mutable std::unique_ptr<Families> made;
  mutable std::unique_ptr<Communication> communicates;
  mutable std::string digestText;
  std::optional<unsigned> mostSends;
  bool impliesWaits;
  /// The rank of the last list, and the list.
  mutable unsigned stepsRank = ~0u;
  mutable StepList steps;
};

} // namespace pipec
