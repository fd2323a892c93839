//===- Trace.h - Time stamps of steps ---------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An executor that is given a `RankTrace` records when each step began and
// ended. `writeChromeTrace` writes the records of all ranks as Chrome trace
// JSON, which Perfetto and chrome://tracing open: a process for each rank with
// a track of its steps, and an arrow from every send to the step that uses what
// arrived.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_RUNTIME_TRACE_H
#define PIPEC_RUNTIME_TRACE_H

#include "pipec/runtime/Schedule.h"
#include "pipec/runtime/Transport.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <span>
#include <string>
#include <vector>

namespace pipec::runtime {

/// One step as it happened; times in nanoseconds of the steady clock. A send
/// lasts as long as its posting; a receive, as long as the rank waited for its
/// message.
struct TraceRecord {
  RankState step;
  std::uint32_t run;
  /// See Step::other.
  std::int32_t other;
  std::int64_t start;
  std::int64_t end;
};

/// The records of one rank, in the order of their steps.
class RankTrace {
public:
  static std::int64_t now() {
    return std::chrono::steady_clock::now().time_since_epoch().count();
  }
  std::size_t begin(RankState step, std::uint32_t run, int other = -1) {
    std::int64_t time = now();
    records.push_back({step, run, other, time, time});
    return records.size() - 1;
  }
  void end(std::size_t index) { records[index].end = now(); }

  std::span<const TraceRecord> all() const { return records; }
  /// Adds the records of another process.
  void append(std::span<const TraceRecord> more) {
    records.insert(records.end(), more.begin(), more.end());
  }
  void clear() { records.clear(); }
  /// Adds `nanoseconds` to all times: from one machine's clock to another's.
  void shift(std::int64_t nanoseconds) {
    for (TraceRecord &record : records) {
      record.start += nanoseconds;
      record.end += nanoseconds;
    }
  }
  /// Makes room, so that recording does not allocate.
  void reserve(std::size_t count) { records.reserve(count); }

private:
  std::vector<TraceRecord> records;
};

namespace detail {
inline void writeJsonText(std::ostream &os, const char *text) {
  for (; *text; ++text) {
    if (*text == '"' || *text == '\\')
      os << '\\';
    if (static_cast<unsigned char>(*text) >= 0x20)
      os << *text;
  }
}

/// The place of each stage among those that its rank holds, in the order in
/// which a micro-batch meets them; one row of stages for each direction.
inline std::vector<int> chunksOf(const Schedule &schedule) {
  std::vector<int> chunks, held(std::size_t(schedule.ranks), 0);
  for (int i = 0; i != schedule.directions * schedule.stages; ++i)
    chunks.push_back(held[std::size_t(schedule.rankOfStage[i])]++);
  return chunks;
}

/// Microseconds with three decimals, without floating point.
inline void writeMicroseconds(std::ostream &os, std::int64_t nanoseconds) {
  std::string digits = std::to_string(nanoseconds % 1000);
  os << nanoseconds / 1000 << '.' << std::string(3 - digits.size(), '0')
     << digits;
}

constexpr const char *categoryOf(StepKind kind) {
  if (isCompute(kind) || kind == StepKind::Update)
    return "compute";
  if (isCopy(kind))
    return "copy";
  return isTransfer(kind) || isSendWait(kind) ? "transfer" : "fsdp";
}
} // namespace detail

/// Writes the traces of all ranks, indexed by rank, which must tell the time by
/// one clock; for ranks that are processes see MpiTrace.h.
inline void writeChromeTrace(std::ostream &os, const Schedule &schedule,
                             std::span<const RankTrace> ranks) {
  std::int64_t origin = INT64_MAX;
  for (const RankTrace &trace : ranks)
    for (const TraceRecord &record : trace.all())
      origin = std::min(origin, record.start);

  // Process and thread 0 are the idle ones elsewhere, so both count from 1, and
  // no two processes have threads of the same number.
  const char *separator = "\n";
  auto event = [&](const char *phase, std::size_t rank) -> std::ostream & {
    os << separator << "{\"ph\":\"" << phase << "\",\"pid\":" << rank + 1
       << ",\"tid\":" << rank + 1;
    separator = ",\n";
    return os;
  };
  auto timed = [&](const char *phase, std::size_t rank,
                   std::int64_t time) -> std::ostream & {
    event(phase, rank) << ",\"ts\":";
    detail::writeMicroseconds(os, time - origin);
    return os;
  };

  os << "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"schedule\":\"";
  detail::writeJsonText(os, schedule.name);
  os << "\"},\"traceEvents\":[";
  for (std::size_t rank = 0; rank != ranks.size(); ++rank) {
    event("M", rank) << ",\"name\":\"process_name\",\"args\":{\"name\":\"rank "
                     << rank << "\"}}";
    event("M", rank)
        << ",\"name\":\"process_sort_index\",\"args\":{\"sort_index\":" << rank
        << "}}";
    event("M", rank) << ",\"name\":\"process_labels\",\"args\":{\"labels\":\"";
    detail::writeJsonText(os, schedule.name);
    os << "\"}}";
    event("M", rank)
        << ",\"name\":\"thread_name\",\"args\":{\"name\":\"steps\"}}";
  }

  std::vector<int> chunks = detail::chunksOf(schedule);
  for (std::size_t rank = 0; rank != ranks.size(); ++rank) {
    for (const TraceRecord &record : ranks[rank].all()) {
      const RankState &step = record.step;
      bool send = isSend(step.kind);
      bool recv = isTransfer(step.kind) && !send;
      // Arrows begin and end inside slices, so none is empty.
      std::int64_t end = std::max(record.end, record.start + 1);
      timed("X", rank, record.start) << ",\"dur\":";
      detail::writeMicroseconds(os, end - record.start);
      os << ",\"name\":\""
         << stepText(step.kind, step.stage, step.unit, record.other,
                     schedule.slices)
         << "\",\"cat\":\"" << detail::categoryOf(step.kind)
         << "\",\"args\":{\"kind\":\"" << stepName(step.kind)
         << "\",\"stage\":" << step.stage;
      if (hasMicrobatch(step.kind)) {
        int direction = schedule.directionOf(step.unit);
        os << ",\"microbatch\":" << step.unit / schedule.slices;
        if (schedule.slices > 1)
          os << ",\"slice\":" << step.unit % schedule.slices
             << ",\"unit\":" << step.unit;
        os << ",\"chunk\":"
           << chunks[std::size_t(direction * schedule.stages + step.stage)];
      }
      os << ",\"run\":" << record.run;
      if (step.line) {
        os << ",\"source\":\"";
        detail::writeJsonText(os, schedule.source);
        os << ':' << step.line << '"';
      }
      os << "}}";
      if (!send && !recv)
        continue;
      // Both ends number the arrow by the stage that made the tensor. It begins
      // with the send and ends in the last moment of the receive.
      bool forward = step.kind == StepKind::SendForward ||
                     step.kind == StepKind::RecvForward;
      int other =
          record.other >= 0 ? record.other : neighbourOf(step.kind, step.stage);
      std::uint64_t stages = std::uint64_t(schedule.stages);
      std::uint64_t number =
          (std::uint64_t(record.run) * 2 + !forward) * stages +
          std::uint64_t(send ? step.stage : other);
      // In a graph, a stage sends to several others.
      if (!schedule.edges.empty())
        number = number * stages + std::uint64_t(send ? other : step.stage);
      number =
          number * std::uint64_t(schedule.units()) + std::uint64_t(step.unit);
      timed(send ? "s" : "f", rank, send ? record.start : end - 1)
          << (send ? "" : ",\"bp\":\"e\"") << ",\"name\":\""
          << (forward ? "output" : "gradient")
          << "\",\"cat\":\"transfer\",\"id\":" << number << '}';
    }
  }
  os << "\n]}\n";
}

} // namespace pipec::runtime

#endif // PIPEC_RUNTIME_TRACE_H
