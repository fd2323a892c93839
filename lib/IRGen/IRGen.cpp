//===- IRGen.cpp - Checked program to step IR -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "IRGen/IRGen.h"

#include "AST/Walk.h"
#include "IRGen/Lowering.h"
#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Diagnostics/LoweringDiags.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"

#include <limits>

using namespace llvm;
using namespace pipec::ast;

namespace pipec {

Lowering::Lowering(const CheckedProgram &program,
                   const CheckedSchedule &checked, const LowerOptions &options,
                   DiagEngine &diags)
    : program(program), checked(checked), options(options), diags(diags) {}

std::optional<int64_t> Lowering::evaluate(const Expr *expr) {
  return machine->evaluate(segments.at(expr));
}

FailureOr<Schedule> Lowering::run() {
  schedule.name = checked.decl->name.text.str();
  schedule.source =
      diags.sourceFiles().compress(checked.decl->name.range.Start);
  schedule.forwardOnly = checked.forwardOnly != nullptr;
  if (failed(matchOptions()) || failed(numberPhases()))
    return failure();

  Compiler compiler(program, *checked.decl, diags.sourceFiles());
  auto segment = [&](const Expr *expr) {
    if (expr)
      segments.emplace(expr, compiler.compileSegment(expr));
  };
  auto allSegments = [&](auto &self, const auto &node) -> void {
    forEachChild(node, [&](const auto &child) {
      if constexpr (std::is_convertible_v<decltype(&child), const Expr *>)
        segment(&child);
      else
        self(self, child);
    });
  };
  for (const ParamDecl &param : checked.decl->params)
    segment(param.defaultValue);
  for (const Stmt *item : checked.decl->body.stmts) {
    if (const auto *let = dyn_cast<LetStmt>(item)) {
      if (!let->variable->dependence.onRank)
        segment(let->value);
    } else if (isa<RequireStmt, PlacementStmt, EdgesStmt, TieStmt,
                   SectionsStmt>(item)) {
      allSegments(allSegments, *item);
    } else if (const auto *expect = dyn_cast<ExpectStmt>(item)) {
      segment(expect->rankOfOne());
    } else if (const auto *settings = dyn_cast<SettingsStmt>(item)) {
      auto entries = [&](auto &self, ArrayRef<SettingEntry> all) -> void {
        for (const SettingEntry &entry : all) {
          segment(entry.begin);
          segment(entry.end);
          for (const Expr *value : entry.values)
            if ((entry.isScope && entry.word.text != "section") ||
                (item->kind == Stmt::Kind::Fsdp && !isAllStages(value)))
              segment(value);
          // `microbatch 3 { }` in the braces of a stage.
          for (const SettingEntry &inner : entry.entries)
            if (inner.isScope && inner.letters.empty())
              self(self, inner);
        }
      };
      entries(entries, settings->entries);
    }
  }
  bodyEntry = compiler.compileBody(schedule);
  code = compiler.take();
  machine.emplace(code, options.maxSteps, diags);

  if (failed(bindParams()) || failed(runItems()) || failed(makeCosts()) ||
      failed(priceSections(schedule, {}, diags)) || failed(makeMemory()) ||
      failed(makeFsdp()) || failed(makeExpectations(std::nullopt)) ||
      failed(runRanks()))
    return failure();
  return std::move(schedule);
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

/// Finds the parameter of each `-D` option.
LogicalResult Lowering::matchOptions() {
  MutableArrayRef<ParamDecl> params = checked.decl->params;
  given.resize(params.size());
  std::vector<StringRef> givenAs(params.size());
  bool good = true;
  for (const auto &[name, value] : options.params) {
    auto it = find_if(params, [&, &name = name](const ParamDecl &param) {
      return param.name.text == name || param.label.text == name;
    });
    if (it == params.end()) {
      good = false;
      InFlightDiagnostic error =
          diags.report(DiagLoc(), diag::UnknownParameter, schedule.name, name);
      std::vector<StringRef> names;
      for (const ParamDecl &param : params) {
        names.push_back(param.name.text);
        names.push_back(param.label.text);
      }
      if (StringRef meant = nearestWord(name, names); !meant.empty())
        error.note(DiagLoc(), diag::NoteDidYouMean, meant);
      continue;
    }
    size_t i = it - params.begin();
    // The same word again overrides the value; another word for the parameter
    // is an error.
    if (given[i] && givenAs[i] != name && *given[i] != value) {
      good = false;
      (void)diags.report(DiagLoc(), diag::ParameterGivenTwice, it->name.text,
                         givenAs[i], name);
    }
    given[i] = value;
    givenAs[i] = name;
  }
  if (options.slices && checked.slices) {
    size_t i = checked.slices - params.data();
    if (given[i] && *given[i] != *options.slices) {
      good = false;
      (void)diags.report(DiagLoc(), diag::ParameterGivenTwice,
                         checked.slices->name.text, givenAs[i], "--slices");
    }
    given[i] = *options.slices;
  }
  return success(good);
}

LogicalResult Lowering::bindParams() {
  MutableArrayRef<ParamDecl> params = checked.decl->params;
  unsigned microbatches = 0, slices = 0;
  for (size_t i = 0; i != params.size(); ++i) {
    const ParamDecl &param = params[i];
    std::optional<int64_t> value = given[i];
    if (!value && !param.defaultValue)
      return diags.report(param.name.range, diag::ParameterWithoutValue,
                          param.name.text);
    if (!value)
      value = evaluate(param.defaultValue);
    if (!value)
      return failure();
    machine->setValue(param.variable, *value);
    schedule.params.push_back({param.name.text.str(), *value});
    // Roles are checked immediately, because later defaults may divide by them.
    unsigned chunks = 0;
    struct {
      const Variable *builtin;
      unsigned limit;
      unsigned &size;
    } const roles[] = {{nullptr, 0, chunks},
                       {program.builtins.ranks, maxRanks, schedule.numRanks},
                       {program.builtins.microbatches, maxUnits, microbatches},
                       {program.builtins.chunks, maxStages, chunks},
                       {program.builtins.slices, maxUnits, slices}};
    const auto &role = roles[unsigned(param.role)];
    if (!role.builtin)
      continue;
    if (*value < 1)
      return diags.report(param.name.range, diag::ParameterTooSmall,
                          param.label.text, *value);
    if (*value > int64_t(role.limit))
      return diags.report(param.name.range, diag::ParameterTooLarge,
                          param.label.text, *value, role.limit);
    role.size = *value;
    machine->setValue(role.builtin, *value);
    uint64_t units = uint64_t(microbatches) * slices;
    if (units > maxUnits)
      return diags.report(param.name.range, diag::ParameterTooLarge, "units",
                          units, maxUnits);
    machine->setValue(program.builtins.units, units);
  }
  schedule.numUnits = checked.slices ? microbatches * slices : microbatches;
  return setSlices(schedule,
                   checked.slices ? slices : options.slices.value_or(1),
                   schedule.source, diags);
}

//===----------------------------------------------------------------------===//
// What needs no rank
//===----------------------------------------------------------------------===//

LogicalResult Lowering::runItems() {
  bool met = true;
  for (const Stmt *item : checked.decl->body.stmts) {
    if (const auto *require = dyn_cast<RequireStmt>(item)) {
      // The placement is not computed if a requirement is not met.
      if (!met && require->dependence.onPlacement)
        continue;
      met &= succeeded(checkRequire(require));
      // Later items may depend on the requirement. They are evaluated for the
      // sake of other requirements, but their errors are not reported.
      machine->setQuiet(!met);
    } else if (const auto *let = dyn_cast<LetStmt>(item)) {
      if (let->variable->dependence.onRank)
        continue;
      std::optional<int64_t> value = evaluate(let->value);
      if (!value)
        return failure();
      machine->setValue(let->variable, *value);
    } else if (const auto *placement = dyn_cast<PlacementStmt>(item)) {
      if (!met)
        continue;
      if (failed(makePlacement(placement)))
        return failure();
      machine->setValue(program.builtins.stages, schedule.numStages);
      if (!checked.chunks && !placement->stages)
        machine->setValue(program.builtins.chunks, chunkStages[0].size());
      graph.emplace(schedule.numStages, diags);
      ties.emplace(schedule.numStages, diags);
    } else if (const auto *edges = dyn_cast<EdgesStmt>(item)) {
      if (met && failed(addEdges(edges)))
        return failure();
    } else if (const auto *tie = dyn_cast<TieStmt>(item)) {
      if (met && failed(addTie(tie)))
        return failure();
    } else if (const auto *sections = dyn_cast<SectionsStmt>(item)) {
      if (met && failed(makeSections(sections)))
        return failure();
    }
  }
  machine->setQuiet(false);
  return met ? makeGraph() : failure();
}

LogicalResult Lowering::checkRequire(const RequireStmt *require) {
  std::optional<int64_t> holds = evaluate(require->condition);
  if (!holds)
    return failure();
  if (*holds)
    return success();
  std::string message;
  if (require->message) {
    message = ": ";
    for (const RequireStmt::Piece &piece : require->pieces)
      message += piece.name
                     ? std::to_string(machine->value(piece.name->variable))
                     : piece.text.str();
  }
  return diags.report(require->condition->range, diag::RequirementFailed,
                      schedule.name, message);
}

LogicalResult Lowering::numberPhases() {
  for (const Stmt *item : checked.decl->body.stmts) {
    const auto *phase = dyn_cast<PhaseStmt>(item);
    if (!phase)
      continue;
    if (schedule.phaseIndex(phase->name.text) == maxPhases)
      return diags.report(phase->name.range, diag::TooManyPhases, maxPhases);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Ranks
//===----------------------------------------------------------------------===//

LogicalResult Lowering::runRanks() {
  schedule.ranks.reserve(schedule.numRanks);
  StepBuilder builder;
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
    machine->setValue(program.builtins.rank, rank);
    if (!checked.chunks && checked.placement->stages)
      machine->setValue(program.builtins.chunks, chunkStages[rank].size());
    builder.start(schedule, chunkStages[rank], checked.slices != nullptr);
    if (failed(machine->runRank(bodyEntry, rank, builder)) ||
        failed(makeExpectations(rank)))
      return failure();
    schedule.ranks.push_back(builder.take());
  }
  return success();
}

FailureOr<Schedule> lower(const CheckedProgram &program,
                          const CheckedSchedule &schedule,
                          const LowerOptions &options, DiagEngine &diags) {
  return Lowering(program, schedule, options, diags).run();
}

} // namespace pipec
