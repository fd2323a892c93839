//===- Family.cpp - A schedule at many sizes ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Prove/Family.h"

#include "Driver/Figures.h"
#include "IRGen/Compiler.h"
#include "Pass/PassManager.h"
#include "Prove/Pattern.h"
#include "Transforms/Passes.h"
#include "Verify/Verifier.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace pipec::ast;

namespace pipec {

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

std::unique_ptr<Family::Member> Family::make(int64_t microbatches) const {
  LowerOptions options = request.lowering;
  options.params.push_back({"microbatches", microbatches});
  options.expectations = false;
  FailureOr<Schedule> schedule =
      lower(request.program, request.schedule, options, request.diags);
  if (failed(schedule) || failed(verify(*schedule, request.diags)))
    return nullptr;
  auto member = std::make_unique<Member>();
  member->schedule = std::move(*schedule);
  for (StepList &list : member->schedule.ranks)
    list = withoutBubbles(list);
  if (request.model) {
    FailureOr<Pipeline> pipeline =
        parsePipeline("insert-p2p", allPasses(), request.diags);
    if (failed(pipeline) || failed(PassManager(std::move(*pipeline))
                                       .run(member->schedule, request.diags)))
      return nullptr;
  }
  FailureOr<Simulation> run =
      simulate(member->schedule, request.model, request.diags);
  if (failed(run))
    return nullptr;
  member->run.emplace(std::move(*run));
  return member;
}

Family::Entry &Family::entry(int64_t microbatches) {
  auto [it, isNew] = entries.try_emplace(microbatches);
  if (isNew) {
    Entry &entry = it->second;
    DiagEngine::ScopedFilter quiet(request.diags, [&](Diagnostic &found) {
      entry.refused = entry.refused || isSizeRefusal(found);
      return false;
    });
    entry.member = make(microbatches);
  }
  return it->second;
}

const Family::Member *Family::at(int64_t microbatches) {
  return entry(microbatches).member.get();
}

bool Family::isRefused(int64_t microbatches) {
  return entry(microbatches).refused;
}

void Family::report(int64_t microbatches) {
  DiagEngine::ScopedFilter notes(request.diags, [&](Diagnostic &found) {
    noteSize(found, "microbatches = " + std::to_string(microbatches));
    return true;
  });
  (void)make(microbatches);
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

FamilyCode::FamilyCode(const ProofRequest &request) : request(request) {
  const ScheduleDecl &decl = *request.schedule.decl;
  Compiler compiler(request.program, decl, request.diags.sourceFiles());
  auto add = [&](const Expr *expr) {
    segments.emplace(expr, compiler.compileSegment(expr));
  };
  for (const ParamDecl &param : decl.params)
    if (param.defaultValue)
      add(param.defaultValue);
  for (const Stmt *item : decl.body.stmts) {
    if (const auto *let = dyn_cast<LetStmt>(item)) {
      if (!let->variable->dependence.onRank)
        add(let->value);
    } else if (const auto *require = dyn_cast<RequireStmt>(item)) {
      add(require->condition);
    }
  }
  Schedule phases;
  bodyEntry = compiler.compileBody(phases);
  code = compiler.take();
}

/// `m % g` on line 12 depends on the number of micro-batches
std::string FamilyCode::describe(const SymbolicRun &run) const {
  SMRange range = run.place();
  StringRef text(range.Start.getPointer(),
                 range.End.getPointer() - range.Start.getPointer());
  LineColumn at = request.diags.sourceFiles().lineColumn(range.Start);
  return ("`" + text.take_until([](char c) { return c == '\n'; }) +
          "` on line " + Twine(at.line) + " " + run.reason())
      .str();
}

FamilyCode::Outcome FamilyCode::evaluate(const Schedule *header, unsigned ranks,
                                         int64_t first, int64_t step) const {
  Outcome outcome;
  const CheckedSchedule &checked = request.schedule;
  const BuiltinVariables &builtins = request.program.builtins;
  SymbolicRun run(code);
  auto undecided = [&] {
    outcome.undecided = describe(run);
    return outcome;
  };
  Affine microbatches(first, step), slices = 1;
  for (const ParamDecl &param : checked.decl->params) {
    std::optional<Affine> value;
    for (const auto &[name, given] : request.lowering.params)
      if (param.name.text == name || param.label.text == name)
        value = given;
    if (&param == checked.slices && request.lowering.slices)
      value = int64_t(*request.lowering.slices);
    if (&param == checked.microbatches)
      value = microbatches;
    if (!value && param.defaultValue)
      value = run.evaluate(segments.at(param.defaultValue));
    if (!value)
      return undecided();
    run.setValue(param.variable, *value);
    if (&param == checked.slices)
      slices = *value;
    if (&param == checked.chunks)
      run.setValue(builtins.chunks, *value);
  }
  run.setValue(builtins.ranks, int64_t(ranks));
  run.setValue(builtins.microbatches, microbatches);
  run.setValue(builtins.slices, slices);
  run.setValue(builtins.units, mul(microbatches, slices).value_or(0));
  std::vector<std::vector<uint32_t>> chunkStages(ranks);
  if (header) {
    const Placement &placement = header->placement;
    for (unsigned d = 0; d != placement.numDirections(); ++d)
      for (unsigned stage = 0; stage != header->numStages; ++stage)
        chunkStages[placement.rankOf(stage, d)].push_back(stage);
    run.setValue(builtins.stages, int64_t(header->numStages));
    if (!checked.chunks)
      run.setValue(builtins.chunks, int64_t(chunkStages[0].size()));
  }
  for (const Stmt *item : checked.decl->body.stmts) {
    const auto *let = dyn_cast<LetStmt>(item);
    const auto *require = dyn_cast<RequireStmt>(item);
    if (let && !let->variable->dependence.onRank &&
        (header || !let->variable->dependence.onPlacement)) {
      // Many are for `expect` only.
      if (std::optional<Affine> value = run.evaluate(segments.at(let->value)))
        run.setValue(let->variable, *value);
      else
        run.forget(let->variable);
    } else if (require && (header || !require->dependence.onPlacement)) {
      std::optional<Affine> holds =
          run.evaluate(segments.at(require->condition));
      if (!holds)
        return undecided();
      if (*holds == Affine(0)) {
        outcome.refused = true;
        return outcome;
      }
    }
  }
  if (!header)
    return outcome;
  for (unsigned rank = 0; rank != ranks; ++rank) {
    run.setValue(builtins.rank, int64_t(rank));
    if (!checked.chunks && checked.placement->stages)
      run.setValue(builtins.chunks, int64_t(chunkStages[rank].size()));
    std::optional<Word> word = run.runRank(bodyEntry, chunkStages[rank]);
    if (!word)
      return undecided();
    outcome.words.push_back(std::move(*word));
  }
  return outcome;
}

FamilyCode::Outcome FamilyCode::evaluate(const Schedule &header, int64_t first,
                                         int64_t step) const {
  return evaluate(&header, header.numRanks, first, step);
}

FamilyCode::Outcome FamilyCode::checkSizes(unsigned ranks, int64_t first,
                                           int64_t step) const {
  return evaluate(nullptr, ranks, first, step);
}

} // namespace pipec
