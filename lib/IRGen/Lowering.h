//===- Lowering.h - The steps of lowering one schedule ----------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_IRGEN_LOWERING_H
#define PIPEC_IRGEN_LOWERING_H

#include "IRGen/Compiler.h"
#include "IRGen/IRGen.h"
#include "IRGen/Machine.h"
#include "IRGen/RationalEval.h"

namespace pipec {

/// True for the word in `stages all`, which is no variable.
bool isAllStages(const ast::Expr *expr);

/// Lowers one schedule. First everything that needs no rank, in the order of
/// the text: parameters, lets, requirements, placement, settings. Then the
/// body, once a rank. Files: IRGen, PlacementGen and SettingsGen.
class Lowering {
public:
  Lowering(const CheckedProgram &program, const CheckedSchedule &checked,
           const LowerOptions &options, DiagEngine &diags);

  llvm::FailureOr<Schedule> run();

private:
  // IRGen.cpp
  llvm::LogicalResult bindParams();
  llvm::LogicalResult matchOptions();
  llvm::LogicalResult checkRole(const ast::ParamDecl *param, uint64_t limit,
                                unsigned &place);
  llvm::LogicalResult runItems();
  llvm::LogicalResult checkRequire(const ast::RequireStmt *require);
  llvm::LogicalResult numberPhases();
  llvm::LogicalResult runRanks();
  std::optional<int64_t> evaluate(const ast::Expr *expr);

  // PlacementGen.cpp
  llvm::LogicalResult makePlacement(const ast::PlacementStmt *placement);
  llvm::FailureOr<unsigned> chunksPerRank(const ast::PlacementStmt *placement);
  llvm::LogicalResult makeNamed(const ast::PlacementStmt *placement);
  llvm::LogicalResult makeBidirectional(const ast::PlacementStmt *placement);
  llvm::LogicalResult makeSpelledOut(const ast::PlacementStmt *placement);
  void listChunks();

  // SettingsGen.cpp
  llvm::LogicalResult makeCosts();
  llvm::LogicalResult makeMemory();
  llvm::LogicalResult makeFigures(llvm::ArrayRef<ast::SettingEntry> entries,
                                  FigureBlock block, FigureSet &figures,
                                  Place place = {});
  llvm::FailureOr<Place> placeOf(const ast::SettingEntry &entry);
  llvm::LogicalResult makeFsdp();
  llvm::LogicalResult makeExpectations(std::optional<unsigned> rank);
  std::optional<unsigned> smallNumber(const ast::Expr *expr,
                                      llvm::StringRef name, int64_t low,
                                      int64_t high);

  const CheckedProgram &program;
  const CheckedSchedule &checked;
  const LowerOptions &options;
  DiagEngine &diags;

  Schedule schedule;
  /// Segments of the expressions that need no rank, in the order of use.
  std::map<const ast::Expr *, Segment> segments;
  uint32_t bodyEntry = 0;
  std::vector<unsigned> phaseNumbers;
  Code code;
  std::optional<Machine> machine;
  /// The value that the command line gives to each parameter.
  std::vector<std::optional<int64_t>> given;
  /// The stages of each rank's chunks.
  std::vector<std::vector<uint32_t>> chunkStages;
};

} // namespace pipec

#endif // PIPEC_IRGEN_LOWERING_H
