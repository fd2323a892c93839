//===- Trace.cpp - --emit=trace: Chrome's JSON, for Perfetto --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The "JSON Object Format" of Google's document "Trace Event Format", in the
// subset that Perfetto's importer supports. Every rank is a process with a
// track for its compute steps, one for its phases, one for its FSDP actions if
// there are any, one for copies in each direction, one for computes of each
// stream of stages, one per edge and direction on which it sends, and counters
// of its memory on the device and on the host.
//
//   X       a step or an overlap; a phase
//   i       the end of a wait for a send, a reduction or a copy
//   s, f    a flow: a result for another rank, from its producer to its
//           consumer
//   b, e    a transfer, if the schedule has transfers
//   C       memory
//
// Perfetto treats process and thread 0 as the idle ones, identifies threads by
// their number alone, and reads the number of a flow as an integer;
// asynchronous events share tracks if process and name are equal. So processes
// count from 1, all threads of the trace have distinct numbers, and the name of
// a transfer is its edge; its data is in its arguments.
//
// Times in a trace are microseconds. A unit of the costs becomes 1000 of them,
// or fewer if the whole would not fit; `otherData` and the labels of the
// processes contain the factor. All times are integral nanoseconds, so steps
// that follow each other without a gap do so in the trace.
//
//===----------------------------------------------------------------------===//

#include "Emit/JsonObject.h"
#include "Emit/Picture.h"
#include "Explain/Causes.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/Support/Format.h"

#include <limits>

using namespace llvm;

namespace pipec {

namespace {

class TraceWriter {
public:
  /// The second of a pair of runs, of as many ranks, follows the first one in
  /// the same trace.
  TraceWriter(const Picture &picture, const SourceFiles &files, raw_ostream &os,
              unsigned tracks, bool hasPair, bool isSecond = false)
      : picture(picture), schedule(picture.schedule()), files(files), os(os),
        tracks(tracks), hasPair(hasPair), isSecond(isSecond), first(!isSecond) {
    constexpr int64_t longest = std::numeric_limits<int64_t>::max() / 4;
    while (nanosAUnit > 1 && scaled(picture.length()) > longest)
      nanosAUnit /= 10;
  }

  void write() {
    os << "{\"displayTimeUnit\":\"ms\",\"otherData\":";
    {
      JsonObject data(os);
      data("schedule", schedule.name)("sizes", sizesText(schedule));
      data.key("time") << "\"1 unit of the costs is " << Micros{nanosAUnit}
                       << " microseconds\"";
      if (std::string part = picture.windowText(); !part.empty())
        data("shown", part);
    }
    os << ",\"traceEvents\":[\n";
    writeRanks();
  }
  void writeRanks() {
    findCriticalPath();
    countFlowEnds();
    for (unsigned rank = 0; rank != picture.shownRanks(); ++rank)
      writeRank(rank);
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

  /// Those of a second run follow all threads of the first one.
  unsigned process(unsigned rank) const {
    return rank + 1 + (isSecond ? tracks * schedule.numRanks : 0);
  }
  // The first thread of a process has its number.
  unsigned computeTrack(unsigned rank) const { return process(rank); }
  unsigned phaseTrack(unsigned rank) const {
    return 2 * schedule.numRanks + process(rank);
  }
  unsigned sideTrack(unsigned rank, SideLane lane) const {
    // The third thread is that of phases.
    unsigned number = lane.number() + (lane.number() == 0 ? 1 : 2);
    return number * schedule.numRanks + process(rank);
  }
  unsigned trackOf(unsigned rank, Step step) const {
    std::optional<SideLane> lane = SideLane::of(schedule, step);
    return lane ? sideTrack(rank, *lane) : computeTrack(rank);
  }
  StringRef sideName(SideLane lane) const {
    return lane == SideLane::collectives() ? "FSDP"
           : lane == SideLane::out()       ? "copies to the host"
           : lane == SideLane::in()        ? "copies from the host"
                                           : lane.name(schedule);
  }

  /// An event of a type, which begins with its time.
  struct Event : JsonObject {
    Event(TraceWriter &writer, char type, unsigned rank, unsigned track,
          int64_t ticks)
        : JsonObject(writer.nextLine()) {
      (*this)("ph", StringRef(&type, 1))("pid", writer.process(rank));
      (*this)("tid", track).key("ts") << writer.micros(ticks);
    }
  };
  raw_ostream &nextLine() {
    return std::exchange(first, false) ? os : os << ",\n";
  }
  /// Writes a name or an index for sorting tracks.
  template <class Value>
  void metadata(StringRef what, unsigned rank, unsigned track, StringRef key,
                const Value &value) {
    Event event(*this, 'M', rank, track, 0);
    event("name", what);
    JsonObject(event.key("args"))(key, value);
  }
  void nameTrack(unsigned rank, unsigned track, StringRef name,
                 unsigned place) {
    metadata("thread_name", rank, track, "name", name);
    metadata("thread_sort_index", rank, track, "sort_index", place);
  }
  /// The duration of a slice that ends where the next one begins.
  Micros length(int64_t start, int64_t finish) const {
    return {micros(finish).nanos - micros(start).nanos};
  }

  void findCriticalPath();
  unsigned sortIndex(unsigned rank) const {
    return hasPair ? 2 * rank + isSecond : rank;
  }
  void writeNames(unsigned rank);
  void writePhases(unsigned rank);
  void writeRank(unsigned rank);
  void writeStep(const Picture::Group &group);
  void writeWhat(JsonObject &args, unsigned rank, Step step) const;
  void writeLevels(unsigned rank, StringRef name, MemoryPlace place);
  void countFlowEnds();
  void writeFlow(const Picture::Group &group, Step step);
  void writeTransfer(unsigned rank, const Picture::Group &group);

  /// Calls `visit(flow, begins)` for the flows that begin or end with a step.
  template <class Visit> void forEachFlow(Step step, Visit visit) const {
    const DataFlow &flow = picture.flow();
    auto visitAll = [&](ArrayRef<DataFlow::Port> ports, bool begins) {
      for (const DataFlow::Port &port : ports)
        if (port.transfers)
          visit((isSecond ? flow.size() : 0) + flow.datum(port, step.unit()),
                begins);
    };
    visitAll(flow.inputs(step), false);
    visitAll(flow.outputs(step), true);
  }

  const Picture &picture;
  const Schedule &schedule;
  const SourceFiles &files;
  raw_ostream &os;
  int64_t nanosAUnit = 1000000;
  /// The number of threads per rank.
  const unsigned tracks;
  const bool hasPair, isSecond;
  bool first;
  uint64_t numTransfers = 0;
  /// The steps of the critical path, by number.
  BitVector critical;
  /// How many ends of each flow are shown; empty if all are.
  std::vector<uint8_t> flowEnds;
};

} // namespace

void TraceWriter::findCriticalPath() {
  const Simulation &run = picture.simulation();
  critical.resize(run.numbers().size());
  if (run.isRecorded())
    return;
  for (const PathStep &link : criticalPath(Causes(schedule, run)))
    critical.set(link.step);
}

void TraceWriter::writeNames(unsigned rank) {
  unsigned track = computeTrack(rank);
  bool measured = picture.simulation().isRecorded();
  metadata("process_name", rank, track, "name",
           "rank " + std::to_string(rank) + (measured ? " measured" : ""));
  // Of two runs, both of a rank are neighbours.
  metadata("process_sort_index", rank, track, "sort_index", sortIndex(rank));
  std::string label;
  raw_string_ostream(label)
      << schedule.name << ", 1 unit of time is " << Micros{nanosAUnit} << " us";
  metadata("process_labels", rank, track, "labels", label);
  nameTrack(rank, track, "compute", 0);
  BitVector used(size(SideLane::all(schedule)));
  for (Step step : schedule.ranks[rank])
    if (std::optional<SideLane> lane = SideLane::of(schedule, step))
      used.set(lane->number());
  for (SideLane lane : SideLane::all(schedule))
    if (used.test(lane.number()))
      nameTrack(rank, sideTrack(rank, lane), sideName(lane), 1);
  if (!schedule.phases.empty())
    nameTrack(rank, phaseTrack(rank), "phases", 2);
}

/// Writes a slice for each run of compute steps of one phase.
void TraceWriter::writePhases(unsigned rank) {
  unsigned phase = maxPhases;
  int64_t start = 0, finish = 0;
  auto flush = [&] {
    if (phase >= schedule.phases.size())
      return;
    Event event(*this, 'X', rank, phaseTrack(rank), start);
    event.key("dur") << length(start, finish);
    // Perfetto shows a slice without a name as an error.
    StringRef name = schedule.phases[phase];
    event("cat", "phase")("name", name.empty() ? "phase" : name);
    JsonObject(event.key("args"));
  };
  const StepList &list = schedule.ranks[rank];
  picture.forEachCompute(rank, [&](const Picture::Group &group) {
    Step step = list[group.begin];
    if (step.phase() != phase) {
      flush();
      phase = step.phase();
      start = group.start;
    }
    finish = group.finish;
  });
  flush();
}

void TraceWriter::writeRank(unsigned rank) {
  const StepList &list = schedule.ranks[rank];
  writeNames(rank);
  writePhases(rank);
  picture.forEachGroup(rank, [&](const Picture::Group &group) {
    if (isP2P(list[group.begin].kind()))
      writeTransfer(rank, group);
    else
      writeStep(group);
  });
  picture.forEachWait(rank, [&](Step step, int64_t time) {
    Event event(*this, 'i', rank, trackOf(rank, step), time);
    printStep(event("s", "t")("cat", "wait").key("name") << '"', picture.flow(),
              step);
    os << '"';
    JsonObject args(event.key("args"));
    writeWhat(args, rank, step);
  });
  writeLevels(rank, "memory", MemoryPlace::Device);
  if (any_of(list, [](Step step) { return isCopy(step.kind()); }))
    writeLevels(rank, "memory on the host", MemoryPlace::Host);
}

/// Writes a counter of the memory of a rank.
void TraceWriter::writeLevels(unsigned rank, StringRef name,
                              MemoryPlace place) {
  picture.forEachLevel(
      rank,
      [&](int64_t time, int64_t level) {
        Event event(*this, 'C', rank, computeTrack(rank), time);
        event("name", name).key("args")
            << "{\"kept\":" << roundedText(picture.memory().size(level)) << '}';
      },
      place);
}

/// Writes a step as members of a JSON object.
void TraceWriter::writeWhat(JsonObject &args, unsigned rank, Step step) const {
  args("kind", stepKindName(step.kind()));
  args(step.stream() == Stream::Tied ? "group" : "stage", step.stage());
  if (!hasUnit(step.kind()))
    return;
  args("microbatch", step.unit() / schedule.numSlices);
  if (schedule.numSlices > 1)
    args("slice", step.unit() % schedule.numSlices);
  args("chunk", picture.chunks().of(schedule, rank, step));
}

void TraceWriter::writeStep(const Picture::Group &group) {
  const StepList &list = schedule.ranks[group.rank];
  ArrayRef<Step> steps =
      ArrayRef(list).slice(group.begin, group.end - group.begin);
  bool overlap = steps.size() > 1;
  {
    Event event(*this, 'X', group.rank, trackOf(group.rank, steps.front()),
                group.start);
    event.key("dur") << length(group.start, group.finish);
    event("cat",
          overlap ? StringRef("overlap") : stepKindName(steps.front().kind()));
    event.key("name") << '"';
    for (Step step : steps) {
      printStep(os, picture.flow(), step);
      if (step.joined())
        os << " & ";
    }
    os << '"';
    JsonObject args(event.key("args"));
    if (overlap)
      args("kind", "overlap").array("members", steps, [&](Step step) {
        JsonObject member(os);
        writeWhat(member, group.rank, step);
      });
    else
      writeWhat(args, group.rank, steps.front());
    args("position", group.begin);
    if (steps.front().phase() < schedule.phases.size())
      args("phase", schedule.phases[steps.front().phase()]);
    if (std::string place = placeText(files, steps.front().source());
        !place.empty())
      args("source", place);
    const StepNumbers &numbers = picture.simulation().numbers();
    if (critical.find_first_in(numbers.of(group.rank, group.begin),
                               numbers.of(group.rank, group.end)) != -1)
      args("critical", true);
  }
  if (isCompute(steps.front().kind()))
    for (Step step : steps)
      writeFlow(group, step);
}

/// In a part of a schedule, only flows with both ends in it are shown.
void TraceWriter::countFlowEnds() {
  if (picture.windowText().empty())
    return;
  flowEnds.assign(picture.flow().size(), 0);
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
    // A flow is bound to the last slice that began on the track, which is the
    // step.
    Event event(*this, begins ? 's' : 'f', group.rank,
                trackOf(group.rank, step), group.start);
    if (!begins)
      event("bp", "e");
    event("cat", "flow")("name", step.kind() == StepKind::F ? "activations"
                                                            : "gradients");
    event("id", id);
  });
}

void TraceWriter::writeTransfer(unsigned rank, const Picture::Group &group) {
  const StepList &list = schedule.ranks[rank];
  for (size_t i = group.begin; i != group.end; ++i) {
    Step step = list[i];
    const DataFlow::Port *port =
        isSend(step.kind()) ? picture.flow().transfer(step) : nullptr;
    if (!port)
      continue;
    uint64_t id = numTransfers++;
    for (char type : {'b', 'e'}) {
      Event event(*this, type, rank, computeTrack(rank),
                  type == 'b' ? group.start : group.finish);
      event("cat", "transfer").key("id2")
          << "{\"local\":\"" << format_hex(id, 1) << "\"}";
      event.key("name") << "\"r" << rank << " -> r" << port->rank
                        << (step.kind() == StepKind::SendF ? " activations\""
                                                           : " gradients\"");
      JsonObject args(event.key("args"));
      if (type == 'e')
        continue;
      writeWhat(args, rank, step);
      if (critical.test(picture.simulation().numbers().of(rank, i)))
        args("critical", true);
    }
  }
}

LogicalResult emitTrace(const Schedule &schedule, const EmitOptions &options,
                        raw_ostream &os, DiagEngine &diags) {
  auto picture = [&](const Schedule &shown, const Simulation *recorded) {
    return Picture::make(shown, options, Picture::Limits(), diags, recorded);
  };
  FailureOr<Picture> own = picture(schedule, nullptr);
  if (failed(own) || failed(checkResults(schedule, diags)))
    return failure();
  FailureOr<Picture> other = failure();
  if (options.with && failed(other = picture(*options.with, options.withRun)))
    return failure();
  const SourceFiles &files = diags.sourceFiles();
  auto tracksOf = [](const Schedule &shown) {
    if (size_t streams = shown.streams.names.size())
      return 5 + unsigned(streams);
    return shown.has(step_facts::kindsOf(Object::Copy)) ? 5u : 3u;
  };
  unsigned tracks = tracksOf(schedule);
  if (options.with)
    tracks = std::max(tracks, tracksOf(*options.with));
  TraceWriter(*own, files, os, tracks, options.with).write();
  if (options.with)
    TraceWriter(*other, files, os, tracks, true, /*isSecond=*/true)
        .writeRanks();
  os << "\n]}\n";
  return success();
}

} // namespace pipec
