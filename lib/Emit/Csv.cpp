//===- Csv.cpp - --emit=csv: PyTorch's schedule CSV -----------------------===//
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
// A list of 25 million steps is normal, so the pieces of a cell are made once
// and copied into a buffer.
//
//===----------------------------------------------------------------------===//

#include "Emit/Emitter.h"
#include "Support/TextBuffer.h"
#include "Target/TargetCheck.h"

#include "llvm/ADT/StringExtras.h"

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

/// The longest cell, a pair, takes less.
constexpr size_t longestCell = 128;

/// The texts of cells. Each function writes at a place with room for a cell and
/// returns the place after it.
class CellTexts {
public:
  CellTexts(unsigned numStages, unsigned numMicrobatches) {
    for (unsigned i = 0; i != std::min(maxNumbers, numMicrobatches); ++i)
      numbers.emplace_back(utostr(i));
    for (unsigned stage = 0; stage != numStages; ++stage) {
#define PIPEC_OTHER(Id, Text) heads.emplace_back(",");
#define PIPEC_STEP(Id, Text) heads.emplace_back("," + utostr(stage) + Text);
#include "Cost/Steps.def"
    }
  }

  char *put(char *at, StringRef text) const {
    std::memcpy(at, text.data(), text.size());
    return at + text.size();
  }
  /// The cell of a step alone, with a comma before it.
  char *put(char *at, Step step) const {
    at = heads[step.stage() * numStepKinds + unsigned(step.kind())].copyTo(at);
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
  /// By stage and kind: `,3SEND_F`.
  std::vector<Piece<24>> heads;
  std::vector<Piece<8>> numbers;
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
  CellTexts cells(schedule.numStages, schedule.numMicrobatches);
  TextBuffer out(os);
  for (const StepList &list : schedule.ranks) {
    for (size_t i = 0, e = list.size(); i != e; ++i) {
      char *const cell = out.reserve(longestCell);
      char *at;
      bool first = i == 0;
      Step step = list[i];
      if (step.joined()) {
        Step second = list[++i];
        at = cells.put(cell, ",");
        at = cells.put(at, '(', step);
        at = cells.put(at, ';', second);
        at = cells.put(at, ")");
        at = cells.put(at, pairName(step, second));
      } else {
        at = cells.put(cell, step);
      }
      if (first) // no comma
        at = std::copy(cell + 1, at, cell);
      out.commit(at);
    }
    if (list.size() == 1 && list[0].kind() == StepKind::Bubble)
      out.text("\"\"");
    out.text("\n");
  }
  return success();
}

} // namespace pipec
