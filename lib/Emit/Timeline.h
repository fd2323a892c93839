//===- Timeline.h - The two forms of the timeline ---------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_EMIT_TIMELINE_H
#define PIPEC_EMIT_TIMELINE_H

#include "Emit/Picture.h"

namespace pipec {

/// Columns before every row: the rank and a gap.
inline constexpr unsigned timelineHead = 6;

/// What a table shows at most; beyond that nobody reads it. A cell is the place
/// of a step in the one form, a character in the other.
inline constexpr unsigned timelineRanks = 4096;
inline constexpr uint64_t timelineCells = uint64_t(1) << 20;
inline constexpr uint64_t timelineCharacters = uint64_t(1) << 23;

/// Writes a table in which every step takes one slot (TimelineSlots.cpp).
llvm::LogicalResult writeSlots(const Schedule &schedule,
                               const EmitOptions &options,
                               llvm::raw_ostream &os, DiagEngine &diags);

/// Writes the schedule on an axis of time (TimelineTimes.cpp).
llvm::LogicalResult writeTimes(const Schedule &schedule,
                               const EmitOptions &options,
                               llvm::raw_ostream &os, DiagEngine &diags);

/// Writes a compute step as `F3`, or `F3a` where ranks hold several chunks.
void printTimelineStep(llvm::raw_ostream &os, const Schedule &schedule,
                       const ChunkNames &chunks, Step step);

/// Begins and ends the colour of a compute kind on a terminal.
llvm::StringRef terminalColor(StepKind kind);
inline constexpr llvm::StringLiteral plainColor = "\033[0m";

/// Writes how many transfers, FSDP actions and waits stand in no row.
void printNotDrawn(llvm::raw_ostream &os, const Schedule &schedule);

} // namespace pipec

#endif // PIPEC_EMIT_TIMELINE_H
