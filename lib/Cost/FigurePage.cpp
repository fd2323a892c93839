//===- FigurePage.cpp - docs/Figures.md -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Cost/Figure.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace pipec {

/// In the order of `FigureUnit`.
static constexpr StringLiteral unitTexts[] = {"time", "factor", "size",
                                              "size, may be negative"};

/// `stage n`, `edge a -> b`, `F & B`.
static std::string placeText(const ScopeInfo &scope) {
  if (scope.scope == FigureScope::Overlap)
    return "F & B";
  if (scope.scope == FigureScope::StageMicrobatch)
    return "stage n { microbatch n }";
  return scope.word.str() + (scope.numbers == 2 ? " a -> b" : " n");
}

/// The scopes of a figure as a list.
static std::string scopesText(const FigureInfo &info) {
  std::string text;
  for (const ScopeInfo &scope : allScopes())
    if (info.isIn(scope.scope))
      text += (text.empty() ? "" : ", ") + (scope.scope == FigureScope::Whole
                                                ? "all"
                                                : "`" + placeText(scope) + "`");
  return text;
}

static void printFigures(raw_ostream &os, FigureBlock block) {
  os << "| figure | unit | given for | default | per part | |\n"
        "| --- | --- | --- | --- | --- | --- |\n";
  for (const FigureInfo &info : allFigures()) {
    if (info.block != block)
      continue;
    bool formula = !info.defaultValue && info.figure != Figure::Limit;
    StringRef quote = formula ? "`" : "";
    os << "| `" << info.name << "` | " << unitTexts[unsigned(info.unit)]
       << " | " << scopesText(info) << " | " << quote << info.defaultText
       << quote << " | " << (info.isDivided() ? "divided" : "kept") << " | "
       << info.doc << " |\n";
  }
}

void printFigurePage(raw_ostream &os) {
  os << R"(# Figures

<!-- Made by `pipec-opt --doc-figures` from lib/Cost/Figures.def and Metrics.def. -->

Every figure of `cost` and `memory`, and every metric of `expect`. A figure has the same name in a program
([LangRef.md](LangRef.md#cost)), in step IR ([StepIR.md](StepIR.md#the-header)), in a cost profile, and in `--cost`.
[Simulation.md](Simulation.md) defines their effect on a run. The column *per part* is about figures that are given per
part of the model, if the model is cut into another number of stages: a divided figure is spread over the stages, a kept
one does not depend on the cut.

## Costs

Times are in any one unit.

)";
  printFigures(os, FigureBlock::Cost);
  os << R"(
An overlap of certain kinds also has a time of its own, `F & B = 2.5`, which is divided.

## Memory

Sizes are in units of one chunk's activations.

)";
  printFigures(os, FigureBlock::Memory);
  os << R"(
A program gives the figures of two words in braces, `B { during = 1 }`, and a profile in an object, `"B": {"keeps": -1,
"during": 1}`.

## Scopes

The first column shows how a scope is written in a program and, after `cost` or `memory`, in step IR. The second is the
key of the scope in a profile; the limit of a rank is in `limits` of `memory`, by rank.

| scope | profile | costs | memory | |
| --- | --- | --- | --- | --- |
)";
  for (const ScopeInfo &scope : allScopes()) {
    bool whole = scope.scope == FigureScope::Whole;
    os << "| " << (whole ? "all" : "`" + placeText(scope) + "`") << " |"
       << (whole ? "" : " `" + scope.profileKey.str() + "`");
    if (scope.scope == FigureScope::StageMicrobatch)
      os << " of a stage";
    for (FigureBlock block : {FigureBlock::Cost, FigureBlock::Memory}) {
      os << " |";
      for (const FigureInfo &info : allFigures())
        if (info.block == block && info.isIn(scope.scope))
          os << " `" << info.name << '`';
    }
    os << " | " << scope.doc << " |\n";
  }
  os << R"(
## Metrics

The figures of a run that `expect` clauses can check. A metric with `(rank)` has a value for each rank.

| metric | |
| --- | --- |
)";
#define PIPEC_METRIC(Id, Name, PerRank, Value, Doc)                            \
  os << "| `" Name << (PerRank ? "(rank)" : "") << "` | " Doc " |\n";
#include "Cost/Metrics.def"
}

} // namespace pipec
