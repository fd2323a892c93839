//===- Figure.cpp - Figures of costs and memory, by place -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Cost/Figure.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

/// The bits of the scopes column.
namespace bit {
enum : uint16_t {
#define PIPEC_SCOPE(Id, Word, Numbers, Key, One, Many, Doc)                    \
  Id = 1u << unsigned(FigureScope::Id),
#include "Cost/Figures.def"
};
} // namespace bit

static std::vector<FigureInfo> makeFigures() {
  using namespace bit;
  return {
#define PIPEC_FIGURE(Id, InBlock, Name, InUnit, Scopes, CutId, Default, Doc)   \
  {Figure::Id,                                                                 \
   FigureBlock::InBlock,                                                       \
   Name,                                                                       \
   FigureUnit::InUnit,                                                         \
   Scopes,                                                                     \
   WhenCut::CutId,                                                             \
   Default,                                                                    \
   Doc,                                                                        \
   Rational::parse(Default)},
#include "Cost/Figures.def"
  };
}

ArrayRef<FigureInfo> allFigures() {
  static const std::vector<FigureInfo> table = makeFigures();
  return table;
}

ArrayRef<ScopeInfo> allScopes() {
  static constexpr ScopeInfo table[] = {
#define PIPEC_SCOPE(Id, Word, Numbers, Key, One, Many, Doc)                    \
  {FigureScope::Id, Word, Numbers, Key, One, Many, Doc},
#include "Cost/Figures.def"
  };
  return table;
}

StringRef blockName(FigureBlock block) {
  return block == FigureBlock::Cost ? "cost" : "memory";
}

const FigureInfo *findFigure(FigureBlock block, FigureScope scope,
                             StringRef word, StringRef inner) {
  for (const FigureInfo &info : allFigures())
    if (info.block == block && info.isIn(scope) && info.word() == word &&
        info.inner() == inner)
      return &info;
  return nullptr;
}

SmallVector<StringRef, 12> figureNames(FigureBlock block, FigureScope scope) {
  SmallVector<StringRef, 12> names;
  for (const FigureInfo &info : allFigures())
    if (info.block == block && info.isIn(scope) && info.inner().empty())
      names.push_back(info.name);
  return names;
}

SmallVector<StringRef, 2> innerNames(FigureBlock block, FigureScope scope,
                                     StringRef word) {
  SmallVector<StringRef, 2> names;
  for (const FigureInfo &info : allFigures())
    if (info.block == block && info.isIn(scope) && info.word() == word &&
        !info.inner().empty())
      names.push_back(info.inner());
  return names;
}

SmallVector<const ScopeInfo *, 8> scopesOf(FigureBlock block) {
  SmallVector<const ScopeInfo *, 8> scopes;
  for (const ScopeInfo &scope : allScopes())
    if (scope.scope != FigureScope::Whole &&
        scope.scope != FigureScope::StageMicrobatch &&
        any_of(allFigures(), [&](const FigureInfo &info) {
          return info.block == block && info.isIn(scope.scope);
        }))
      scopes.push_back(&scope);
  return scopes;
}

const ScopeInfo *scopeInside(FigureBlock block, FigureScope outer) {
  return block == FigureBlock::Cost && outer == FigureScope::Stage
             ? &infoOf(FigureScope::StageMicrobatch)
             : nullptr;
}

Figure costFigure(StepKind kind) {
  static_assert(unsigned(Figure::F) == unsigned(StepKind::F) &&
                unsigned(Figure::W) == unsigned(StepKind::W));
  switch (kind) {
  case StepKind::R:
    return Figure::R;
  case StepKind::Update:
    return Figure::Update;
  case StepKind::Offload:
    return Figure::Offload;
  case StepKind::Reload:
    return Figure::Reload;
  default:
    break;
  }
  if (isCompute(kind))
    return Figure(kind);
  assert(streamOf(kind) == Stream::Gather);
  return Figure(unsigned(Figure::Unshard) + unsigned(kind) -
                unsigned(StepKind::Unshard));
}

Figure liveFigure(StepKind kind) {
  assert(isCompute(kind));
  return Figure(unsigned(Figure::LiveF) + unsigned(kind));
}

Figure duringFigure(StepKind kind) {
  assert(isCompute(kind));
  return Figure(unsigned(Figure::DuringF) + unsigned(kind));
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

unsigned countOf(FigureScope scope, ModelSizes sizes) {
  switch (scope) {
  case FigureScope::Stage:
    return sizes.stages;
  case FigureScope::Microbatch:
  case FigureScope::StageMicrobatch:
    return sizes.microbatches;
  case FigureScope::Slice:
    return sizes.slices;
  default:
    return sizes.ranks;
  }
}

UnitPlace unitPlaceOf(Place place) {
  UnitPlace unit;
  if (place.scope == FigureScope::Microbatch)
    unit.microbatch = place.number;
  if (place.scope == FigureScope::StageMicrobatch)
    unit.microbatch = place.to;
  if (place.scope == FigureScope::Slice)
    unit.slice = place.number;
  return unit;
}

std::string placeText(Place place) {
  const ScopeInfo &scope = infoOf(place.scope);
  if (!scope.numbers)
    return "";
  if (place.scope == FigureScope::StageMicrobatch)
    return placeText({FigureScope::Microbatch, place.to}) + " of " +
           placeText({FigureScope::Stage, place.number});
  std::string text = scope.one.str() + " " + std::to_string(place.number);
  return scope.numbers == 2 ? text + " -> " + std::to_string(place.to) : text;
}

std::string figureText(Figure figure, Place place) {
  if (place.scope == FigureScope::Overlap)
    return "the time of an overlap";
  std::string text = "`" + infoOf(figure).name.str() + "`";
  std::string of = placeText(place);
  return of.empty() ? text : text + " of " + of;
}

void FigureRow::set(Figure figure, Rational value) {
  auto it = lower_bound(entries, figure, [](const Entry &entry, Figure figure) {
    return entry.first < figure;
  });
  if (it != entries.end() && it->first == figure)
    it->second = value;
  else
    entries.insert(it, {figure, value});
}

Rational FigureSet::general(Figure figure) const {
  if (std::optional<Rational> given = get(figure))
    return *given;
  return infoOf(figure).defaultValue.value_or(Rational(0));
}

const FigureRow &FigureSet::at(Place place) const {
  static const FigureRow none;
  auto it = rows.find(place);
  return it == rows.end() ? none : it->second;
}

iterator_range<FigureSet::Places::const_iterator>
FigureSet::in(FigureScope scope) const {
  return {rows.lower_bound({scope}),
          rows.lower_bound({FigureScope(unsigned(scope) + 1)})};
}

bool FigureSet::has(Figure figure) const {
  return any_of(rows, [&](const auto &entry) {
    return entry.second.get(figure).has_value();
  });
}

void FigureSet::set(Figure figure, Rational value, Place place) {
  FigureRow row;
  row.set(figure, value);
  merge(place, row);
}

void FigureSet::transform(
    function_ref<Rational(Figure, Place, Rational)> change) {
  for (auto &[place, row] : rows)
    for (auto [figure, value] : FigureRow(row))
      row.set(figure, change(figure, place, value));
}

void FigureSet::merge(Place place, const FigureRow &row) {
  if (row.empty())
    return;
  if (place.scope == FigureScope::Nodes)
    for (auto [other, figures] : make_early_inc_range(in(FigureScope::Nodes)))
      if (other != place)
        rows.erase(other);
  rows[place].merge(row);
}

void FigureSet::merge(const FigureSet &over) {
  for (const auto &[place, row] : over.rows)
    merge(place, row);
}

} // namespace pipec
