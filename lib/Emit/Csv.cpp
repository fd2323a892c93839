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
// There is no cell for a batch or for any other overlap; Target/Targets.def
// lists what is refused. Rows may differ in length, lines end in LF, and a row
// that is a single empty cell is written `""`, as Python's csv module does,
// since a blank line would read as a row without cells.
//
// A list of 25 million steps is normal, so cells are put into a buffer of our
// own, which goes to the stream in large pieces.
//
//===----------------------------------------------------------------------===//

#include "Emit/Emitter.h"
#include "Target/TargetCheck.h"

#include "llvm/ADT/StringExtras.h"

#include <cstring>

using namespace llvm;

namespace pipec {

namespace {

/// A piece of a cell, in memory that is quick to copy: what is too much of a
/// copy of fixed size is overwritten.
template <unsigned Room> struct Piece {
  char text[Room - 1] = {};
  uint8_t size = 0;

  Piece() = default;
  explicit Piece(StringRef from) : size(from.size()) {
    assert(from.size() < Room);
    std::memcpy(text, from.data(), from.size());
  }
  char *copyTo(char *at) const {
    std::memcpy(at, this, Room);
    return at + size;
  }
};

/// Micro-batches from here on are written digit by digit.
constexpr unsigned maxNumbers = 1 << 16;

/// Collects cells in a fixed buffer and hands it on when it is nearly full. The
/// place of the next character is the caller's, in a local variable: a member
/// would be read and written again for every character.
class CellWriter {
public:
  CellWriter(raw_ostream &os, unsigned numStages, unsigned numMicrobatches)
      : os(os) {
    for (unsigned i = 0; i != std::min(maxNumbers, numMicrobatches); ++i)
      numbers.emplace_back(utostr(i));
    for (unsigned stage = 0; stage != numStages; ++stage) {
#define PIPEC_OTHER(Id, Text) heads.emplace_back(",");
#define PIPEC_STEP(Id, Text) heads.emplace_back("," + utostr(stage) + Text);
#include "Cost/Steps.def"
    }
  }

  char *begin() { return buffer; }
  /// Makes room for one cell at `at`. The longest, a pair, takes under 128
  /// bytes.
  char *reserve(char *at) {
    if (at <= buffer + sizeof(buffer) - 128)
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
  /// The cell of a step alone, with a comma before it.
  char *put(char *at, Step step) const {
    at = heads[step.stage() * numKinds + unsigned(step.kind())].copyTo(at);
    if (!hasMicrobatch(step.kind()))
      return at;
    if (step.microbatch() >= numbers.size())
      return put(at, utostr(step.microbatch()));
    return numbers[step.microbatch()].copyTo(at);
  }
  /// The same with another character in place of the comma.
  char *put(char *at, char before, Step step) const {
    char *end = put(at, step);
    *at = before;
    return end;
  }

private:
  static constexpr unsigned numKinds = unsigned(StepKind::Bubble) + 1;

  raw_ostream &os;
  /// By stage and kind: `,3SEND_F`.
  std::vector<Piece<24>> heads;
  std::vector<Piece<8>> numbers;
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

} // namespace

LogicalResult emitCsv(const Schedule &schedule, const EmitOptions &,
                      raw_ostream &os, DiagEngine &diags) {
  if (failed(checkOutput(schedule, Output::Csv, diags)))
    return failure();
  CellWriter out(os, schedule.numStages, schedule.numMicrobatches);
  char *at = out.begin();
  for (const StepList &list : schedule.ranks) {
    for (size_t i = 0, e = list.size(); i != e; ++i) {
      char *cell = at = out.reserve(at);
      bool first = i == 0;
      Step step = list[i];
      if (step.joined()) {
        Step second = list[++i];
        at = out.put(at, ",");
        at = out.put(at, '(', step);
        at = out.put(at, ';', second);
        at = out.put(at, ")");
        at = out.put(at, pairName(step, second));
      } else {
        at = out.put(at, step);
      }
      if (first) // no comma
        at = std::copy(cell + 1, at, cell);
    }
    if (list.size() == 1 && list[0].kind() == StepKind::Bubble)
      at = out.put(at, "\"\"");
    at = out.reserve(at);
    *at++ = '\n';
  }
  out.flush(at);
  return success();
}

} // namespace pipec
