//===- Times.cpp - --emit=times: when every step runs, as JSON ------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
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

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace pipec {

namespace {

class TimesWriter {
public:
  TimesWriter(const Schedule &schedule, const Simulation &run,
              json::OStream &json)
      : schedule(schedule), run(run), flow(schedule), json(json) {}

  void write();

private:
  /// What a step does not have.
  static constexpr int64_t none = -1;

  void writeColumn(StringRef key,
                   function_ref<void(raw_ostream &, unsigned, size_t)> write);
  void writeNumbers(StringRef key,
                    function_ref<int64_t(unsigned rank, size_t index)> number);
  void writeSteps();

  const Schedule &schedule;
  const Simulation &run;
  DataFlow flow;
  json::OStream &json;
};

} // namespace

/// Writes a list with an element for each step, on one line.
void TimesWriter::writeColumn(
    StringRef key, function_ref<void(raw_ostream &, unsigned, size_t)> write) {
  json.attributeBegin(key);
  json.rawValue([&](raw_ostream &os) {
    char separator = '[';
    for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
      for (size_t i = 0; i != schedule.ranks[rank].size(); ++i) {
        os << separator;
        separator = ',';
        write(os, rank, i);
      }
    os << (separator == '[' ? "[]" : "]");
  });
  json.attributeEnd();
}

void TimesWriter::writeNumbers(
    StringRef key, function_ref<int64_t(unsigned rank, size_t index)> number) {
  writeColumn(key, [&](raw_ostream &os, unsigned rank, size_t index) {
    os << number(rank, index);
  });
}

void TimesWriter::writeSteps() {
  auto step = [&](unsigned rank, size_t index) {
    return schedule.ranks[rank][index];
  };
  writeNumbers("rank", [](unsigned rank, size_t) { return rank; });
  int64_t line = 0;
  writeNumbers("position", [&](unsigned rank, size_t index) {
    if (index == 0)
      line = 0;
    else if (!step(rank, index - 1).joined())
      ++line;
    return line;
  });
  writeColumn("kind", [&](raw_ostream &os, unsigned rank, size_t index) {
    os << '"' << stepKindName(step(rank, index).kind()) << '"';
  });
  writeNumbers("stage", [&](unsigned rank, size_t index) -> int64_t {
    Step at = step(rank, index);
    return at.kind() == StepKind::Bubble ? none : at.stage();
  });
  writeNumbers("microbatch", [&](unsigned rank, size_t index) -> int64_t {
    Step at = step(rank, index);
    return hasMicrobatch(at.kind()) ? at.microbatch() : none;
  });
  auto port = [&](unsigned rank, size_t index) -> const DataFlow::Port * {
    Step at = step(rank, index);
    return isP2P(at.kind()) || isSendWait(at.kind()) ? flow.transfer(at)
                                                     : nullptr;
  };
  writeNumbers("peer", [&](unsigned rank, size_t index) -> int64_t {
    const DataFlow::Port *other = port(rank, index);
    return other && isP2P(step(rank, index).kind()) ? other->rank : none;
  });
  writeNumbers("other", [&](unsigned rank, size_t index) -> int64_t {
    const DataFlow::Port *other = port(rank, index);
    return other ? other->stage : none;
  });
  writeNumbers("phase", [&](unsigned rank, size_t index) -> int64_t {
    unsigned phase = step(rank, index).phase();
    return phase < schedule.phases.size() ? phase : none;
  });
  writeNumbers("start", [&](unsigned rank, size_t index) {
    return run.start(rank, index);
  });
  writeNumbers(
      "end", [&](unsigned rank, size_t index) { return run.end(rank, index); });
}

void TimesWriter::write() {
  json.object([&] {
    auto text = [&](StringRef bytes) { json.value(json::fixUTF8(bytes)); };
    json.attributeBegin("name");
    text(schedule.name);
    json.attributeEnd();
    if (run.model())
      json.attribute("model", waitModelName(*run.model()));
    else
      json.attribute("model", nullptr);
    json.attribute("ticks_per_unit", run.costs().perUnit());
    json.attributeArray("phases", [&] {
      for (const auto &phase : schedule.phases)
        text(phase);
    });
    writeSteps();
  });
}

LogicalResult emitTimes(const Schedule &schedule, const EmitOptions &options,
                        raw_ostream &os, DiagEngine &diags) {
  if (failed(checkResults(schedule, diags)))
    return failure();
  FailureOr<Simulation> run = simulate(schedule, options.model, diags);
  if (failed(run))
    return failure();
  json::OStream json(os, /*IndentSize=*/1);
  TimesWriter(schedule, *run, json).write();
  os << '\n';
  return success();
}

} // namespace pipec
