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
//   R3, U   recomputation for micro-batch 3, an optimizer step
//   .       idle
//
// Transfers, FSDP actions, copies and waits are counted below the table. The
// form with an axis of time is in TimelineTimes.cpp, and also counts computes
// on streams of stages; that with slots is below:
//
//   one_f_one_b: 2 ranks, 2 stages, 3 micro-batches, 8 slots
//
//   rank  0  1  2  3  4  5  6  7
//      0  F0 F1 .  B0 F2 B1 .  B2
//      1  .  F0 B0 F1 B1 F2 B2 .
//
//   not drawn: 12 transfers
//
// Every step fills one slot, whatever its cost: the earliest one that its rank
// and its inputs allow (Simulation/Slots.h). A table wider than the terminal
// continues in further blocks of slots; of a table with more than a million
// cells only the first ones are written, and a line says so.
//
// With --timeline=down, slots are rows and ranks are columns, as in PyTorch's
// `_format_pipeline_order`, and the blocks are of ranks:
//
//           Rank 0  Rank 1
//   Step 0: F0      .
//   Step 1: F1      F0
//
//===----------------------------------------------------------------------===//

#include "Emit/Picture.h"
#include "Simulation/Slots.h"
#include "Support/Diagnostics/EmitDiags.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

#include <numeric>

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
    name << stepLetter(list[i].kind());
    printStepNumber(name, schedule, chunks, rank, list[i]);
    os << (colors ? terminalColor(list[i].kind()) : "") << text
       << (colors ? StringRef(plainColor) : "")
       << (list[i].joined() ? "&" : "");
    width += text.size() + list[i].joined();
  }
  return width;
}

StringRef terminalColor(StepKind kind) {
  // Bright blue, since most terminals show blue too dark to read on black;
  // yellow, green and cyan; magenta and grey for recomputation and optimizer
  // steps. These are distinguishable for most readers, and the letter
  // identifies the kind too.
  static constexpr StringLiteral codes[] = {"\033[94m", "\033[33m", "\033[32m",
                                            "\033[36m", "\033[35m", "\033[90m"};
  return codes[unsigned(kind)];
}

void printNotDrawn(raw_ostream &os, const Schedule &schedule, bool streams) {
  size_t transfers = 0, actions = 0, sums = 0, copies = 0, waits = 0;
  std::vector<size_t> onStream(streams ? schedule.streams.names.size() : 0);
  for (const StepList &list : schedule.ranks)
    for (Step step : list) {
      transfers += isSend(step.kind());
      actions += step.stream() == Stream::Gather;
      sums += step.stream() == Stream::Tied;
      copies += isCopy(step.kind());
      waits += isWait(step.kind());
      if (streams && isCompute(step.kind()))
        if (unsigned stream = schedule.streams.of(step))
          ++onStream[stream - 1];
    }
  size_t onStreams =
      std::accumulate(onStream.begin(), onStream.end(), size_t(0));
  if (transfers + actions + sums + copies + waits + onStreams == 0)
    return;
  os << "\nnot drawn: ";
  ListSeparator comma;
  if (transfers)
    os << comma << countText(transfers, "transfer");
  if (actions)
    os << comma << countText(actions, "FSDP action");
  if (sums)
    os << comma << countText(sums, "tied reduction");
  if (copies)
    os << comma << copies << (copies == 1 ? " copy" : " copies");
  if (waits)
    os << comma << countText(waits, "wait");
  for (auto [name, count] : zip(schedule.streams.names, onStream))
    if (count)
      os << comma << countText(count, "step") << " on stream "
         << terminalText(name);
  os << '\n';
}

//===----------------------------------------------------------------------===//
// Slots
//===----------------------------------------------------------------------===//

namespace {

class SlotPrinter {
public:
  SlotPrinter(const Schedule &schedule, const SlotTable &table,
              const EmitOptions &options, raw_ostream &os)
      : schedule(schedule), table(table), options(options), os(os),
        chunks(schedule) {
    measureCells();
    limit();
  }

  /// The part that is shown: `slots 0 to 255 of 300, ...`; empty if it is
  /// everything.
  const std::string &part() const { return thePart; }

  void print() {
    printTitle();
    if (options.timelineDown)
      printDown();
    else
      printAcross();
    if (!thePart.empty())
      os << "\nshown: " << thePart << '\n';
    printNotDrawn(os, schedule, /*streams=*/false);
  }

private:
  void printAcross() {
    unsigned perBlock = perBlockOf(numSlots, timelineHead, cellWidth);
    std::vector<size_t> positions(schedule.numRanks, 0);
    for (unsigned from = 0; from < numSlots; from += perBlock) {
      unsigned to = std::min<uint64_t>(uint64_t(from) + perBlock, numSlots);
      os << '\n';
      printRuler(from, to);
      for (unsigned rank = 0; rank != numRanks; ++rank)
        printRank(rank, from, to, positions[rank]);
    }
  }
  void printDown();
  void measureCells();
  void limit();
  void printTitle();
  void printRuler(unsigned from, unsigned to);
  void printRank(unsigned rank, unsigned from, unsigned to, size_t &position);
  unsigned printCell(unsigned rank, unsigned slot, size_t &position);

  /// How many of `all` columns fit into the width after the first `head`
  /// characters of a line.
  unsigned perBlockOf(unsigned all, unsigned head, unsigned column) const {
    all = std::max(all, 1u);
    if (options.width == 0)
      return all;
    if (options.width <= head + column)
      return 1;
    return std::min(all, (options.width - head) / column);
  }
  const Schedule &schedule;
  const SlotTable &table;
  const EmitOptions &options;
  raw_ostream &os;
  ChunkNames chunks;
  unsigned cellWidth = 0;
  /// The numbers of ranks and slots that are shown.
  unsigned numRanks = 0, numSlots = 0;
  std::string thePart;
};

void SlotPrinter::limit() {
  numRanks = std::min(schedule.numRanks, timelineRanks);
  numSlots = std::min<uint64_t>(table.numSlots, timelineCells / numRanks);
  raw_string_ostream text(thePart);
  ListSeparator comma;
  if (numSlots != table.numSlots)
    text << comma << "slots 0 to " << numSlots - 1 << " of " << table.numSlots;
  if (numRanks != schedule.numRanks)
    text << comma << "ranks 0 to " << numRanks - 1 << " of "
         << schedule.numRanks;
}

void SlotPrinter::measureCells() {
  size_t widest = std::to_string(table.numSlots).size();
  for (auto [rank, list] : enumerate(schedule.ranks))
    for (size_t i = 0; i != list.size(); i = Schedule::groupEnd(list, i))
      if (isCompute(list[i].kind()))
        widest = std::max(
            widest, printTimelineGroup(nulls(), schedule, chunks, rank, i));
  cellWidth = widest + 1;
}

void SlotPrinter::printTitle() {
  os << terminalText(schedule.name) << ": " << sizesText(schedule) << ", "
     << countText(table.numSlots, "slot") << '\n';
}

void SlotPrinter::printRuler(unsigned from, unsigned to) {
  os << "rank  ";
  for (unsigned slot = from; slot != to; ++slot)
    os << left_justify(std::to_string(slot), slot + 1 == to ? 0 : cellWidth);
  os << '\n';
}

/// Prints what `rank` does in `slot`, and returns the number of characters.
/// `position` is a place in its list that is not later.
unsigned SlotPrinter::printCell(unsigned rank, unsigned slot,
                                size_t &position) {
  const StepList &list = schedule.ranks[rank];
  while (position != list.size() && !isCompute(list[position].kind()))
    ++position;
  if (position == list.size() || table.slots[rank][position] != slot) {
    os << '.';
    return 1;
  }
  size_t begin = std::exchange(position, Schedule::groupEnd(list, position));
  return printTimelineGroup(os, schedule, chunks, rank, begin, options.colors);
}

void SlotPrinter::printRank(unsigned rank, unsigned from, unsigned to,
                            size_t &position) {
  os << format("%4u  ", rank);
  for (unsigned slot = from; slot != to; ++slot) {
    unsigned width = printCell(rank, slot, position);
    if (slot + 1 != to)
      os.indent(cellWidth - width);
  }
  os << '\n';
}

void SlotPrinter::printDown() {
  unsigned digits = std::to_string(std::max(numSlots, 1u) - 1).size();
  std::string lastRank = "Rank " + std::to_string(numRanks - 1);
  unsigned head = digits + strlen("Step : ");
  unsigned column = std::max<unsigned>(cellWidth, lastRank.size() + 1);
  unsigned perBlock = perBlockOf(numRanks, head, column);
  std::vector<size_t> positions(numRanks, 0);
  for (unsigned from = 0; from < numRanks; from += perBlock) {
    unsigned to = std::min(from + perBlock, numRanks);
    os << '\n';
    os.indent(head);
    for (unsigned rank = from; rank != to; ++rank)
      os << left_justify("Rank " + std::to_string(rank),
                         rank + 1 == to ? 0 : column);
    os << '\n';
    for (unsigned slot = 0; slot != numSlots; ++slot) {
      os << format("Step %0*u: ", int(digits), slot);
      for (unsigned rank = from; rank != to; ++rank) {
        unsigned width = printCell(rank, slot, positions[rank]);
        if (rank + 1 != to)
          os.indent(column - width);
      }
      os << '\n';
    }
  }
}

/// Reports where every rank of an order that cannot run has stopped.
LogicalResult reportBlocked(const Schedule &schedule, const SlotTable &table,
                            DiagEngine &diags) {
  std::optional<InFlightDiagnostic> report;
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
    const StepList &list = schedule.ranks[rank];
    if (table.stoppedAt[rank] == list.size())
      continue;
    Step head = list[table.stoppedAt[rank]];
    std::string text = stepText(schedule, head);
    if (!report)
      report.emplace(
          diags.report(head.source(), diag::TimelineBlocked, rank, text));
    else
      report->note(head.source(), diag::NoteAlsoBlocked, rank, text);
  }
  return failure();
}

} // namespace

static LogicalResult writeSlots(const Schedule &schedule,
                                const EmitOptions &options, raw_ostream &os,
                                DiagEngine &diags) {
  SlotTable table = computeSlots(schedule);
  if (!table.complete(schedule))
    return reportBlocked(schedule, table, diags);
  SlotPrinter printer(schedule, table, options, os);
  if (!printer.part().empty())
    (void)diags.report(DiagLoc(), diag::PictureNotWhole, schedule.name,
                       printer.part());
  printer.print();
  return success();
}

LogicalResult emitTimeline(const Schedule &schedule, const EmitOptions &options,
                           raw_ostream &os, DiagEngine &diags) {
  bool timed = !options.timelineDown && (schedule.costs != CostSettings() ||
                                         options.model || options.window);
  return timed ? writeTimes(schedule, options, os, diags)
               : writeSlots(schedule, options, os, diags);
}

} // namespace pipec
