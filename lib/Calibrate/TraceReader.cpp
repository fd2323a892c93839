//===- TraceReader.cpp - Traces of PyTorch and of executors ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Calibrate/RankTrace.h"

#include "Support/Diagnostics/CalibrateDiags.h"
#include "Support/Json.h"
#include "Support/Words.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>

using namespace llvm;

namespace pipec {

// Limits, in nanoseconds, within which sums of times do not overflow: about 70
// years from the origin of times, 18 years from the base of a trace, and 9
// hours for a step.
static constexpr int64_t maxBase = int64_t(1) << 61;
static constexpr int64_t limit = int64_t(1) << 59;
static constexpr int64_t maxLength = int64_t(1) << 45;

/// Converts a JSON number of microseconds to nanoseconds. Returns nothing for
/// other texts and for times beyond the limit.
static std::optional<int64_t> parseMicros(StringRef text) {
  std::optional<int64_t> nanos = scaledJsonNumber(text, 3);
  return nanos && std::abs(*nanos) < limit ? nanos : std::nullopt;
}

namespace {

/// Reads the text of one trace.
class TraceReader {
public:
  TraceReader(StringRef path, StringRef text, TraceCells &cells,
              DiagEngine &diags)
      : path(path), text(text), json(text), cells(cells), diags(diags) {}

  /// Reads the text. Returns false and sets `fault` at the first fault.
  bool read();
  /// Adds the traces of the ranks.
  LogicalResult finish(std::vector<RankTrace> &ranks);

  struct Fault {
    const char *at = nullptr;
    std::string text;
    bool isSyntax = true;
  };
  Fault fault;

private:
  /// The texts of the members that are used.
  struct Event {
    StringRef type, category, name, start, duration, process, thread, arguments;
  };

  void readEvent();
  void readPipelineSpan(const Event &event, StringRef cell, bool isWait);
  void readExecutorSpan(const Event &event);
  void readMemory(const Event &event);
  void readKernel(const Event &event, bool isLaunch);
  void joinKernels();
  void readIdentity(StringRef value, bool isPipelineRank);
  std::optional<TraceSpan> readTimes(const Event &event);
  void joinOverlaps(std::vector<TraceSpan> &spans);

  /// The keys of an object, and where the texts of their values are stored.
  using Members = std::initializer_list<std::pair<StringLiteral, StringRef *>>;
  static void readObject(JsonReader &reader, Members members) {
    reader.object([&](StringRef key) {
      StringRef value = reader.value();
      for (const auto &[name, place] : members)
        if (key == name)
          *place = value;
    });
  }
  /// Reads a value whose syntax is checked, and which may be an object.
  static void readObject(StringRef value, Members members) {
    if (JsonReader reader(value); reader.at('{'))
      readObject(reader, members);
  }
  static int64_t integerOf(StringRef text) {
    int64_t number = 0;
    return text.getAsInteger(10, number) ? 0 : number;
  }
  void refuse(StringRef at, const Twine &why) {
    json.setFault(at.data(), "");
    if (!fault.at)
      fault = {at.data(), why.str(), /*isSyntax=*/false};
  }

  StringRef path;
  StringRef text;
  JsonReader json;
  TraceCells &cells;
  DiagEngine &diags;

  RankTrace trace;
  int64_t base = 0;
  bool hasEvents = false;
  /// The spans of an executor, by rank.
  std::map<unsigned, std::vector<TraceSpan>> executors;
  std::vector<MemoryEvent> hostMemory, deviceMemory;
  /// The sum of the sizes of their events.
  int64_t allocated = 0;
  /// Launches by correlation, and kernels with theirs.
  DenseMap<int64_t, int64_t> launches;
  std::vector<std::pair<int64_t, KernelSpan>> kernels;
  std::string unknown;
};

} // namespace

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

std::optional<TraceSpan> TraceReader::readTimes(const Event &event) {
  std::optional<int64_t> start = parseMicros(event.start);
  std::optional<int64_t> length = parseMicros(event.duration);
  if (!start || !length || *length < 0 || *length > maxLength) {
    StringRef at = start ? event.duration : event.start;
    refuse(at.empty() ? event.name : at,
           "the " + Twine(start ? "duration" : "time") + " of `" +
               shortened(decodeJsonString(event.name)) +
               "` is not a number of microseconds");
    return std::nullopt;
  }
  return TraceSpan{TraceCells::none, 0, *start, *start + *length};
}

void TraceReader::readPipelineSpan(const Event &event, StringRef cell,
                                   bool isWait) {
  // Sums of tied gradients run beside the steps, and have no cost of a stage.
  if (event.type != "\"X\"" ||
      cell.ends_with(stepKindName(StepKind::ReduceTied)))
    return;
  bool isDevice = event.category == "\"gpu_user_annotation\"";
  std::optional<TraceSpan> span = readTimes(event);
  if (!span)
    return;
  span->cell = cells.find(cell);
  if (span->cell == TraceCells::none) {
    if (unknown.empty())
      unknown = cell.str();
    return;
  }
  if (isDevice) {
    if (event.thread.getAsInteger(10, span->group))
      span->group = 0;
    if (!isWait)
      trace.device.push_back(*span);
  } else {
    (isWait ? trace.waits : trace.steps).push_back(*span);
  }
}

void TraceReader::readExecutorSpan(const Event &event) {
  StringRef kindText, stageText, unitText, microbatchText = "0", runText;
  readObject(event.arguments, {{"kind", &kindText},
                               {"stage", &stageText},
                               {"microbatch", &microbatchText},
                               {"unit", &unitText},
                               {"run", &runText}});
  // Traces of earlier versions have the unit of a slice as its micro-batch.
  if (unitText.empty())
    unitText = microbatchText;
  // Other programs use the names of the categories too.
  if (kindText.empty() || runText.empty())
    return;
  std::optional<StepKind> kind = parseStepKind(kindText.trim('"'));
  if (kind && streamOf(*kind) == Stream::Tied)
    return;
  // `SEND_F s0 m2 -> s3` is a transfer on an edge that a chain does not have.
  std::optional<unsigned> peer;
  StringRef last = event.name.trim('"').rsplit(' ').second;
  bool isNamed = (event.name.contains("-> s") || event.name.contains("<- s")) &&
                 last.consume_front("s");
  unsigned process = 0, stage = 0, unit = 0, run = 0;
  if (!kind || !hasStage(*kind) || event.process.getAsInteger(10, process) ||
      process == 0 || process > maxRanks || stageText.getAsInteger(10, stage) ||
      stage >= maxStages || unitText.getAsInteger(10, unit) ||
      unit >= maxUnits || runText.getAsInteger(10, run) ||
      (isNamed && (last.getAsInteger(10, peer.emplace()) ||
                   !(isP2P(*kind) || isSendWait(*kind)) || *peer >= maxStages)))
    return refuse(event.arguments, "the arguments of `" +
                                       shortened(decodeJsonString(event.name)) +
                                       "` are not those of a step");
  std::optional<TraceSpan> span = readTimes(event);
  if (!span)
    return;
  span->cell = cells.find(Step(*kind, stage, unit), peer);
  span->group = run;
  executors[process - 1].push_back(*span);
}

void TraceReader::readMemory(const Event &event) {
  std::optional<int64_t> time = parseMicros(event.start);
  StringRef bytesText, deviceText;
  readObject(event.arguments,
             {{"Bytes", &bytesText}, {"Device Type", &deviceText}});
  int64_t bytes = integerOf(bytesText), device = integerOf(deviceText);
  if (!time || !bytes)
    return;
  // Sums of any of them fit 64 bits.
  if (bytes == std::numeric_limits<int64_t>::min() ||
      AddOverflow(allocated, std::abs(bytes), allocated))
    return refuse(event.arguments, "the allocations do not fit 64 bits");
  (device ? deviceMemory : hostMemory).push_back({*time, bytes});
}

/// Records a kernel, or the call that launches one. Device annotations miss the
/// kernels of a backward, which another thread launches.
void TraceReader::readKernel(const Event &event, bool isLaunch) {
  StringRef number;
  readObject(event.arguments, {{"correlation", &number}});
  int64_t correlation = integerOf(number);
  // The map reserves two values for empty places.
  if (correlation <= 0 || correlation >= DenseMapInfo<int64_t>::getEmptyKey())
    return;
  std::optional<TraceSpan> span = readTimes(event);
  if (!span)
    return;
  if (isLaunch) {
    launches[correlation] = span->start;
    return;
  }
  uint32_t stream = 0;
  (void)event.thread.getAsInteger(10, stream);
  kernels.push_back({correlation, {0, stream, span->start, span->end}});
}

void TraceReader::joinKernels() {
  for (auto &[correlation, kernel] : kernels) {
    auto launch = launches.find(correlation);
    if (launch == launches.end())
      continue;
    trace.kernels.push_back({launch->second + base, kernel.stream,
                             kernel.start + base, kernel.end + base});
  }
  std::ranges::stable_sort(trace.kernels, {}, &KernelSpan::launch);
}

void TraceReader::readEvent() {
  if (!json.at('{'))
    return (void)json.value();
  Event event;
  readObject(json, {{"ph", &event.type},
                    {"cat", &event.category},
                    {"name", &event.name},
                    {"ts", &event.start},
                    {"dur", &event.duration},
                    {"pid", &event.process},
                    {"tid", &event.thread},
                    {"args", &event.arguments}});
  if (json.hasFault())
    return;
  StringRef name = event.name.trim('"');
  if (name.consume_front("PP:"))
    return readPipelineSpan(event, name, /*isWait=*/false);
  if (name.consume_front("PPWAIT:"))
    return readPipelineSpan(event, name, /*isWait=*/true);
  if (name == "[memory]")
    return readMemory(event);
  if (event.type != "\"X\"")
    return;
  StringRef category = event.category.trim('"');
  if (category == "kernel" || category == "gpu_memcpy" ||
      category == "gpu_memset")
    return readKernel(event, /*isLaunch=*/false);
  if (category == "cuda_runtime" || category == "cuda_driver" ||
      category == "hip_runtime")
    return readKernel(event, /*isLaunch=*/true);
  if (category == "compute" || category == "transfer" || category == "fsdp" ||
      category == "copy")
    readExecutorSpan(event);
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

/// Reads the rank of `distributedInfo` or of `pipec`, which precedes the other.
void TraceReader::readIdentity(StringRef value, bool isPipelineRank) {
  StringRef rankText, ranksText;
  readObject(value, {{"rank", &rankText}, {"ranks", &ranksText}});
  unsigned rank = 0;
  if (isPipelineRank && !ranksText.getAsInteger(10, rank))
    trace.numRanks = rank;
  if (rankText.getAsInteger(10, rank) || (trace.rank && trace.isPipelineRank))
    return;
  trace.rank = rank;
  trace.isPipelineRank = isPipelineRank;
}

bool TraceReader::read() {
  json.object([&](StringRef key) {
    if (key == "traceEvents") {
      hasEvents = true;
      return json.list([&] { readEvent(); });
    }
    StringRef value = json.value();
    if (key == "baseTimeNanoseconds") {
      if (value.getAsInteger(10, base) || base < 0 || base > maxBase)
        refuse(value, "`baseTimeNanoseconds` is not a time");
    } else if (key == "host_name")
      trace.host = decodeJsonString(value);
    else if (key == "distributedInfo")
      readIdentity(value, /*isPipelineRank=*/false);
    else if (key == "pipec")
      readIdentity(value, /*isPipelineRank=*/true);
  });
  json.finish();
  if (json.hasFault() && !fault.at)
    fault = {json.fault().at, json.fault().text};
  return !fault.at;
}

/// Makes overlaps of compute steps that run at the same time: an executor
/// records the members one by one. The spans are in the order of their starts.
void TraceReader::joinOverlaps(std::vector<TraceSpan> &spans) {
  auto isComputeSpan = [&](const TraceSpan &span) {
    return isCompute(cells[span.cell][0].kind());
  };
  std::vector<TraceSpan> joined;
  TraceCells::Members members;
  size_t last = 0;
  // An overlap is named once, when all of its members are known.
  auto finishLast = [&] {
    if (members.size() > 1)
      joined[last].cell = cells.find(members);
  };
  for (const TraceSpan &span : spans) {
    bool overlaps = !members.empty() && isComputeSpan(span) &&
                    span.start < joined[last].end &&
                    span.group == joined[last].group;
    if (overlaps) {
      members.push_back(cells[span.cell][0]);
      joined[last].end = std::max(joined[last].end, span.end);
      continue;
    }
    if (isComputeSpan(span)) {
      finishLast();
      members = {cells[span.cell][0]};
      last = joined.size();
    }
    joined.push_back(span);
  }
  finishLast();
  spans = std::move(joined);
}

LogicalResult TraceReader::finish(std::vector<RankTrace> &ranks) {
  if (!hasEvents)
    return diags.report(DiagLoc(), diag::TraceNoEvents, path);
  if (!unknown.empty())
    (void)diags.report(DiagLoc(), diag::TraceUnknownStep, path,
                       shortened(unknown));
  auto sorted = [](std::vector<TraceSpan> &spans) {
    // Of spans that begin at once the longer one is outside.
    std::ranges::stable_sort(spans, {}, [](const TraceSpan &span) {
      return std::pair(span.start, -span.end);
    });
  };
  if (!trace.steps.empty()) {
    trace.path = path.str();
    joinKernels();
    for (std::vector<TraceSpan> *spans :
         {&trace.steps, &trace.waits, &trace.device}) {
      sorted(*spans);
      for (TraceSpan &span : *spans) {
        span.start += base;
        span.end += base;
      }
    }
    trace.memory = std::move(deviceMemory.empty() ? hostMemory : deviceMemory);
    for (MemoryEvent &event : trace.memory)
      event.time += base;
    std::ranges::stable_sort(trace.memory, {}, &MemoryEvent::time);
    ranks.push_back(std::move(trace));
    return success();
  }
  if (executors.empty())
    return diags.report(DiagLoc(), diag::TraceNoSpans, path)
        .note(DiagLoc(), diag::NoteTraceNames);
  for (auto &[rank, spans] : executors) {
    sorted(spans);
    joinOverlaps(spans);
    RankTrace &one = ranks.emplace_back();
    one.path = path.str();
    one.origin = TraceOrigin::Executor;
    one.rank = rank;
    one.isPipelineRank = true;
    one.steps = std::move(spans);
  }
  return success();
}

LogicalResult readTrace(StringRef path, TraceCells &cells,
                        std::vector<RankTrace> &ranks, DiagEngine &diags) {
  FailureOr<std::unique_ptr<MemoryBuffer>> text = openTraceText(path, diags);
  if (failed(text))
    return failure();
  return readTrace(path, std::move(*text), cells, ranks, diags);
}

LogicalResult readTrace(StringRef path, std::unique_ptr<MemoryBuffer> text,
                        TraceCells &cells, std::vector<RankTrace> &ranks,
                        DiagEngine &diags) {
  TraceReader reader(path, text->getBuffer(), cells, diags);
  if (reader.read())
    return reader.finish(ranks);
  // Only a text with a fault is kept, for its place in the message.
  TraceReader::Fault fault = reader.fault;
  DiagLoc at;
  if (Expected<StringRef> kept = diags.sourceFiles().add(std::move(text)))
    at = SMLoc::getFromPointer(fault.at);
  else
    consumeError(kept.takeError());
  if (fault.isSyntax)
    return diags.report(at, diag::TraceSyntax, fault.text);
  return diags.report(at, diag::TraceBadSpan, fault.text);
}

} // namespace pipec
