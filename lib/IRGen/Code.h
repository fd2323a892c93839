//===- Code.h - The flat form of a program ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expressions and statements are compiled to a list of instructions over one
// array of 64-bit slots. Every variable, constant and intermediate value has a
// slot of its own during the whole run: functions and patterns cannot recurse,
// so only return addresses need a stack. All operands are slots; the slots
// of constants are set before the run.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "AST/Decl.h"
#include "Support/SourceFiles.h"

#include <cstdint>
#include <vector>

namespace pipec {

/// The operation of an instruction with the operands a, b and c.
enum class Op : uint8_t {
  Move,            // a = b
  Neg,             // a = -b
  Not,             // a = !b
  Bool,            // a = b != 0
  Add,             // a = b + c
  Sub,             // a = b - c
  Mul,             // a = b * c
  Div,             // a = floor(b / c)
  Mod,             // a = b - c * floor(b / c)
  EQ,              // a = b == c
  NE,              // a = b != c
  LT,              // a = b < c
  LE,              // a = b <= c
  Min,             // a = min(b, c)
  Max,             // a = max(b, c)
  Abs,             // a = |b|
  CeilDiv,         // a = ceil(b / c)
  Stage,           // a = stage of this rank's chunk b
  Jump,            // continue at c
  JumpIfZero,      // continue at c if b is 0
  JumpIfNotZero,   // continue at c if b is not 0
  ForEnter,        // continue at c unless a < b
  ForNext,         // ++a, continue at c if a < b
  ForEnterReverse, // continue at c unless a > b, --a
  ForNextReverse,  // if a > b: --a, continue at c
  RepeatEnter, // a = b remaining iterations, continue at c if there are none
  RepeatNext,  // --a, continue at c while iterations remain
  Call,        // push the return address, continue at c
  Recall,      // if the result of fn c for b is known: a = it, skip 3
  Remember,    // a = result of fn c, store it for b
  Return,      // pop the return address and continue there
  Step,        // letter of chunk b, micro-batch c, slice a (or none)
  DrainW,      // all pending Ws, of chunk b (or none)
  Idle,        // b bubbles (one if none)
  At,          // the following steps go to slot b
  Fill,        // pending Ws fill the free slots of this phase
  Phase,       // phase number a begins
  EndPhase,    // the phase ends; the steps of a timed one are sorted
  Halt,
};

/// A missing operand of a step.
inline constexpr uint32_t noSlot = ~0u;

struct Instruction {
  Op op;
  ast::Letter letter = ast::Letter::F; // Step
  bool joined = false;                 // Step: runs with the next one
  uint32_t a = 0;
  uint32_t b = 0;
  uint32_t c = 0;
};

/// A scope around an instruction, for the notes of an error.
struct DebugScope {
  enum class Kind : uint8_t { Phase, Loop, Fn, Pattern };
  Kind kind;
  uint32_t parent; // noSlot at the root
  /// The range that the note points at: the loop or the phase.
  llvm::SMRange range;
  llvm::StringRef name;
  /// The variables that this scope defines.
  llvm::SmallVector<const ast::Variable *, 2> variables;
};

/// The instructions of one schedule.
struct Code {
  std::vector<Instruction> instructions;
  /// The source range and the scope of each instruction.
  std::vector<llvm::SMRange> ranges;
  std::vector<uint32_t> scopes;
  std::vector<DebugScope> debugScopes;
  /// The four-byte form of `ranges`, for the steps created there.
  std::vector<SourceLoc> locs;
  /// Initial values of all slots: constants, and 0.
  std::vector<int64_t> slots;
  /// The start of the body of each function and pattern, by id. A function
  /// leaves its result in its slot.
  std::vector<uint32_t> fnEntries;
  std::vector<uint32_t> fnResults;
  /// True for functions whose result depends only on their single argument. All
  /// ranks call them with the same values, so their results are cached.
  std::vector<bool> fnIsPure;
  std::vector<uint32_t> patternEntries;
};

/// Code that computes one value and halts.
struct Segment {
  uint32_t entry;
  uint32_t result; // slot
};

} // namespace pipec
