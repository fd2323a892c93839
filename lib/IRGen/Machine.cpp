//===- Machine.cpp - Interpreter of the flat form -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "IRGen/Machine.h"

#include "Support/Diagnostics/LoweringDiags.h"

#include "llvm/ADT/STLExtras.h"

#include <limits>

using namespace llvm;

namespace pipec {

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

std::optional<int64_t> Machine::evaluate(Segment segment) {
  if (failed(run(segment.entry)))
    return std::nullopt;
  return slots[segment.result];
}

std::optional<int64_t> Machine::call(const ast::FnDecl *fn,
                                     ArrayRef<int64_t> args) {
  for (auto [argument, value] : zip_equal(fn->args, args))
    slots[argument.variable->id] = value;
  returns.assign(1, 0); // instruction 0 halts
  if (failed(run(code.fnEntries[fn->id])))
    return std::nullopt;
  return slots[code.fnResults[fn->id]];
}

std::optional<int64_t> Machine::stage(int64_t chunk, SMRange range) {
  if (chunk >= 0 && chunk < int64_t(builder->numChunks()))
    return builder->stageOf(chunk);
  (void)diags.report(range, diag::ChunkOutOfRange, chunk, builder->numChunks());
  return std::nullopt;
}

LogicalResult Machine::runRank(uint32_t entry, unsigned rank,
                               StepBuilder &into) {
  builder = &into;
  currentRank = rank;
  return run(entry);
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

/// The cost of a slot for --max-steps, in addition to its steps.
static constexpr uint64_t slotCost = 3;

/// True if both are in 0..2^32, which allows a fast division.
static bool areSmall(int64_t a, int64_t b) {
  return (uint64_t(a | b) >> 32) == 0;
}

/// Marks an empty entry. A result that equals it is computed again.
static constexpr int64_t notRemembered = std::numeric_limits<int64_t>::min();
/// Results for arguments from 0 to this value are cached.
static constexpr int64_t maxRemembered = 1 << 20;
/// The maximum number of entries of all functions, which bounds the memory
/// independent of the number of functions.
static constexpr size_t maxPlaces = size_t(1) << 24;

void Machine::remember(std::vector<int64_t> &results, int64_t argument,
                       int64_t result) {
  if (argument < 0 || argument >= maxRemembered)
    return;
  if (size_t(argument) >= results.size()) {
    size_t size = std::max(2 * results.size(), size_t(argument) + 1);
    size_t more = size - results.size();
    if (more > maxPlaces - places)
      return;
    places += more;
    results.resize(size, notRemembered);
  }
  results[argument] = result;
}

LogicalResult Machine::run(uint32_t entry) {
  const Instruction *program = code.instructions.data();
  int64_t *s = slots.data();
  uint32_t pc = entry;
  auto operand = [&](uint32_t slot) -> std::optional<int64_t> {
    return slot == noSlot ? std::nullopt : std::optional(s[slot]);
  };
  auto outOfFuel = [&](uint32_t at) {
    return fail(at, diag::TooManySteps, maxSteps);
  };

  for (;;) {
    const Instruction &in = program[pc];
    switch (in.op) {
    case Op::Move:
      s[in.a] = s[in.b];
      break;
    case Op::Neg:
      if (__builtin_sub_overflow(int64_t(0), s[in.b], &s[in.a]))
        return overflow(pc);
      break;
    case Op::Not:
      s[in.a] = s[in.b] == 0;
      break;
    case Op::Bool:
      s[in.a] = s[in.b] != 0;
      break;
    case Op::Add:
      if (__builtin_add_overflow(s[in.b], s[in.c], &s[in.a]))
        return overflow(pc);
      break;
    case Op::Sub:
      if (__builtin_sub_overflow(s[in.b], s[in.c], &s[in.a]))
        return overflow(pc);
      break;
    case Op::Mul:
      if (__builtin_mul_overflow(s[in.b], s[in.c], &s[in.a]))
        return overflow(pc);
      break;
    case Op::Div:
    case Op::Mod:
    case Op::CeilDiv: {
      int64_t a = s[in.b];
      int64_t b = s[in.c];
      if (b == 0)
        return fail(pc, diag::DivisionByZero);
      if (areSmall(a, b)) {
        uint32_t quotient = uint32_t(a) / uint32_t(b);
        uint32_t rest = uint32_t(a) - quotient * uint32_t(b);
        s[in.a] = in.op == Op::Mod   ? rest
                  : in.op == Op::Div ? quotient
                                     : int64_t(quotient) + (rest != 0);
        break;
      }
      if (a == std::numeric_limits<int64_t>::min() && b == -1) {
        if (in.op != Op::Mod)
          return overflow(pc);
        s[in.a] = 0;
        break;
      }
      int64_t quotient = a / b;
      int64_t rest = a % b;
      if (in.op == Op::CeilDiv) {
        s[in.a] = quotient + (rest != 0 && (rest < 0) == (b < 0));
        break;
      }
      bool down = rest != 0 && (rest < 0) != (b < 0);
      s[in.a] = in.op == Op::Div ? quotient - down : rest + (down ? b : 0);
      break;
    }
    case Op::EQ:
      s[in.a] = s[in.b] == s[in.c];
      break;
    case Op::NE:
      s[in.a] = s[in.b] != s[in.c];
      break;
    case Op::LT:
      s[in.a] = s[in.b] < s[in.c];
      break;
    case Op::LE:
      s[in.a] = s[in.b] <= s[in.c];
      break;
    case Op::Min:
      s[in.a] = std::min(s[in.b], s[in.c]);
      break;
    case Op::Max:
      s[in.a] = std::max(s[in.b], s[in.c]);
      break;
    case Op::Abs:
      if (s[in.b] >= 0)
        s[in.a] = s[in.b];
      else if (__builtin_sub_overflow(int64_t(0), s[in.b], &s[in.a]))
        return overflow(pc);
      break;
    case Op::Stage:
      if (s[in.b] < 0 || s[in.b] >= int64_t(builder->numChunks()))
        return fail(pc, diag::ChunkOutOfRange, s[in.b], builder->numChunks());
      s[in.a] = builder->stageOf(s[in.b]);
      break;

    case Op::Jump:
      pc = in.c;
      continue;
    case Op::JumpIfZero:
      if (s[in.b] == 0) {
        pc = in.c;
        continue;
      }
      break;
    case Op::JumpIfNotZero:
      if (s[in.b] != 0) {
        pc = in.c;
        continue;
      }
      break;
    case Op::ForEnter:
      if (s[in.a] >= s[in.b]) {
        pc = in.c;
        continue;
      }
      break;
    case Op::ForNext:
      if (fuel-- == 0)
        return outOfFuel(pc);
      if (++s[in.a] < s[in.b]) {
        pc = in.c;
        continue;
      }
      break;
    case Op::ForEnterReverse:
      if (s[in.a] <= s[in.b]) {
        pc = in.c;
        continue;
      }
      --s[in.a];
      break;
    case Op::ForNextReverse:
      if (fuel-- == 0)
        return outOfFuel(pc);
      if (s[in.a] > s[in.b]) {
        --s[in.a];
        pc = in.c;
        continue;
      }
      break;
    case Op::RepeatEnter:
      if (s[in.b] < 0)
        return fail(pc, diag::NegativeRepeat, s[in.b]);
      s[in.a] = s[in.b];
      if (s[in.a] == 0) {
        pc = in.c;
        continue;
      }
      break;
    case Op::RepeatNext:
      if (fuel-- == 0)
        return outOfFuel(pc);
      if (--s[in.a] != 0) {
        pc = in.c;
        continue;
      }
      break;
    case Op::Call:
      if (fuel-- == 0)
        return outOfFuel(pc);
      returns.push_back(pc + 1);
      pc = in.c;
      continue;
    case Op::Recall: {
      const std::vector<int64_t> &results = remembered[in.c];
      uint64_t argument = s[in.b];
      if (argument < results.size() && results[argument] != notRemembered) {
        if (fuel-- == 0)
          return outOfFuel(pc);
        s[in.a] = results[argument];
        pc += 4;
        continue;
      }
      break;
    }
    case Op::Remember:
      s[in.a] = s[code.fnResults[in.c]];
      remember(remembered[in.c], s[in.b], s[in.a]);
      break;
    case Op::Return:
      pc = returns.back();
      returns.pop_back();
      continue;

    case Op::Step: {
      if (fuel-- == 0)
        return outOfFuel(pc);
      // Fast path for the next forward or backward of a chunk of the rank.
      if (in.c == noSlot &&
          builder->addNext(in.letter, in.joined, in.b == noSlot ? 0 : s[in.b],
                           in.b == noSlot, code.locs[pc]))
        break;
      if (auto error =
              builder->add({in.letter, in.joined, operand(in.b), operand(in.c),
                            in.c == noSlot ? std::nullopt : operand(in.a), pc,
                            code.locs[pc]}))
        return fail(*error);
      break;
    }
    case Op::DrainW: {
      uint64_t made = 0;
      if (auto error = builder->drain(operand(in.b), pc, code.locs[pc], made))
        return fail(*error);
      if (made > fuel)
        return outOfFuel(pc);
      fuel -= made;
      break;
    }
    case Op::Idle: {
      int64_t count = operand(in.b).value_or(1);
      if (count < 0)
        return fail(pc, diag::NegativeIdle, count);
      if (uint64_t(count) > fuel)
        return outOfFuel(pc);
      fuel -= count;
      builder->addBubbles(count, code.locs[pc]);
      break;
    }
    case Op::At:
      // Each step in a slot is stored twice until its phase ends.
      if (fuel < slotCost)
        return outOfFuel(pc);
      fuel -= slotCost;
      builder->at(s[in.b]);
      break;
    case Op::Fill:
      builder->fill(code.locs[pc]);
      break;
    case Op::Phase:
      builder->beginPhase(in.a);
      break;
    case Op::EndPhase: {
      uint64_t made = 0;
      if (auto error = builder->endPhase(made))
        return fail(*error);
      if (made > fuel)
        return outOfFuel(pc);
      fuel -= made;
      break;
    }
    case Op::Halt:
      return success();
    }
    ++pc;
  }
}

} // namespace pipec
