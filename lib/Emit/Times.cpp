//===- Times.cpp - --emit=times: when every step runs, as JSON ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   {
//    "name": "gpipe",
//    "model": null,
//    "ticks_per_unit": 1,
//    "phases": ["warmup","cooldown"],
//    "rank": [0,0,1,1],
//    "kind": ["F","B","F","B"],
//    ...
//    "start": [0,4,1,2],
//    "end": [1,6,2,4]
//   }
//
// One list per column, of all steps of all ranks: as large as the steps
// themselves, and read into arrays without an object per step. docs/Report.md
// documents the columns.
//
//===----------------------------------------------------------------------===//

#include "Emit/Emitter.h"
#include "IR/DataFlow.h"
#include "Simulation/Simulate.h"
#include "Support/Json.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec {

/// Writes a list with an element for each step, on one line.
static void writeColumn(
    const Schedule &schedule, json::OStream &json, StringRef key,
    function_ref<void(raw_ostream &, unsigned rank, size_t index)> write) {
  json.attributeBegin(key);
  json.rawValue([&](raw_ostream &os) {
    ListSeparator comma(",");
    os << '[';
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
      for (size_t i = 0; i != schedule.ranks[rank].size(); ++i)
        write(os << comma, rank, i);
    os << ']';
  });
  json.attributeEnd();
}

static void writeSteps(const Schedule &schedule, const Simulation &run,
                       json::OStream &json) {
  /// Of a figure that a step does not have.
  constexpr int64_t none = -1;
  DataFlow flow(schedule);
  auto numbers = [&](StringRef key,
                     function_ref<int64_t(unsigned, size_t)> number) {
    writeColumn(schedule, json, key,
                [&](raw_ostream &os, unsigned rank, size_t index) {
                  os << number(rank, index);
                });
  };
  auto ofSteps = [&](StringRef key, function_ref<int64_t(Step)> number) {
    numbers(key, [&](unsigned rank, size_t index) {
      return number(schedule.ranks[rank][index]);
    });
  };
  auto port = [&](Step step) {
    return isP2P(step.kind()) || isSendWait(step.kind()) ? flow.transfer(step)
                                                         : nullptr;
  };
  numbers("rank", [](unsigned rank, size_t) { return rank; });
  int64_t line = 0;
  numbers("position", [&](unsigned rank, size_t index) {
    if (index == 0)
      line = 0;
    else if (!schedule.ranks[rank][index - 1].joined())
      ++line;
    return line;
  });
  writeColumn(schedule, json, "kind",
              [&](raw_ostream &os, unsigned rank, size_t index) {
                StepKind kind = schedule.ranks[rank][index].kind();
                os << '"' << stepKindName(kind) << '"';
              });
  ofSteps("stage", [&](Step step) {
    return step.kind() == StepKind::Bubble ? none : step.stage();
  });
  ofSteps("microbatch",
          [&](Step step) { return hasUnit(step.kind()) ? step.unit() : none; });
  ofSteps("peer", [&](Step step) {
    const DataFlow::Port *other = port(step);
    return other && isP2P(step.kind()) ? other->rank : none;
  });
  ofSteps("other", [&](Step step) {
    const DataFlow::Port *other = port(step);
    return other ? other->stage : none;
  });
  ofSteps("phase", [&](Step step) {
    return step.phase() < schedule.phases.size() ? step.phase() : none;
  });
  numbers("start",
          [&](unsigned rank, size_t index) { return run.start(rank, index); });
  numbers("end",
          [&](unsigned rank, size_t index) { return run.end(rank, index); });
}

LogicalResult emitTimes(const Schedule &schedule, const EmitOptions &options,
                        raw_ostream &os, DiagEngine &diags) {
  if (failed(checkResults(schedule, diags)))
    return failure();
  FailureOr<Simulation> run = simulate(schedule, options.model, diags);
  if (failed(run))
    return failure();
  json::OStream json(os, /*IndentSize=*/1);
  json.object([&] {
    json.attribute("name", json::fixUTF8(schedule.name));
    json.attribute(
        "model", textOrNull(run->model() ? run->model()->name() : ""));
    json.attribute("ticks_per_unit", run->costs().perUnit());
    writeTexts(json, "phases", schedule.phases);
    writeSteps(schedule, *run, json);
  });
  os << '\n';
  return success();
}

} // namespace pipec
