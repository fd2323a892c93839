//===- ReportJson.cpp - Reports as JSON -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Cost/SettingsText.h"
#include "Emit/Emitter.h"
#include "Explain/Report.h"
#include "IR/StepPlaces.h"
#include "Support/Decimal.h"
#include "Support/Json.h"

using namespace llvm;

namespace pipec {

namespace {

class JsonWriter {
public:
  JsonWriter(const Schedule &schedule, const Report &report,
             json::OStream &json)
      : schedule(schedule), report(report), numbers(schedule), places(schedule),
        json(json) {}

  void write(function_ref<void()> more);

private:
  void writeHead();
  void writeStageEdges();
  void writeTransfers();
  void writeStreams();
  void writeRank(unsigned rank, const RankReport &figures);
  void writeCommunication();
  void writeGap(const IdleGap &gap);
  void writeLink(const PathStep &link);
  void writeMemory(const MemoryPeaks &peaks);
  void writeOverLimit(bool limit, bool over);
  void writeWaiting(const WaitingTime &waiting);
  void writeTime(StringRef key, int64_t ticks) {
    writeExact(json, key, report.time(ticks));
  }
  void writeStep(StepRef at) {
    json.attribute("rank", at.rank);
    json.attribute("position", places.position(at.rank, at.index));
    json.attribute("step", places.eventText(at.rank, at.index));
  }

  const Schedule &schedule;
  const Report &report;
  StepNumbers numbers;
  StepPlaces places;
  json::OStream &json;
};

} // namespace

void JsonWriter::write(function_ref<void()> more) {
  json.object([&] {
    writeHead();
    writeObjects(json, "ranks", enumerate(report.ranks), [&](const auto &rank) {
      writeRank(rank.index(), rank.value());
    });
    writeCommunication();
    writeObjects(json, "critical_path", report.path,
                 [&](const PathStep &link) { writeLink(link); });
    writeObjects(json, "gaps", report.gaps,
                 [&](const IdleGap &gap) { writeGap(gap); });
    if (report.jitter)
      writeJitter(*report.jitter, json);
    more();
  });
}

void JsonWriter::writeHead() {
  json.attribute("name", json::fixUTF8(schedule.name));
  json.attribute("num_ranks", schedule.numRanks);
  json.attribute("num_stages", schedule.numStages);
  json.attribute("num_microbatches", schedule.numMicrobatches());
  json.attribute("num_slices", schedule.numSlices);
  json.attribute("costs", costText(schedule.costs, schedule.costUse()));
  writeCostBasis(schedule, schedule.assumedCosts(), json);
  writeStageEdges();
  writeStreams();
  json.attributeObject("params", [&] {
    for (const auto &[name, value] : schedule.params)
      json.attribute(json::fixUTF8(name), value);
  });
  json.attribute("model", textOrNull(report.model ? report.model->name() : ""));
  writeExact(json, "makespan", report.makespan);
  writeExact(json, "span", report.span);
  writeExact(json, "bubble_makespan", report.bubbleMakespan);
  writeExact(json, "bubble_span", report.bubbleSpan);
  writeExact(json, "work", report.work);
  writeExact(json, "free_makespan", report.freeMakespan);
  writeTransfers();
  writeMemory(report.memory);
  writeExact(json, "memory_limit", report.memoryLimit);
  writeOverLimit(report.hasLimit(), report.isOverLimit());
}

/// Writes the result of a search for the places of transfers; null without one.
void JsonWriter::writeTransfers() {
  const PlacedTransfers *placed = schedule.placed();
  if (!placed)
    return json.attribute("transfers", nullptr);
  json.attributeObject("transfers", [&] {
    json.attribute("model", placed->model);
    writeExact(json, "makespan", placed->makespan);
    writeExact(json, "free", placed->free);
    writeExact(json, "bound", placed->bound);
    json.attribute("optimal", placed->isOptimal());
    json.attributeObject("starts", [&] {
      for (const auto &[name, makespan] : placed->starts) {
        Decimal decimal = toDecimal(makespan, /*exactDigits=*/15);
        json.attributeBegin(name);
        if (decimal.exact)
          json.rawValue(decimal.text);
        else
          json.value(makespan.toDouble());
        json.attributeEnd();
      }
    });
  });
}

/// Writes the streams of stages; null without one.
void JsonWriter::writeStreams() {
  if (schedule.streams.empty())
    return json.attribute("streams", nullptr);
  json.attributeArray("streams", [&] {
    for (auto [i, name] : enumerate(schedule.streams.names))
      json.object([&, number = i + 1] {
        json.attribute("name", json::fixUTF8(name));
        json.attributeArray("stages", [&] {
          for (unsigned stage = 0; stage != schedule.numStages; ++stage)
            if (schedule.streams.of(stage) == number)
              json.value(stage);
        });
      });
  });
}

/// Writes the edges of the stage graph; null for a chain.
void JsonWriter::writeStageEdges() {
  if (schedule.graph.isChain())
    return json.attribute("stage_edges", nullptr);
  json.attributeArray("stage_edges", [&] {
    schedule.graph.forEachEdge(schedule.numStages, [&](StageGraph::Edge edge) {
      json.object([&] {
        json.attribute("from", edge.from);
        json.attribute("to", edge.to);
      });
    });
  });
}

void JsonWriter::writeMemory(const MemoryPeaks &peaks) {
  writeExact(json, "peak", peaks.activations);
  writeExact(json, "host", peaks.host);
  json.attributeObject("memory", [&] {
    writeExact(json, "activations", peaks.activations);
    writeExact(json, "receives", peaks.receives);
    json.attribute("receive_buffers", peaks.receiveCount);
    writeExact(json, "parameters", peaks.parameters);
    writeExact(json, "total", peaks.total);
  });
}

void JsonWriter::writeOverLimit(bool limit, bool over) {
  json.attribute("over_limit", limit ? json::Value(over) : nullptr);
}

void JsonWriter::writeWaiting(const WaitingTime &waiting) {
  json.attributeObject("waiting", [&] {
    waiting.forEachPart(
        [&](StringRef name, Rational time) { writeExact(json, name, time); });
    writeExact(json, "exposed", waiting.exposed);
  });
}

void JsonWriter::writeRank(unsigned rank, const RankReport &figures) {
  json.attribute("rank", rank);
  writeExact(json, "start", figures.start);
  writeExact(json, "end", figures.end);
  writeExact(json, "work", figures.work);
  writeExact(json, "idle", figures.idle);
  writeExact(json, "idle_span", figures.idleSpan);
  writeExact(json, "gaps", figures.gaps);
  writeExact(json, "bubble_makespan", figures.bubbleMakespan);
  writeExact(json, "bubble_span", figures.bubbleSpan);
  writeMemory(figures.memory);
  if (figures.memoryLimit != report.memoryLimit)
    writeExact(json, "memory_limit", figures.memoryLimit);
  writeOverLimit(figures.memoryLimit.has_value(), figures.isOverLimit());
  writeWaiting(figures.waiting);
  json.attribute("outstanding_sends", figures.outstandingSends);
  json.attribute("unshards", figures.unshards);
  json.attribute("refetches", figures.refetches);
}

void JsonWriter::writeCommunication() {
  writeWaiting(report.waiting);
  json.attributeObject("communication", [&] {
    json.attribute("transfers", report.transfers);
    writeExact(json, "volume", report.volume);
    writeExact(json, "exposed", report.waiting.exposed);
    writeObjects(json, "edges", report.edges, [&](const EdgeReport &edge) {
      json.attribute("from", edge.from);
      json.attribute("to", edge.to);
      json.attribute("kind", edge.gradients ? "gradients" : "activations");
      json.attribute("transfers", edge.transfers);
      writeExact(json, "volume", edge.volume);
    });
    json.attribute("unshards", report.unshards);
    json.attribute("refetches", report.refetches);
  });
}

void JsonWriter::writeLink(const PathStep &link) {
  writeStep(numbers.at(link.step));
  writeTime("start", link.start);
  writeTime("end", link.end);
  writeTime("latency", link.latency);
  json.attribute("reason", reasonName(link.reason));
}

void JsonWriter::writeGap(const IdleGap &gap) {
  json.attribute("rank", gap.rank);
  writeTime("start", gap.start);
  writeTime("end", gap.end);
  writeTime("length", gap.length());
  json.attribute("binds", bindingName(gap.binding));
  auto object = [&](StringRef key, bool there, function_ref<void()> write) {
    if (there)
      json.attributeObject(key, write);
    else
      json.attribute(key, nullptr);
  };
  writeWaiting(report.time(gap.parts));
  json.attributeObject("next", [&] { writeLink(gap.link); });
  object("waits_for", gap.cause.has_value(), [&] { writeLink(*gap.cause); });
  object("ready", gap.ready.has_value(), [&] { writeStep(*gap.ready); });
}

void writeJitter(const JitterReport &jitter, json::OStream &json) {
  json.attributeObject("jitter", [&] {
    json.attribute("draws", jitter.draws);
    json.attribute("seed", jitter.seed);
    jitter.forEach(
        [&](StringRef key, Rational time) { writeExact(json, key, time); });
    if (jitter.critical.empty())
      json.attribute("critical", nullptr);
    else
      writeArray(json, "critical", jitter.critical,
                 [&](Rational share) { json.value(share.toDouble()); });
  });
}

void writeReport(const Schedule &schedule, const Report &report,
                 json::OStream &json, function_ref<void()> more) {
  JsonWriter(schedule, report, json).write(more);
}

} // namespace pipec
