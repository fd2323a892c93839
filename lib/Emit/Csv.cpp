//===- Csv.cpp - --emit=csv: PyTorch's schedule CSV -----*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The two formats of torch.distributed.pipelining: `compute_only` holds
// computes, pairs and empty cells; `compute_comms` holds transfers and FSDP
// actions too. Which of the two comes out follows from the steps: they are
// written as they stand, one row a rank, one cell a step, and nothing is
// added, dropped or moved.
//
//   step                        cell
//   F s0 m7                     0F7
//   SEND_F s0 m7                0SEND_F7
//   UNSHARD s2                  2UNSHARD
//   overlap F s0 m7 & B s7 m3   (0F7;7B3)OVERLAP_F_B
//   overlap B s7 m3 & F s0 m7   (7B3;0F7)OVERLAP_B_F
//   bubble                      (empty)
//
// There is no cell for a batch or for any other overlap: both are refused.
// Rows may differ in length, lines end in LF, and a row that is a single empty
// cell is written `""`, as Python's csv module does, since a blank line would
// read as a row without cells.
//
// A list of 25 million steps is normal, so cells are put into a buffer of our
// own, which goes to the stream in large pieces.
//
//===----------------------------------------------------------------------===//

#include "Emit/Emitter.h"

#include <cstring>

using namespace llvm;

namespace pipec {

namespace {

/// Collects text in a fixed buffer and hands it on when it is nearly full.
class CellWriter {
public:
  explicit CellWriter(raw_ostream &os) : os(os) {}
  ~CellWriter() { flush(); }

  /// Makes room for one cell; the calls below do not check. The longest cell,
  /// a pair, takes under 64 bytes.
  void reserve() {
    if (cursor > buffer + sizeof(buffer) - 64)
      flush();
  }
  void put(char c) { *cursor++ = c; }
  void put(StringRef text) {
    std::memcpy(cursor, text.data(), text.size());
    cursor += text.size();
  }
  void put(unsigned value) {
    char digits[10];
    char *begin = digits + sizeof(digits);
    do {
      *--begin = char('0' + value % 10);
      value /= 10;
    } while (value);
    size_t size = digits + sizeof(digits) - begin;
    std::memcpy(cursor, begin, size);
    cursor += size;
  }
  void put(Step step) {
    put(step.stage());
    put(stepKindName(step.kind()));
    if (hasMicrobatch(step.kind()))
      put(step.microbatch());
  }

private:
  void flush() {
    os.write(buffer, cursor - buffer);
    cursor = buffer;
  }

  raw_ostream &os;
  char buffer[1 << 16];
  char *cursor = buffer;
};

/// The name of the overlap of exactly two steps, empty when there is none.
StringRef pairName(Step first, Step second) {
  if (first.kind() == StepKind::F && second.kind() == StepKind::B)
    return "OVERLAP_F_B";
  if (first.kind() == StepKind::B && second.kind() == StepKind::F)
    return "OVERLAP_B_F";
  return {};
}

/// `F s0 m7 & I s3 m2`
std::string groupText(const Schedule &schedule, ArrayRef<Step> group) {
  std::string text;
  for (Step step : group)
    text += (text.empty() ? "" : " & ") + stepText(schedule, step);
  return text;
}

/// Reports every group that has no cell. Looks at joined steps only, so that
/// the common list costs one pass over a bit.
LogicalResult checkGroups(const Schedule &schedule, DiagEngine &diags) {
  LogicalResult result = success();
  for (const StepList &list : schedule.ranks) {
    for (size_t i = 0; i != list.size(); ++i) {
      if (!list[i].joined())
        continue;
      size_t end = Schedule::groupEnd(list, i);
      ArrayRef<Step> group = ArrayRef(list).slice(i, end - i);
      if (isP2P(group.front().kind()))
        result = diags.report(group.front().source(), diag::CsvBatch,
                              group.size(), stepText(schedule, group.front()));
      else if (group.size() != 2 || pairName(group[0], group[1]).empty())
        result = diags.report(group.front().source(), diag::CsvOverlap,
                              groupText(schedule, group));
      if (failed(result) && diags.atErrorLimit())
        return result;
      i = end - 1;
    }
  }
  return result;
}

} // namespace

LogicalResult emitCsv(const Schedule &schedule, const EmitOptions &,
                      raw_ostream &os, DiagEngine &diags) {
  if (failed(checkGroups(schedule, diags)))
    return failure();
  CellWriter out(os);
  for (const StepList &list : schedule.ranks) {
    for (size_t i = 0, e = list.size(); i != e; ++i) {
      out.reserve();
      if (i != 0)
        out.put(',');
      Step step = list[i];
      if (step.joined()) {
        Step second = list[++i];
        out.put('(');
        out.put(step);
        out.put(';');
        out.put(second);
        out.put(')');
        out.put(pairName(step, second));
      } else if (step.kind() != StepKind::Bubble) {
        out.put(step);
      } else if (e == 1) {
        out.put("\"\"");
      }
    }
    out.reserve();
    out.put('\n');
  }
  return success();
}

} // namespace pipec
