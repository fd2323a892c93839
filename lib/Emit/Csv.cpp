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

#include "Emit/Common.h"
#include "Emit/Emitter.h"

#include "llvm/ADT/StringExtras.h"

#include <cstring>

using namespace llvm;

namespace pipec {

namespace {

/// The name of a kind, in a piece of memory that is quick to copy.
struct KindText {
  char text[15];
  uint8_t size;
};

constexpr KindText kindTexts[] = {
#define PIPEC_STEP(Id, Text) {Text, sizeof(Text) - 1},
#include "IR/Steps.def"
};

/// The digits of a number below `maxNumbers`.
struct NumberText {
  char text[7] = {};
  uint8_t size = 0;
};
constexpr unsigned maxNumbers = 1 << 16;

/// Collects cells in a fixed buffer and hands it on when it is nearly full. The
/// place of the next character is the caller's, in a local variable: a member
/// would be read and written again for every character.
class CellWriter {
public:
  CellWriter(raw_ostream &os, unsigned numNumbers) : os(os) {
    numbers.resize(numNumbers);
    for (unsigned i = 0; i != numNumbers; ++i) {
      std::string text = utostr(i);
      std::memcpy(numbers[i].text, text.data(), text.size());
      numbers[i].size = text.size();
    }
  }

  char *begin() { return buffer; }
  /// Makes room for one cell at `at`. The longest, a pair, takes under 64
  /// bytes.
  char *reserve(char *at) {
    if (at <= buffer + sizeof(buffer) - 64)
      return at;
    return flush(at);
  }
  /// Hands on what lies before `at`.
  char *flush(char *at) {
    os.write(buffer, at - buffer);
    return buffer;
  }

  char *put(char *at, StringRef text) const {
    std::memcpy(at, text.data(), text.size());
    return at + text.size();
  }
  char *put(char *at, unsigned value) const {
    if (value >= numbers.size())
      return put(at, utostr(value));
    // A copy of fixed size is one move; what is too much is overwritten.
    std::memcpy(at, &numbers[value], sizeof(NumberText));
    return at + numbers[value].size;
  }
  char *put(char *at, Step step) const {
    at = put(at, step.stage());
    const KindText &kind = kindTexts[unsigned(step.kind())];
    std::memcpy(at, &kind, sizeof(KindText));
    at += kind.size;
    return hasMicrobatch(step.kind()) ? put(at, step.microbatch()) : at;
  }

private:
  raw_ostream &os;
  std::vector<NumberText> numbers;
  char buffer[1 << 16];
};

/// The name of the overlap of exactly two steps, empty when there is none.
StringRef pairName(Step first, Step second) {
  if (first.kind() == StepKind::F && second.kind() == StepKind::B)
    return "OVERLAP_F_B";
  if (first.kind() == StepKind::B && second.kind() == StepKind::F)
    return "OVERLAP_B_F";
  return {};
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
                              overlapText(schedule, group));
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
  // A cell takes two numbers, and there are few different ones.
  CellWriter out(os, std::min(maxNumbers, std::max(schedule.numStages,
                                                   schedule.numMicrobatches)));
  char *at = out.begin();
  for (const StepList &list : schedule.ranks) {
    for (size_t i = 0, e = list.size(); i != e; ++i) {
      at = out.reserve(at);
      if (i != 0)
        *at++ = ',';
      Step step = list[i];
      if (step.joined()) {
        Step second = list[++i];
        *at++ = '(';
        at = out.put(at, step);
        *at++ = ';';
        at = out.put(at, second);
        *at++ = ')';
        at = out.put(at, pairName(step, second));
      } else if (step.kind() != StepKind::Bubble) {
        at = out.put(at, step);
      } else if (e == 1) {
        at = out.put(at, StringRef("\"\""));
      }
    }
    at = out.reserve(at);
    *at++ = '\n';
  }
  out.flush(at);
  return success();
}

} // namespace pipec
