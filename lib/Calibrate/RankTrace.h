//===- RankTrace.h - The spans that one rank recorded -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Spans of steps, as a profiler or an executor recorded them, before anything
// is concluded from them. Times are in nanoseconds.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "IR/Step.h"
#include "Support/DiagEngine.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pipec {

/// The cells of steps in traces, each stored once: `0F1`, `2SEND_F3`,
/// `0UNSHARD`, `(0F1;1B0)OVERLAP_F_B`. As in a CSV, a transfer on an edge that
/// a chain does not have names the stage at its other end: `0>3SEND_F2`.
class TraceCells {
public:
  /// A step, or the members of an overlap.
  using Members = llvm::SmallVector<Step, 2>;
  static constexpr uint32_t none = ~0u;

  /// The number of the cell with this text; `none` if it is not a step.
  uint32_t find(llvm::StringRef text);
  /// The number of the cell of one step, which may name a stage, or of an
  /// overlap.
  uint32_t find(llvm::ArrayRef<Step> members,
                std::optional<unsigned> peer = {});

  llvm::ArrayRef<Step> operator[](uint32_t cell) const {
    return all[cell].members;
  }
  /// The stage that a transfer names.
  std::optional<unsigned> peer(uint32_t cell) const { return all[cell].peer; }
  /// Sets the port of a transfer, which is 0 at first.
  void setPort(uint32_t cell, unsigned port) {
    all[cell].members[0].setPort(port);
  }

private:
  struct Cell {
    Members members;
    std::optional<unsigned> peer;
  };

  llvm::StringMap<uint32_t> numbers;
  std::vector<Cell> all;
};

/// The text of a step as a cell of a CSV shows it: `0F1`, `0UNSHARD`.
std::string cellText(llvm::ArrayRef<Step> members,
                     std::optional<unsigned> peer = {});

/// Identifies a step that is not a transfer, as a key of maps.
inline std::pair<uint64_t, unsigned> stepKey(Step step) {
  return {unitKey(step), unsigned(step.kind())};
}

/// A time in which something went on.
struct TraceSpan {
  uint32_t cell;
  /// Of an executor: the number of the run. Of a device: the stream.
  uint32_t group;
  int64_t start;
  int64_t end;

  int64_t length() const { return end - start; }
};

/// A kernel, and when the host launched it.
struct KernelSpan {
  int64_t launch;
  uint32_t stream;
  int64_t start;
  int64_t end;
};

/// An allocation (positive) or a release.
struct MemoryEvent {
  int64_t time;
  int64_t bytes;
};

/// How the spans of a trace came about.
enum class TraceOrigin {
  /// torch.profiler: host spans, with waits inside.
  Kineto,
  /// An executor of pipec: compute steps without waits, receives as the waits
  /// for them.
  Executor,
};

/// The trace of one rank.
struct RankTrace {
  std::string path;
  TraceOrigin origin = TraceOrigin::Kineto;
  /// As the trace says: the rank in the pipeline (`isPipelineRank`), or in the
  /// whole job.
  std::optional<unsigned> rank;
  bool isPipelineRank = false;
  /// The ranks of the pipeline, if the trace says.
  std::optional<unsigned> numRanks;
  /// The machine, if the trace names it: ranks of one read one clock.
  std::string host;

  /// In the order of their starts.
  std::vector<TraceSpan> steps;
  /// Waits inside of compute steps; the cell is the compute step whose input
  /// is waited for, or the UNSHARD.
  std::vector<TraceSpan> waits;
  /// Spans of a device, in the order of their starts.
  std::vector<TraceSpan> device;
  /// In the order of their launches.
  std::vector<KernelSpan> kernels;
  std::vector<MemoryEvent> memory;
};

/// Reads the file at `path`, and decompresses it when it begins as gzip does.
/// Reports a file that cannot be read, that is damaged, or that is too large
/// in the end.
llvm::FailureOr<std::unique_ptr<llvm::MemoryBuffer>>
openTraceText(llvm::StringRef path, DiagEngine &diags);

/// Reads a trace: the JSON of torch.profiler (one rank) or of a pipec executor
/// (all ranks), plain or compressed by gzip, and adds what every rank recorded
/// to `ranks`. Reports a file that cannot be read and, at its place, what is
/// not JSON or has values that no trace has; warns of spans that are called
/// like steps and are none. The text is not kept. Linear.
llvm::LogicalResult readTrace(llvm::StringRef path, TraceCells &cells,
                              std::vector<RankTrace> &ranks, DiagEngine &diags);

/// The same for a text that was read from `path`.
llvm::LogicalResult readTrace(llvm::StringRef path,
                              std::unique_ptr<llvm::MemoryBuffer> text,
                              TraceCells &cells, std::vector<RankTrace> &ranks,
                              DiagEngine &diags);

} // namespace pipec
