//===- Trace.cpp - --emit=trace: Chrome's JSON, for Perfetto -*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The "JSON Object Format" of Google's document "Trace Event Format". One
// process is the schedule; every rank has a track for its compute steps, one
// for its FSDP actions where there are some, and a counter of what it keeps.
//
//   X       a step or an overlap
//   s, f    a flow: a result that another rank uses, from its producer to there
//   b, e    a transfer, where the schedule has transfers
//   C       memory
//
// Times of a trace are microseconds; a unit of the costs becomes 1000 of them,
// or less when the whole would not fit; `otherData` and the name of the process
// say which. Nanoseconds are whole numbers here, so steps that follow each
// other without a gap do so in the trace.
//
//===----------------------------------------------------------------------===//

#include "Emit/Picture.h"

#include "llvm/Support/Format.h"

#include <limits>

using namespace llvm;

namespace pipec {

namespace {

class TraceWriter {
public:
  TraceWriter(const Picture &picture, const SourceFiles &files, raw_ostream &os)
      : picture(picture), schedule(picture.schedule()), files(files), os(os) {
    constexpr int64_t longest = std::numeric_limits<int64_t>::max() / 4;
    while (nanosAUnit > 1 && scaled(picture.length()) > longest)
      nanosAUnit /= 10;
  }

  void write() {
    os << "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"schedule\":";
    printJsonString(os, schedule.name);
    os << ",\"sizes\":";
    printJsonString(os, sizesText(schedule));
    os << ",\"time\":\"1 unit of the costs is " << Micros{nanosAUnit}
       << " microseconds\"";
    if (std::string part = picture.windowText(); !part.empty()) {
      os << ",\"shown\":";
      printJsonString(os, part);
    }
    os << "},\"traceEvents\":[\n";
    writeNames();
    countFlowEnds();
    for (unsigned rank = 0; rank != picture.shownRanks(); ++rank)
      writeRank(rank);
    os << "\n]}\n";
  }

private:
  struct Micros {
    int64_t nanos;
    friend raw_ostream &operator<<(raw_ostream &os, Micros time) {
      os << time.nanos / 1000;
      if (time.nanos % 1000)
        os << format(".%03d", int(time.nanos % 1000));
      return os;
    }
  };

  __int128 scaled(int64_t ticks) const {
    return __int128(ticks) * nanosAUnit / picture.costs().perUnit();
  }
  Micros micros(int64_t ticks) const { return {int64_t(scaled(ticks))}; }

  static unsigned computeTrack(unsigned rank) { return 2 * rank + 1; }
  static unsigned fsdpTrack(unsigned rank) { return 2 * rank + 2; }

  /// Begins an event of a type, up to its time.
  raw_ostream &event(char type, unsigned track, int64_t ticks) {
    if (!first)
      os << ",\n";
    first = false;
    return os << "{\"ph\":\"" << type << "\",\"pid\":1,\"tid\":" << track
              << ",\"ts\":" << micros(ticks);
  }
  void name(StringRef what, unsigned track, StringRef key, const Twine &value) {
    event('M', track, 0) << ",\"name\":\"" << what << "\",\"args\":{\"" << key
                         << "\":" << value << "}}";
  }

  void writeNames();
  void writeRank(unsigned rank);
  void writeStep(const Picture::Group &group);
  void countFlowEnds();
  void writeFlow(const Picture::Group &group, Step step);
  void writeTransfer(unsigned rank, const Picture::Group &group);

  /// Calls `visit(flow, begins)` for the flows that begin or end with a step.
  template <class Visit> void forEachFlow(Step step, Visit visit) const {
    if (step.kind() == StepKind::W)
      return;
    bool gradient = step.kind() != StepKind::F;
    if (std::optional<unsigned> from = neighbour(step, /*next=*/false))
      visit(flow(*from, step.microbatch(), gradient), false);
    if (neighbour(step, /*next=*/true))
      visit(flow(step.stage(), step.microbatch(), gradient), true);
  }
  /// The number of the flow of a result: what a stage makes of a micro-batch.
  uint64_t flow(unsigned stage, unsigned microbatch, bool gradient) const {
    return (uint64_t(gradient) * schedule.numStages + stage) *
               schedule.numMicrobatches +
           microbatch;
  }
  /// The stage that makes the input of `step`, or uses its result (`next`).
  std::optional<unsigned> neighbour(Step step, bool next) const {
    bool up = (step.kind() == StepKind::F) == next;
    int64_t stage = int64_t(step.stage()) + (up ? 1 : -1);
    if (stage < 0 || stage >= schedule.numStages)
      return std::nullopt;
    unsigned rank = schedule.rankOf(unsigned(stage), step.microbatch());
    if (rank == schedule.rankOf(step.stage(), step.microbatch()))
      return std::nullopt;
    return unsigned(stage);
  }

  const Picture &picture;
  const Schedule &schedule;
  const SourceFiles &files;
  raw_ostream &os;
  int64_t nanosAUnit = 1000000;
  bool first = true;
  uint64_t numTransfers = 0;
  /// How many ends of each flow are shown; empty when all are.
  std::vector<uint8_t> flowEnds;
};

} // namespace

void TraceWriter::writeNames() {
  std::string title;
  raw_string_ostream(title) << schedule.name << " (1 unit of time is "
                            << Micros{nanosAUnit} << " us)";
  std::string quoted;
  raw_string_ostream quotedOs(quoted);
  printJsonString(quotedOs, title);
  name("process_name", 0, "name", quoted);
  for (unsigned rank = 0; rank != picture.shownRanks(); ++rank) {
    name("thread_name", computeTrack(rank), "name",
         "\"rank " + Twine(rank) + "\"");
    name("thread_sort_index", computeTrack(rank), "sort_index",
         Twine(computeTrack(rank)));
    bool fsdp = false;
    for (Step step : schedule.ranks[rank])
      fsdp |= isFsdp(step.kind());
    if (!fsdp)
      continue;
    name("thread_name", fsdpTrack(rank), "name",
         "\"rank " + Twine(rank) + " FSDP\"");
    name("thread_sort_index", fsdpTrack(rank), "sort_index",
         Twine(fsdpTrack(rank)));
  }
}

void TraceWriter::writeRank(unsigned rank) {
  const StepList &list = schedule.ranks[rank];
  picture.forEachGroup(rank, [&](const Picture::Group &group) {
    if (isP2P(list[group.begin].kind()))
      writeTransfer(rank, group);
    else
      writeStep(group);
  });
  picture.forEachLevel(rank, [&](int64_t time, int64_t level) {
    event('C', computeTrack(rank), time)
        << ",\"name\":\"rank " << rank << " memory\",\"args\":{\"kept\":"
        << roundedText(picture.memory().size(level)) << "}}";
  });
}

void TraceWriter::writeStep(const Picture::Group &group) {
  const StepList &list = schedule.ranks[group.rank];
  ArrayRef<Step> steps =
      ArrayRef(list).slice(group.begin, group.end - group.begin);
  bool fsdp = isFsdp(steps.front().kind());
  event('X', fsdp ? fsdpTrack(group.rank) : computeTrack(group.rank),
        group.start)
      << ",\"dur\":"
      << Micros{micros(group.finish).nanos - micros(group.start).nanos}
      << ",\"cat\":\""
      << (steps.size() > 1 ? StringRef("overlap")
                           : stepKindName(steps.front().kind()))
      << "\",\"name\":\"";
  for (Step step : steps) {
    printStep(os, schedule, step);
    if (step.joined())
      os << " & ";
  }
  os << "\",\"args\":{\"position\":" << group.begin;
  if (steps.front().phase() < schedule.phases.size()) {
    os << ",\"phase\":";
    printJsonString(os, schedule.phases[steps.front().phase()]);
  }
  if (std::string place = placeText(files, steps.front().source());
      !place.empty()) {
    os << ",\"source\":";
    printJsonString(os, place);
  }
  os << "}}";
  if (!fsdp)
    for (Step step : steps)
      writeFlow(group, step);
}

/// Of a part of a schedule only the flows are shown whose two ends are in it.
void TraceWriter::countFlowEnds() {
  if (picture.windowText().empty())
    return;
  flowEnds.assign(2 * size_t(schedule.numStages) * schedule.numMicrobatches, 0);
  for (unsigned rank = 0; rank != picture.shownRanks(); ++rank)
    picture.forEachGroup(rank, [&](const Picture::Group &group) {
      for (size_t i = group.begin; i != group.end; ++i)
        if (Step step = schedule.ranks[rank][i]; isCompute(step.kind()))
          forEachFlow(step, [&](uint64_t id, bool) { ++flowEnds[id]; });
    });
}

void TraceWriter::writeFlow(const Picture::Group &group, Step step) {
  forEachFlow(step, [&](uint64_t id, bool begins) {
    if (!flowEnds.empty() && flowEnds[id] != 2)
      return;
    // Bound to the slices by times inside them.
    event(begins ? 's' : 'f', computeTrack(group.rank), group.start)
        << (begins ? "" : ",\"bp\":\"e\"") << ",\"cat\":\"flow\",\"name\":\""
        << (step.kind() == StepKind::F ? "activations" : "gradients")
        << "\",\"id\":" << id << '}';
  });
}

void TraceWriter::writeTransfer(unsigned rank, const Picture::Group &group) {
  const StepList &list = schedule.ranks[rank];
  for (size_t i = group.begin; i != group.end; ++i) {
    if (!isSend(list[i].kind()))
      continue;
    uint64_t id = numTransfers++;
    for (char type : {'b', 'e'}) {
      event(type, computeTrack(rank), type == 'b' ? group.start : group.finish)
          << ",\"cat\":\"transfer\",\"id\":" << id << ",\"name\":\"";
      printStep(os, schedule, list[i]);
      os << "\",\"args\":{}}";
    }
  }
}

LogicalResult emitTrace(const Schedule &schedule, const EmitOptions &options,
                        raw_ostream &os, DiagEngine &diags) {
  FailureOr<Picture> picture =
      Picture::make(schedule, options, Picture::Limits(), diags);
  if (failed(picture) ||
      (!picture->windowText().empty() && failed(checkResults(schedule, diags))))
    return failure();
  TraceWriter(*picture, diags.sourceFiles(), os).write();
  return success();
}

} // namespace pipec
