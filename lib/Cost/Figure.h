//===- Figure.h - Figures of costs and memory, by place ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cost model and the memory model are sets of figures such as `F`, `p2p`
// and `parameters`, each an exact rational. Figures.def has one row per figure:
// its name, unit, default, and the scopes that it may be given for. The checker
// of programs, their evaluation, step IR, cost profiles, `--cost`, the printers
// and docs/Figures.md all use that table.
//
// Scopes. A figure is given for the whole schedule or for a place in it: a
// stage, a rank, a micro-batch, a micro-batch of a stage, a slice, the edges
// between nodes, one edge, or an overlap of certain kinds. A narrower scope
// overrides a wider one: slice over micro-batch of a stage over micro-batch
// over rank over stage over the whole schedule, edge over nodes over the whole
// schedule. A figure that is not given has its default.
//
// Precedence. Several sources may give a figure for the same place. Figures of
// the program (or step IR) are overridden by a profile of `--cost-profile`, and
// both by `--cost`, figure by figure (`FigureSet::merge`, GivenSettings.h).
// Within a program, later entries override earlier ones.
//
// Units. Times may be in any unit, sizes are in units of one chunk's
// activations; pipec does not convert units. Figures of the units `Time`,
// `Factor` and `Size` must not be negative; a `Change` may be.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Support/Rational.h"
#include "Support/StepKind.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/iterator_range.h"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pipec {

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

enum class Figure : uint8_t {
#define PIPEC_FIGURE(Id, InBlock, Name, InUnit, Scopes, CutId, Default, Doc) Id,
#include "Cost/Figures.def"
};

enum class FigureScope : uint8_t {
#define PIPEC_SCOPE(Id, Word, Numbers, Key, One, Many, Doc) Id,
#include "Cost/Figures.def"
};

/// The block of a program that a figure belongs to.
enum class FigureBlock : uint8_t { Cost, Memory };

/// The quantity that a figure measures.
enum class FigureUnit : uint8_t { Time, Factor, Size, Change };

/// How a figure of a part of the model changes if the model is cut into another
/// number of stages (ModelParts.h). A figure that is divided or kept if given
/// belongs to steps that few schedules have, so stages have it only if a part
/// or a layer has it.
enum class WhenCut : uint8_t { Divided, DividedIfGiven, Kept, KeptIfGiven };

/// A row of Figures.def.
struct FigureInfo {
  Figure figure;
  FigureBlock block;
  llvm::StringLiteral name;
  FigureUnit unit;
  /// The bit `1 << scope` is set for each scope that may have the figure.
  uint16_t scopes;
  WhenCut cut;
  llvm::StringLiteral defaultText;
  llvm::StringLiteral doc;
  /// Empty if the default depends on other figures.
  std::optional<Rational> defaultValue;

  /// The first word of the name, and the second one, which most do not have.
  llvm::StringRef word() const {
    return llvm::StringRef(name).split(' ').first;
  }
  llvm::StringRef inner() const {
    return llvm::StringRef(name).split(' ').second;
  }
  bool isDivided() const { return cut <= WhenCut::DividedIfGiven; }
  bool isIfGiven() const {
    return cut == WhenCut::DividedIfGiven || cut == WhenCut::KeptIfGiven;
  }
  bool isIn(FigureScope scope) const { return scopes >> unsigned(scope) & 1; }
  /// True if `value` is negative and must not be.
  bool refuses(Rational value) const {
    return unit != FigureUnit::Change && value.isNegative();
  }
};

struct ScopeInfo {
  FigureScope scope;
  llvm::StringLiteral word;
  /// The number of numbers that follow the word.
  unsigned numbers;
  llvm::StringLiteral profileKey;
  /// Singular and plural for messages.
  llvm::StringLiteral one, many;
  llvm::StringLiteral doc;
};

/// All rows, in the order of the table.
llvm::ArrayRef<FigureInfo> allFigures();
llvm::ArrayRef<ScopeInfo> allScopes();

inline const FigureInfo &infoOf(Figure figure) {
  return allFigures()[unsigned(figure)];
}
inline const ScopeInfo &infoOf(FigureScope scope) {
  return allScopes()[unsigned(scope)];
}

/// `cost`, `memory`.
llvm::StringRef blockName(FigureBlock block);

/// The figure of a scope of `block` whose name is `word` or, with `inner`,
/// these two words; null if there is none.
const FigureInfo *findFigure(FigureBlock block, FigureScope scope,
                             llvm::StringRef word, llvm::StringRef inner = "");
/// The names of one word of the figures of a scope, in the order of the table.
llvm::SmallVector<llvm::StringRef, 12> figureNames(FigureBlock block,
                                                   FigureScope scope);
/// The second words of the names of two that begin with `word`.
llvm::SmallVector<llvm::StringRef, 2>
innerNames(FigureBlock block, FigureScope scope, llvm::StringRef word);
/// The scopes of `block` that are opened in it, in the order of the table.
llvm::SmallVector<const ScopeInfo *, 8> scopesOf(FigureBlock block);
/// The scope that is opened inside `outer`; null if there is none.
const ScopeInfo *scopeInside(FigureBlock block, FigureScope outer);

/// The cost of a compute or FSDP kind.
Figure costFigure(StepKind kind);
/// The change of the live activations by a compute kind.
Figure liveFigure(StepKind kind);
/// The additional memory of a rank while a step of a compute kind runs.
Figure duringFigure(StepKind kind);

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

struct ModelSizes {
  unsigned ranks;
  unsigned stages;
  unsigned microbatches;
  unsigned slices;
};

/// The maximum of each size.
inline constexpr ModelSizes maxSizes = {maxRanks, maxStages, maxUnits,
                                        maxUnits};

/// The number of stages, ranks, micro-batches or slices, for a scope that
/// counts them.
unsigned countOf(FigureScope scope, ModelSizes sizes);

/// The place of a figure: a scope and its numbers. Overlaps, which are
/// identified by kinds, are separate (`CostSettings::Overlap`).
struct Place {
  FigureScope scope = FigureScope::Whole;
  /// The stage, rank or micro-batch, the size of a node, or the source rank of
  /// an edge.
  unsigned number = 0;
  /// The destination rank of an edge, or the micro-batch of a stage.
  unsigned to = 0;
  friend auto operator<=>(const Place &, const Place &) = default;
};

/// The micro-batch of the batch and the slice of a unit, where these may have
/// figures of their own.
struct UnitPlace {
  std::optional<unsigned> microbatch = std::nullopt;
  std::optional<unsigned> slice = std::nullopt;
};

/// The units of a place; all of them unless its scope is one of units.
UnitPlace unitPlaceOf(Place place);

/// `stage 0`, `edge 0 -> 1`, `micro-batch 3 of stage 0`; empty for the whole
/// schedule and for overlaps.
std::string placeText(Place place);
/// A figure of a place, for messages: "`F` of stage 0".
std::string figureText(Figure figure, Place place);

/// The figures given for one place, in the order of the table.
class FigureRow {
public:
  using Entry = std::pair<Figure, Rational>;

  std::optional<Rational> get(Figure figure) const {
    for (const Entry &entry : entries)
      if (entry.first == figure)
        return entry.second;
    return std::nullopt;
  }
  void set(Figure figure, Rational value);
  /// Sets all figures that are set in `over`.
  void merge(const FigureRow &over) {
    for (const auto &[figure, value] : over.entries)
      set(figure, value);
  }
  bool empty() const { return entries.empty(); }
  /// True if the row has a cost of F, B, I or W.
  bool hasCompute() const {
    return !empty() && entries.front().first <= Figure::W;
  }
  auto begin() const { return entries.begin(); }
  auto end() const { return entries.end(); }
  friend bool operator==(const FigureRow &, const FigureRow &) = default;

private:
  std::vector<Entry> entries;
};

/// The figures of one block, by place. Places without figures are not stored.
class FigureSet {
public:
  using Places = std::map<Place, FigureRow>;

  /// The figure given for exactly this place.
  std::optional<Rational> get(Figure figure, Place place = {}) const {
    auto it = rows.find(place);
    return it == rows.end() ? std::nullopt : it->second.get(figure);
  }
  /// The figure given for the whole schedule, else the default, else 0.
  Rational general(Figure figure) const;
  /// The figures given for a place; empty if there are none.
  const FigureRow &at(Place place) const;
  /// All places with their figures, in order.
  const Places &places() const { return rows; }
  llvm::iterator_range<Places::const_iterator> in(FigureScope scope) const;
  bool has(FigureScope scope) const { return !in(scope).empty(); }
  /// True if the figure is given for some place.
  bool has(Figure figure) const;
  bool empty() const { return rows.empty(); }

  void set(Figure figure, Rational value, Place place = {});
  /// Replaces every figure by `change` of it.
  void transform(llvm::function_ref<Rational(Figure, Place, Rational)> change);
  /// Sets all figures of `row`. Nodes of a different size replace the previous
  /// nodes, since they define other edges.
  void merge(Place place, const FigureRow &row);
  void merge(const FigureSet &over);

  friend bool operator==(const FigureSet &, const FigureSet &) = default;

private:
  Places rows;
};

/// Writes docs/Figures.md.
void printFigurePage(llvm::raw_ostream &os);

} // namespace pipec
