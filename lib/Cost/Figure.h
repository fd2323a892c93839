//===- Figure.h - Figures of costs and memory, by place ---------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The cost model and the memory model are sets of figures: `F`, `p2p`,
// `parameters` and so on, each an exact rational. Figures.def has one row for
// each: its name, its unit, its default and the scopes that it may be given
// for. The checker of programs, their evaluation, step IR, cost profiles,
// `--cost`, the printers and docs/Figures.md all walk that table.
//
// Scopes. A figure is given for the whole schedule, or for a place in it: a
// stage, a rank, a micro-batch, the edges between nodes, one edge, an overlap
// of certain kinds. A narrower place wins: rank over stage over the whole, edge
// over nodes over the whole. A figure that is given nowhere has its default.
//
// Precedence. The same place may be given a figure by several sources. The
// program (or step IR) comes first, a profile of `--cost-profile` overrides it,
// and `--cost` overrides both, figure by figure (`FigureSet::merge`,
// GivenSettings.h). Within a program, later entries override earlier ones.
//
// Units. Times are in any one unit, sizes in units of one chunk's activations;
// pipec never converts between units. `Time`, `Factor` and `Size` figures are
// not negative, a `Change` may be.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_COST_FIGURE_H
#define PIPEC_COST_FIGURE_H

#include "Cost/StepKind.h"
#include "Support/Rational.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/iterator_range.h"

#include <array>
#include <map>
#include <optional>
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

/// What a figure counts.
enum class FigureUnit : uint8_t { Time, Factor, Size, Change };

/// What becomes of a figure of a part of the model when the model is cut into
/// another number of stages (ModelParts.h).
enum class WhenCut : uint8_t { Divided, Kept };

/// A row of Figures.def.
struct FigureInfo {
  Figure figure;
  FigureBlock block;
  llvm::StringLiteral name;
  FigureUnit unit;
  /// The bit `1 << scope` for each scope that may have the figure.
  uint8_t scopes;
  WhenCut cut;
  llvm::StringLiteral defaultText;
  llvm::StringLiteral doc;
  /// Nothing when the default follows from other figures.
  std::optional<Rational> defaultValue;

  bool isIn(FigureScope scope) const { return scopes >> unsigned(scope) & 1; }
  /// True when `value` is negative and may not be.
  bool refuses(Rational value) const {
    return unit != FigureUnit::Change && value.isNegative();
  }
};

struct ScopeInfo {
  FigureScope scope;
  llvm::StringLiteral word;
  /// Numbers after the word.
  unsigned numbers;
  llvm::StringLiteral profileKey;
  /// One of it and many in messages.
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

/// The figure that a scope of `block` has under `name`, null when it has none.
const FigureInfo *findFigure(FigureBlock block, FigureScope scope,
                             llvm::StringRef name);
/// The names of the figures of a scope, in the order of the table.
llvm::SmallVector<llvm::StringRef, 12> figureNames(FigureBlock block,
                                                   FigureScope scope);
/// The scopes of `block` within the whole, in the order of the table.
llvm::SmallVector<const ScopeInfo *, 8> scopesOf(FigureBlock block);

/// The cost of a compute or FSDP kind.
Figure costFigure(StepKind kind);
/// What a compute kind does to the live activations.
Figure liveFigure(StepKind kind);

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

struct ModelSizes {
  unsigned ranks;
  unsigned stages;
  unsigned microbatches;
};

/// The largest of every size.
inline constexpr ModelSizes maxSizes = {maxRanks, maxStages, maxMicrobatches};

/// How many stages, ranks or micro-batches a numbered scope counts.
unsigned countOf(FigureScope scope, ModelSizes sizes);

/// What a figure is given for: a scope and its numbers. Overlaps, which have
/// kinds for numbers, are apart (`CostSettings::Overlap`).
struct Place {
  FigureScope scope = FigureScope::Whole;
  /// The stage, rank or micro-batch, the size of a node, or the rank that an
  /// edge comes from.
  unsigned number = 0;
  /// The rank that an edge goes to.
  unsigned to = 0;
  friend auto operator<=>(const Place &, const Place &) = default;
};

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
  /// Sets everything that `over` sets.
  void merge(const FigureRow &over) {
    for (const auto &[figure, value] : over.entries)
      set(figure, value);
  }
  bool empty() const { return entries.empty(); }
  auto begin() const { return entries.begin(); }
  auto end() const { return entries.end(); }
  friend bool operator==(const FigureRow &, const FigureRow &) = default;

private:
  std::vector<Entry> entries;
};

/// The figures of one block, by place. A place without figures is not kept.
class FigureSet {
public:
  using Places = std::map<Place, FigureRow>;

  /// What is given for exactly this place.
  std::optional<Rational> get(Figure figure, Place place = {}) const {
    auto it = rows.find(place);
    return it == rows.end() ? std::nullopt : it->second.get(figure);
  }
  /// What is given for the whole schedule, else the default, else 0.
  Rational general(Figure figure) const;
  /// The figures of a place; none when nothing is given for it.
  const FigureRow &at(Place place) const;
  /// Every place with its figures, in order.
  const Places &places() const { return rows; }
  llvm::iterator_range<Places::const_iterator> in(FigureScope scope) const;
  bool has(FigureScope scope) const { return !in(scope).empty(); }
  bool empty() const { return rows.empty(); }

  void set(Figure figure, Rational value, Place place = {});
  /// Sets all figures of `row`. Nodes of another size are other edges: they
  /// replace the nodes there were.
  void merge(Place place, const FigureRow &row);
  void merge(const FigureSet &over);

  friend bool operator==(const FigureSet &, const FigureSet &) = default;

private:
  Places rows;
};

/// Writes docs/Figures.md.
void printFigurePage(llvm::raw_ostream &os);

} // namespace pipec

#endif // PIPEC_COST_FIGURE_H
