//===- Lowering.h - The steps of lowering one schedule ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "IR/GraphBuilder.h"
#include "IR/TieBuilder.h"
#include "IRGen/Compiler.h"
#include "IRGen/IRGen.h"
#include "IRGen/Machine.h"

namespace pipec {

/// True for the word in `stages all`, which is not a variable.
bool isAllStages(const ast::Expr *expr);

/// Lowers one schedule: first everything that is independent of the rank, in
/// source order (parameters, lets, requirements, placement, settings), then the
/// body, once per rank. The implementation is in IRGen.cpp, PlacementGen.cpp,
/// SettingsGen.cpp and RationalEval.cpp.
class Lowering {
public:
  Lowering(const CheckedProgram &program, const CheckedSchedule &checked,
           const LowerOptions &options, DiagEngine &diags);

  llvm::FailureOr<Schedule> run();

private:
  // IRGen.cpp
  llvm::LogicalResult bindParams();
  llvm::LogicalResult matchOptions();
  llvm::LogicalResult runItems();
  llvm::LogicalResult checkRequire(const ast::RequireStmt *require);
  llvm::LogicalResult numberPhases();
  llvm::LogicalResult runRanks();
  std::optional<int64_t> evaluate(const ast::Expr *expr);

  // PlacementGen.cpp
  llvm::LogicalResult makePlacement(const ast::PlacementStmt *placement);
  llvm::LogicalResult checkChunks(int64_t chunks, llvm::SMRange range);
  llvm::LogicalResult makeNamed(const ast::PlacementStmt *placement);
  llvm::LogicalResult makeSpelledOut(const ast::PlacementStmt *placement);
  llvm::LogicalResult addEdges(const ast::EdgesStmt *stmt);
  llvm::LogicalResult addTie(const ast::TieStmt *stmt);
  llvm::LogicalResult makeGraph();

  // SectionsGen.cpp
  llvm::LogicalResult makeSections(const ast::SectionsStmt *stmt);
  llvm::LogicalResult makeSectionCost(const ast::SettingEntry &entry);

  // SettingsGen.cpp
  llvm::LogicalResult makeCosts();
  llvm::LogicalResult makeMemory();
  llvm::LogicalResult makeLayout(llvm::StringRef text);
  llvm::LogicalResult makeShare(const ast::SettingEntry &entry);
  llvm::LogicalResult makeFigures(llvm::ArrayRef<ast::SettingEntry> entries,
                                  FigureBlock block, FigureSet &figures,
                                  Place place = {});
  llvm::FailureOr<Place> placeOf(const ast::SettingEntry &entry, Place outer);
  llvm::LogicalResult makeFsdp();
  llvm::LogicalResult makeExpectations(std::optional<unsigned> rank);
  std::optional<unsigned> smallNumber(const ast::Expr *expr,
                                      llvm::StringRef name, int64_t low,
                                      int64_t high);

  // RationalEval.cpp: values of `cost`, `memory` and `expect`. Each function
  // returns nothing if an error was reported.
  std::optional<Rational> exact(const ast::Expr *expr);
  std::optional<Rational> exact(const ast::BinaryExpr *expr);
  std::optional<Rational> exact(const ast::CallExpr *expr);
  std::optional<Rational> costOf(const ast::CostOfExpr *expr);
  /// Reports an overflow if `value` is nothing.
  std::optional<Rational> fits(std::optional<Rational> value,
                               const ast::Expr *expr);
  std::optional<Rational> divide(Rational lhs, Rational rhs,
                                 const ast::Expr *expr);
  std::optional<int64_t> integer(Rational value, const ast::Expr *expr);

  const CheckedProgram &program;
  const CheckedSchedule &checked;
  const LowerOptions &options;
  DiagEngine &diags;

  Schedule schedule;
  /// The segments of expressions that are independent of the rank, in the order
  /// of use.
  std::map<const ast::Expr *, Segment> segments;
  uint32_t bodyEntry = 0;
  Code code;
  std::optional<Machine> machine;
  /// The value of each parameter on the command line.
  std::vector<std::optional<int64_t>> given;
  /// The edges so far, once there is a placement.
  std::optional<GraphBuilder> graph;
  std::optional<TieBuilder> ties;
  /// The stages of the chunks of each rank.
  std::vector<std::vector<uint32_t>> chunkStages;
};

} // namespace pipec
