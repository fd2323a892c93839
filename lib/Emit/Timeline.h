//===- Timeline.h - The two forms of the timeline ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Emit/Picture.h"

namespace pipec {

/// The columns before every row: the rank and a gap.
inline constexpr unsigned timelineHead = 6;

/// The maximum size of a table. A cell is the place of a step in the form with
/// slots, and a character in the form with times.
inline constexpr unsigned timelineRanks = 4096;
inline constexpr uint64_t timelineCells = uint64_t(1) << 20;
inline constexpr uint64_t timelineCharacters = uint64_t(1) << 23;

/// Writes the schedule on an axis of time (TimelineTimes.cpp).
llvm::LogicalResult writeTimes(const Schedule &schedule,
                               const EmitOptions &options,
                               llvm::raw_ostream &os, DiagEngine &diags);

/// Writes the step or overlap at `begin` of the list of a rank: `F3`, `F3&B1`,
/// `F3a` if ranks hold several chunks. Returns its width, which colors do not
/// change.
size_t printTimelineGroup(llvm::raw_ostream &os, const Schedule &schedule,
                          const ChunkNames &chunks, unsigned rank, size_t begin,
                          bool colors = false);

/// The escape sequence of the color of a compute kind on a terminal.
llvm::StringRef terminalColor(StepKind kind);
inline constexpr llvm::StringLiteral plainColor = "\033[0m";

/// Writes the numbers of transfers, FSDP actions and waits, which have no row.
void printNotDrawn(llvm::raw_ostream &os, const Schedule &schedule);

} // namespace pipec
