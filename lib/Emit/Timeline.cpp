//===- Timeline.cpp - --emit=timeline: ranks and time on a terminal -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Without costs, each step fills one slot, as in the figures of papers; costs,
// or a communication model, change this to an axis of time. Both forms use the
// same names of steps:
//
//   F3      forward of micro-batch 3; B full backward, I its input half, W its
//           weight half
//   F3a     on a rank with several stages: a is the first of them in the
//           order of the model, b the second, ...
//   F3&B1   an overlap, members in issue order
//   .       idle
//
// Transfers, FSDP actions and waits are counted below the table.
// --timeline=down has slots as rows, whatever the costs.
//
//===----------------------------------------------------------------------===//

#include "Emit/Timeline.h"

#include "Support/Words.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec {

size_t printTimelineGroup(raw_ostream &os, const Schedule &schedule,
                          const ChunkNames &chunks, unsigned rank, size_t begin,
                          bool colors) {
  const StepList &list = schedule.ranks[rank];
  size_t width = 0;
  SmallString<16> text;
  for (size_t i = begin, end = Schedule::groupEnd(list, i); i != end; ++i) {
    text.clear();
    raw_svector_ostream name(text);
    name << stepKindName(list[i].kind()) << list[i].microbatch();
    chunks.print(chunks.of(schedule, list[i]), name);
    os << (colors ? terminalColor(list[i].kind()) : "") << text
       << (colors ? StringRef(plainColor) : "")
       << (list[i].joined() ? "&" : "");
    width += text.size() + list[i].joined();
  }
  return width;
}

StringRef terminalColor(StepKind kind) {
  // Bright blue, since most terminals show blue too dark to read on black;
  // yellow, green and cyan. These are distinguishable for most readers, and the
  // letter identifies the kind too.
  static constexpr StringLiteral codes[] = {"\033[94m", "\033[33m", "\033[32m",
                                            "\033[36m"};
  return codes[unsigned(kind)];
}

void printNotDrawn(raw_ostream &os, const Schedule &schedule) {
  size_t transfers = 0, actions = 0, sums = 0, waits = 0;
  for (const StepList &list : schedule.ranks)
    for (Step step : list) {
      transfers += isSend(step.kind());
      actions += isFsdp(step.kind());
      sums += isTied(step.kind());
      waits += isWait(step.kind());
    }
  if (transfers + actions + sums + waits == 0)
    return;
  os << "\nnot drawn: ";
  ListSeparator comma;
  if (transfers)
    os << comma << countText(transfers, "transfer");
  if (actions)
    os << comma << countText(actions, "FSDP action");
  if (sums)
    os << comma << countText(sums, "tied reduction");
  if (waits)
    os << comma << countText(waits, "wait");
  os << '\n';
}

LogicalResult emitTimeline(const Schedule &schedule, const EmitOptions &options,
                           raw_ostream &os, DiagEngine &diags) {
  bool timed = !options.timelineDown && (schedule.costs != CostSettings() ||
                                         options.model || options.window);
  return timed ? writeTimes(schedule, options, os, diags)
               : writeSlots(schedule, options, os, diags);
}

} // namespace pipec
