//===- Timeline.cpp - --emit=timeline: ranks and slots on a terminal -----*- C++
//-*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   one_f_one_b: 2 ranks, 2 stages, 3 micro-batches, 8 slots
//
//   rank  0  1  2  3  4  5  6  7
//      0  F0 F1 .  B0 F2 B1 .  B2
//      1  .  F0 B0 F1 B1 F2 B2 .
//
//   not drawn: 12 transfers
//
// Every step takes one slot, whatever it costs, and stands in the earliest one
// that its rank and its data allow (Analysis/Slots.h).
//
//   F3      forward of micro-batch 3; B full backward, I its input half, W its
//           weight half
//   F3a     a rank with several stages: a is the first of them on the way
//           through the model, b the second, ...
//   F3&B1   an overlap, members in issue order
//   .       an idle slot
//
// Transfers and FSDP actions take no slot and are counted below the table. A
// table wider than the terminal continues in further blocks of slots.
//
//===----------------------------------------------------------------------===//

#include "Analysis/Slots.h"
#include "Emit/Emitter.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Format.h"

using namespace llvm;

namespace pipec {

namespace {

class TimelinePrinter {
public:
  TimelinePrinter(const Schedule &schedule, const SlotTable &table,
                  const EmitOptions &options, raw_ostream &os)
      : schedule(schedule), table(table), options(options), os(os) {
    numberChunks();
    measureCells();
  }

  void print() {
    printTitle();
    unsigned perBlock = slotsPerBlock();
    std::vector<size_t> positions(schedule.numRanks, 0);
    for (unsigned from = 0; from < table.numSlots; from += perBlock) {
      unsigned to =
          std::min<uint64_t>(uint64_t(from) + perBlock, table.numSlots);
      os << '\n';
      printRuler(from, to);
      for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
        printRank(rank, from, to, positions[rank]);
    }
    printFooter();
  }

private:
  void numberChunks();
  void measureCells();
  void printTitle();
  void printRuler(unsigned from, unsigned to);
  void printRank(unsigned rank, unsigned from, unsigned to, size_t &position);
  void printFooter();
  void printStepName(Step step, raw_ostream &to) const;
  void printColored(Step step);

  /// Columns of the rank number and the gap behind it.
  unsigned headWidth() const { return 6; }
  unsigned slotsPerBlock() const {
    unsigned all = std::max(table.numSlots, 1u);
    if (options.width == 0)
      return all;
    if (options.width <= headWidth() + cellWidth)
      return 1;
    return std::min(all, (options.width - headWidth()) / cellWidth);
  }
  /// The place of the step's stage among those of its rank; nothing when the
  /// rank has one only.
  std::optional<unsigned> chunkOf(Step step) const {
    if (!severalChunks)
      return std::nullopt;
    return chunks[schedule.directionOf(step.microbatch())][step.stage()];
  }

  const Schedule &schedule;
  const SlotTable &table;
  const EmitOptions &options;
  raw_ostream &os;
  bool severalChunks = false;
  /// For each direction and stage its place on its rank.
  std::vector<std::vector<unsigned>> chunks;
  unsigned cellWidth = 0;
};

void TimelinePrinter::numberChunks() {
  std::vector<unsigned> held(schedule.numRanks, 0);
  for (unsigned d = 0; d != schedule.placement.numDirections(); ++d) {
    chunks.emplace_back();
    for (uint32_t rank : schedule.placement.map(d)) {
      severalChunks |= held[rank] > 0;
      chunks[d].push_back(held[rank]++);
    }
  }
}

void TimelinePrinter::printStepName(Step step, raw_ostream &to) const {
  to << stepKindName(step.kind()) << step.microbatch();
  if (std::optional<unsigned> chunk = chunkOf(step)) {
    if (*chunk < 26)
      to << char('a' + *chunk);
    else
      to << '.' << *chunk;
  }
}

void TimelinePrinter::measureCells() {
  size_t widest = std::to_string(table.numSlots).size();
  SmallString<64> text;
  for (const StepList &list : schedule.ranks) {
    for (size_t i = 0; i != list.size();) {
      size_t end = Schedule::groupEnd(list, i);
      text.clear();
      raw_svector_ostream cell(text);
      for (; i != end; ++i)
        if (isCompute(list[i].kind())) {
          printStepName(list[i], cell);
          if (list[i].joined())
            cell << '&';
        }
      widest = std::max(widest, text.size());
    }
  }
  cellWidth = widest + 1;
}

void TimelinePrinter::printTitle() {
  auto count = [&](size_t n, StringRef what, StringRef plural = "s") {
    os << n << ' ' << what << (n == 1 ? "" : plural);
  };
  os << schedule.name << ": ";
  count(schedule.numRanks, "rank");
  os << ", ";
  count(schedule.numStages, "stage");
  os << ", ";
  count(schedule.numMicrobatches, "micro-batch", "es");
  os << ", ";
  count(table.numSlots, "slot");
  os << '\n';
}

void TimelinePrinter::printRuler(unsigned from, unsigned to) {
  os << "rank  ";
  for (unsigned slot = from; slot != to; ++slot)
    os << left_justify(std::to_string(slot), slot + 1 == to ? 0 : cellWidth);
  os << '\n';
}

void TimelinePrinter::printColored(Step step) {
  // Blue, green, cyan and yellow: apart for most eyes, and the letter says it
  // again.
  static constexpr StringLiteral codes[] = {"34", "32", "36", "33"};
  if (options.colors)
    os << "\033[" << codes[unsigned(step.kind())] << 'm';
  printStepName(step, os);
  if (options.colors)
    os << "\033[0m";
}

void TimelinePrinter::printRank(unsigned rank, unsigned from, unsigned to,
                                size_t &position) {
  os << format("%4u  ", rank);
  const StepList &list = schedule.ranks[rank];
  const std::vector<uint32_t> &slots = table.slots[rank];
  SmallString<64> plain;
  for (unsigned slot = from; slot != to; ++slot) {
    while (position != list.size() && !isCompute(list[position].kind()))
      ++position;
    plain.clear();
    if (position == list.size() || slots[position] != slot) {
      plain = ".";
      os << '.';
    } else {
      size_t end = Schedule::groupEnd(list, position);
      raw_svector_ostream cell(plain);
      for (; position != end; ++position) {
        printStepName(list[position], cell);
        printColored(list[position]);
        if (list[position].joined()) {
          cell << '&';
          os << '&';
        }
      }
    }
    if (slot + 1 != to)
      os.indent(cellWidth - plain.size());
  }
  os << '\n';
}

void TimelinePrinter::printFooter() {
  size_t transfers = 0, actions = 0;
  for (const StepList &list : schedule.ranks)
    for (Step step : list) {
      transfers += isSend(step.kind());
      actions += isFsdp(step.kind());
    }
  if (transfers + actions == 0)
    return;
  os << "\nnot drawn: ";
  if (transfers)
    os << transfers << " transfer" << (transfers == 1 ? "" : "s");
  if (transfers && actions)
    os << ", ";
  if (actions)
    os << actions << " FSDP action" << (actions == 1 ? "" : "s");
  os << '\n';
}

/// Says where every rank of an order that cannot run came to a halt.
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

LogicalResult emitTimeline(const Schedule &schedule, const EmitOptions &options,
                           raw_ostream &os, DiagEngine &diags) {
  SlotTable table = computeSlots(schedule);
  if (!table.complete(schedule))
    return reportBlocked(schedule, table, diags);
  TimelinePrinter(schedule, table, options, os).print();
  return success();
}

} // namespace pipec
