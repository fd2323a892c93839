//===- Code.h - The flat form of a program ----------------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Expressions and statements are compiled to a list of instructions over one
// array of 64-bit slots. Every variable, constant and intermediate value has a
// slot of its own for the whole run: functions and patterns cannot recurse, so
// nothing needs a stack but the return addresses. An operand is always a slot;
// constants lie in slots that are set before the run.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_IRGEN_CODE_H
#define PIPEC_IRGEN_CODE_H

#include "AST/Decl.h"
#include "Support/SourceFiles.h"

#include <cstdint>
#include <vector>

namespace pipec {

/// What an instruction does; a, b and c are its operands.
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
  Jump,            // go to c
  JumpIfZero,      // go to c when b is 0
  JumpIfNotZero,   // go to c when b is not 0
  ForEnter,        // go to c unless a < b
  ForNext,         // ++a, go to c when a < b
  ForEnterReverse, // go to c unless a > b, --a
  ForNextReverse,  // when a > b: --a, go to c
  RepeatEnter,     // a = b rounds to go, go to c when there is none
  RepeatNext,      // --a, go to c while there are rounds to go
  Call,            // push the return address, go to c
  Recall,          // a = result of fn c for b and skip 3, if it is remembered
  Remember,        // a = result of fn c; remember it for b
  Return,          // pop it
  Step,            // letter of chunk b (or none), micro-batch c (or none)
  DrainW,          // every owed W, of chunk b (or none)
  Idle,            // b bubbles (one when none)
  At,              // the steps that follow go to slot b
  Fill,            // free slots of this phase take owed Ws
  Phase,           // phase number a begins
  EndPhase,        // the phase ends; a timed one is put in order
  Halt,
};

/// "No operand" of a step.
inline constexpr uint32_t noSlot = ~0u;

struct Instruction {
  Op op;
  ast::Letter letter = ast::Letter::F; // Step
  bool joined = false;                 // Step: runs with the next one
  uint32_t a = 0;
  uint32_t b = 0;
  uint32_t c = 0;
};

/// One level of what surrounds an instruction, for the notes of an error.
struct DebugScope {
  enum class Kind : uint8_t { Phase, Loop, Fn, Pattern };
  Kind kind;
  uint32_t parent; // noSlot at the root
  /// Where the note points: the loop, the phase.
  llvm::SMRange range;
  llvm::StringRef name;
  /// The variables that this level brings.
  llvm::SmallVector<const ast::Variable *, 2> variables;
};

/// The instructions of one schedule.
struct Code {
  std::vector<Instruction> instructions;
  /// For each instruction: what it stands for in the source, and the scope.
  std::vector<llvm::SMRange> ranges;
  std::vector<uint32_t> scopes;
  std::vector<DebugScope> debugScopes;
  /// The four-byte form of `ranges`, for the steps made there.
  std::vector<SourceLoc> locs;
  /// Start values of all slots: constants, and 0.
  std::vector<int64_t> slots;
  /// Of each function and pattern, by id: where its body begins. A function
  /// leaves its result in its slot.
  std::vector<uint32_t> fnEntries;
  std::vector<uint32_t> fnResults;
  /// Functions whose result follows from their only argument for the whole
  /// run: every rank asks for the same values, so they are remembered.
  std::vector<bool> fnIsPure;
  std::vector<uint32_t> patternEntries;
};

/// A piece of code that computes one value and halts.
struct Segment {
  uint32_t entry;
  uint32_t result; // slot
};

} // namespace pipec

#endif // PIPEC_IRGEN_CODE_H
