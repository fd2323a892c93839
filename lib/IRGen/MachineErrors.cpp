//===- MachineErrors.cpp - Errors in the flat form ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "IRGen/Machine.h"

#include "Support/Diagnostics/LoweringDiags.h"

using namespace llvm;

namespace pipec {

/// Formats the variables of a scope: `, i = 3, k = 1`.
static std::string valuesText(ArrayRef<const ast::Variable *> variables,
                              ArrayRef<int64_t> slots) {
  std::string text;
  for (const ast::Variable *variable : variables)
    text += ", " + variable->name.str() + " = " +
            std::to_string(slots[variable->id]);
  return text;
}

/// The maximum number of calls with a note; further calls are only counted.
static constexpr unsigned maxCallNotes = 8;

/// Adds notes that explain how execution reached instruction `at`: the loops
/// around it, the chain of calls with the loops around each, and the rank.
void Machine::addNotes(InFlightDiagnostic &diagnostic, uint32_t at) {
  unsigned calls = 0;
  auto noteRest = [&](SMRange outermost) {
    if (calls > maxCallNotes)
      diagnostic.note(outermost, diag::NoteMoreCalls, calls - maxCallNotes);
  };
  for (size_t depth = returns.size();; --depth) {
    // The loops of this level, outermost first; the note points at the
    // innermost.
    SmallVector<const ast::Variable *, 4> loops;
    const DebugScope *innermost = nullptr;
    const DebugScope *root = nullptr;
    for (uint32_t id = code.scopes[at]; id != noSlot;
         id = code.debugScopes[id].parent) {
      root = &code.debugScopes[id];
      if (!innermost)
        innermost = root;
      loops.insert(loops.begin(), root->variables.begin(),
                   root->variables.end());
    }
    std::string values = valuesText(loops, slots);
    bool called = root && (root->kind == DebugScope::Kind::Fn ||
                           root->kind == DebugScope::Kind::Pattern);
    if (called && depth != 0) {
      uint32_t caller = returns[depth - 1] - 1;
      if (caller == uint32_t(-1)) // called from an expectation
        return noteRest(code.ranges[at]);
      if (++calls <= maxCallNotes)
        diagnostic.note(code.ranges[caller], diag::NoteCalledFrom, root->name,
                        values);
      at = caller;
      continue;
    }
    noteRest(code.ranges[at]);
    if (currentRank)
      diagnostic.note(innermost ? DiagLoc(innermost->range.Start) : DiagLoc(),
                      diag::NoteWhileLowering, *currentRank, values);
    return;
  }
}

LogicalResult Machine::overflow(uint32_t at) {
  return fail(at, diag::ArithmeticOverflow,
              ast::sourceText(code.ranges[at]).take_front(60));
}

LogicalResult Machine::fail(const StepError &error) {
  StringRef letter = ast::letterName(error.letter);
  switch (error.kind) {
  case StepError::Kind::AmbiguousChunk:
    return fail(error.instruction, diag::AmbiguousChunk, letter, error.high);
  case StepError::Kind::ChunkOutOfRange:
    return fail(error.instruction, diag::ChunkOutOfRange, error.value,
                error.high);
  case StepError::Kind::MicrobatchOutOfRange:
    return fail(error.instruction, diag::MicrobatchOutOfRange, letter,
                error.value, error.low, error.high);
  case StepError::Kind::SliceMissing:
    return fail(error.instruction, diag::SliceMissing, letter, error.low,
                error.value);
  case StepError::Kind::SliceUnexpected:
    return fail(error.instruction, diag::SliceUnexpected, letter);
  case StepError::Kind::SliceOutOfRange:
    return fail(error.instruction, diag::SliceOutOfRange, letter, error.value,
                error.high);
  case StepError::Kind::TooMany:
    return fail(error.instruction, diag::TooManyOfLetter, letter, error.value,
                error.high, error.low ? "units" : "micro-batches");
  case StepError::Kind::NothingOwed:
    return fail(error.instruction, diag::NothingOwed);
  case StepError::Kind::NoForward:
    return fail(error.instruction, diag::NothingForStep, letter,
                "`F` of its chunk before it");
  case StepError::Kind::NoBackward:
    return fail(error.instruction, diag::NothingForStep, letter,
                "backward of its chunk after it");
  case StepError::Kind::NoOffload:
    return fail(error.instruction, diag::NothingForStep, letter,
                "`OFFLOAD` of its chunk without a wait before it");
  case StepError::Kind::SlotTaken: {
    InFlightDiagnostic diagnostic = diags.report(code.ranges[error.instruction],
                                                 diag::SlotTaken, error.value);
    diagnostic.note(code.ranges[error.other], diag::NoteFirstInSlot);
    addNotes(diagnostic, error.instruction);
    return failure();
  }
  }
  llvm_unreachable("all errors are reported");
}

} // namespace pipec
