//===- Trace.h - Time stamps of steps -----*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An executor that is given a `RankTrace` records when each step began and
// ended. `writeChromeTrace` writes the records of all ranks as Chrome trace
// JSON, which Perfetto and chrome://tracing open: one track a rank, and an
// arrow from every send to the step that uses what arrived.
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

/// One step as it happened; times in nanoseconds of the steady clock. The time
/// of a send is that of its posting; the time of a receive is how long the rank
/// waited for what it brought.
struct TraceRecord {
  RankState step;
  std::uint32_t run;
  std::int64_t start;
  std::int64_t end;
};

/// The records of one rank, in the order of their steps.
class RankTrace {
public:
  static std::int64_t now() {
    return std::chrono::steady_clock::now().time_since_epoch().count();
  }
  std::size_t begin(RankState step, std::uint32_t run) {
    std::int64_t time = now();
    records.push_back({step, run, time, time});
    return records.size() - 1;
  }
  void end(std::size_t index) { records[index].end = now(); }

  std::span<const TraceRecord> all() const { return records; }
  /// Takes records of another process over.
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

/// Microseconds with three decimals, without floating point.
inline void writeMicroseconds(std::ostream &os, std::int64_t nanoseconds) {
  std::string digits = std::to_string(nanoseconds % 1000);
  os << nanoseconds / 1000 << '.' << std::string(3 - digits.size(), '0')
     << digits;
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

  const char *separator = "\n";
  auto event = [&](const char *phase, std::size_t rank,
                   std::int64_t time) -> std::ostream & {
    os << separator << "{\"ph\":\"" << phase << "\",\"pid\":0,\"tid\":" << rank
       << ",\"ts\":";
    detail::writeMicroseconds(os, time - origin);
    separator = ",\n";
    return os;
  };
  auto name = [&](const RankState &step) {
    return stepText(step.kind, step.stage, step.microbatch);
  };

  os << "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
  os << separator
     << "{\"ph\":\"M\",\"pid\":0,\"name\":\"process_name\",\"args\":{\"name\":"
        "\"";
  detail::writeJsonText(os, schedule.name);
  os << "\"}}";
  separator = ",\n";
  for (std::size_t rank = 0; rank != ranks.size(); ++rank)
    os << separator << "{\"ph\":\"M\",\"pid\":0,\"tid\":" << rank
       << ",\"name\":\"thread_name\",\"args\":{\"name\":\"rank " << rank
       << "\"}}";

  for (std::size_t rank = 0; rank != ranks.size(); ++rank) {
    for (const TraceRecord &record : ranks[rank].all()) {
      const RankState &step = record.step;
      bool send = step.kind == StepKind::SendForward ||
                  step.kind == StepKind::SendBackward;
      bool recv = isTransfer(step.kind) && !send;
      // Arrows begin and end inside slices, so none is empty.
      std::int64_t end = std::max(record.end, record.start + 1);
      event("X", rank, record.start) << ",\"dur\":";
      detail::writeMicroseconds(os, end - record.start);
      os << ",\"name\":\"" << name(step) << "\",\"cat\":\""
         << (isCompute(step.kind)    ? "compute"
             : isTransfer(step.kind) ? "transfer"
                                     : "fsdp")
         << "\",\"args\":{\"run\":" << record.run;
      if (step.line) {
        os << ",\"source\":\"";
        detail::writeJsonText(os, schedule.source);
        os << ':' << step.line << '"';
      }
      os << "}}";
      if (!send && !recv)
        continue;
      // Both ends name the arrow by the stage that made the tensor. It begins
      // with the send and ends in the last moment of the receive.
      bool forward = step.kind == StepKind::SendForward ||
                     step.kind == StepKind::RecvForward;
      int producer = send ? step.stage : step.stage + (forward ? -1 : 1);
      event(send ? "s" : "f", rank, send ? record.start : end - 1)
          << (send ? "" : ",\"bp\":\"e\"") << ",\"name\":\""
          << (forward ? "output" : "gradient") << "\",\"cat\":\"transfer\""
          << ",\"id\":\"" << record.run << (forward ? 'F' : 'B') << producer
          << '.' << step.microbatch << "\"}";
    }
  }
  os << "\n]}\n";
}

} // namespace pipec::runtime

#endif // PIPEC_RUNTIME_TRACE_H
