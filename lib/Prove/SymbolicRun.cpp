//===- SymbolicRun.cpp - A program for an unknown size --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Prove/SymbolicRun.h"

#include "llvm/ADT/STLExtras.h"

#include <cstdlib>

using namespace llvm;

namespace pipec {

/// The maximum number of instructions of a run.
static constexpr uint64_t maxInstructions = uint64_t(1) << 24;

SymbolicRun::SymbolicRun(const Code &code)
    : code(code), slots(code.slots.begin(), code.slots.end()),
      stale(code.slots.size()) {}

std::optional<Affine> SymbolicRun::evaluate(Segment segment) {
  if (!run(segment.entry))
    return std::nullopt;
  return slots[segment.result];
}

std::optional<Word> SymbolicRun::runRank(uint32_t entry,
                                         ArrayRef<uint32_t> chunkStages) {
  stages = chunkStages;
  word.assign(1, {});
  if (!run(entry))
    return std::nullopt;
  return std::move(word);
}

bool SymbolicRun::fail(uint32_t pc, const char *what) {
  undecidedAt = code.ranges[pc];
  why = what;
  return false;
}

std::optional<bool> SymbolicRun::truth(uint32_t slot) const {
  if (stale[slot])
    return std::nullopt;
  std::optional<bool> zero = domain().equal(slots[slot], 0);
  return zero ? std::optional(!*zero) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Begins the next stage of a loop that has rounds, or the current one. Returns
/// the last instruction of its rounds, or the end of the loop.
uint32_t SymbolicRun::beginRounds(Loop &loop) {
  auto set = [&](Affine rounds) {
    if (loop.variable == noSlot)
      return;
    slots[loop.variable] = {loop.first.a + loop.change * rounds.a,
                            loop.first.b + loop.change * rounds.b,
                            loop.first.c + loop.change * rounds.c};
    stale[loop.variable] = false;
  };
  if (loop.stage == Loop::Stage::Before) {
    loop.left = loop.before;
    set(0);
    if (loop.left != 0)
      return loop.last;
    loop.stage = Loop::Stage::Block;
  }
  if (loop.stage == Loop::Stage::Block) {
    loop.left = loop.inBlock;
    set({loop.before, 0, loop.inBlock});
    word.push_back({true, {}, 0});
    block = true;
    return loop.last;
  }
  loop.left = loop.after;
  set({loop.before, loop.inBlock});
  return loop.left != 0 ? loop.last : loop.end;
}

void SymbolicRun::endBlock() {
  block = false;
  word.push_back({});
  for (size_t slot = 0; slot != slots.size(); ++slot)
    if (slots[slot].c != 0)
      stale[slot] = true;
}

/// The entry of a loop; the first instruction of its first round follows it.
std::optional<uint32_t> SymbolicRun::enter(uint32_t pc) {
  const Instruction &in = code.instructions[pc];
  bool reverse = in.op == Op::ForEnterReverse;
  bool repeat = in.op == Op::RepeatEnter;
  if (stale[in.b] || (!repeat && stale[in.a]))
    return std::nullopt;
  Affine from = repeat ? Affine(0) : slots[in.a], to = slots[in.b];
  std::optional<Affine> rounds = reverse ? sub(from, to) : sub(to, from);
  if (!rounds || rounds->c != 0)
    return std::nullopt;
  if (rounds->b == 0 || domain().less(*rounds, 1) == true) {
    if (rounds->a <= 0 || rounds->b < 0) {
      if (repeat && domain().isNegative(*rounds))
        return std::nullopt; // an error of the program
      return in.c;
    }
    if (repeat)
      slots[in.a] = *rounds;
    if (reverse)
      slots[in.a].a -= 1;
    return pc + 1;
  }
  if (block || rounds->b < 0 || rounds->a < 0)
    return std::nullopt;
  Loop loop{};
  loop.last = in.c - 1;
  loop.end = in.c;
  loop.variable = repeat ? noSlot : in.a;
  loop.first = reverse ? Affine(from.a - 1, from.b) : from;
  loop.change = reverse ? -1 : 1;
  loop.before = rounds->a / 2;
  loop.inBlock = rounds->b;
  loop.after = rounds->a - loop.before;
  loops.push_back(loop);
  beginRounds(loops.back());
  return pc + 1;
}

/// The end of a round.
std::optional<uint32_t> SymbolicRun::next(uint32_t pc) {
  const Instruction &in = code.instructions[pc];
  if (loops.empty() || loops.back().last != pc) {
    Affine &value = slots[in.a];
    if (in.op == Op::RepeatNext)
      return --value.a != 0 ? in.c : pc + 1;
    bool reverse = in.op == Op::ForNextReverse;
    if (!reverse)
      ++value.a;
    std::optional<bool> more = reverse ? domain().less(slots[in.b], value)
                                       : domain().less(value, slots[in.b]);
    if (!more)
      return std::nullopt;
    if (reverse && *more)
      --value.a;
    return *more ? in.c : pc + 1;
  }
  Loop &loop = loops.back();
  if (--loop.left != 0) {
    if (loop.variable != noSlot)
      slots[loop.variable].a += loop.change;
    return in.c;
  }
  if (loop.stage == Loop::Stage::Block)
    endBlock();
  if (loop.stage != Loop::Stage::After) {
    loop.stage = loop.stage == Loop::Stage::Before ? Loop::Stage::Block
                                                   : Loop::Stage::After;
    if (beginRounds(loop) == loop.last)
      return in.c;
  }
  loops.pop_back();
  return pc + 1;
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

/// Computes a value.
bool SymbolicRun::compute(const Instruction &in, uint32_t pc) {
  bool unary = in.op == Op::Move || in.op == Op::Neg || in.op == Op::Not ||
               in.op == Op::Bool || in.op == Op::Abs || in.op == Op::Stage;
  if (stale[in.b] || (!unary && stale[in.c]))
    return fail(pc, "depends on a value that is not decided");
  Affine x = slots[in.b], y = unary ? Affine() : slots[in.c];
  std::optional<Affine> result;
  auto set = [&](std::optional<bool> value, bool negated = false) {
    if (value)
      result = int64_t(*value != negated);
  };
  AffineDomain where = domain();
  std::optional<bool> first; // the smaller one
  switch (in.op) {
  case Op::Move:
    result = x;
    break;
  case Op::Neg:
    result = sub(0, x);
    break;
  case Op::Not:
  case Op::Bool:
    set(truth(in.b), in.op == Op::Not);
    break;
  case Op::Add:
    result = add(x, y);
    break;
  case Op::Sub:
    result = sub(x, y);
    break;
  case Op::Mul:
    result = mul(x, y);
    break;
  case Op::Div:
  case Op::Mod:
    if (auto division = where.divide(x, y))
      result = in.op == Op::Div ? division->quotient : division->rest;
    break;
  case Op::CeilDiv:
    if (std::optional<Affine> negated = sub(0, x))
      if (auto division = where.divide(*negated, y))
        result = sub(0, division->quotient);
    break;
  case Op::EQ:
  case Op::NE:
    set(where.equal(x, y), in.op == Op::NE);
    break;
  case Op::LT:
    set(where.less(x, y));
    break;
  case Op::LE:
    set(where.less(y, x), /*negated=*/true);
    break;
  case Op::Min:
  case Op::Max:
    first = where.less(x, y);
    if (first)
      result = *first == (in.op == Op::Min) ? x : y;
    else if (where.less(y, x) == false)
      result = in.op == Op::Min ? x : y;
    break;
  case Op::Abs:
    if (where.isNonNegative(x))
      result = x;
    else if (where.isNegative(x))
      result = sub(0, x);
    break;
  case Op::Stage:
    if (x.isConstant() && x.a >= 0 && x.a < int64_t(stages.size()))
      result = int64_t(stages[x.a]);
    break;
  default:
    llvm_unreachable("not a computation");
  }
  if (!result)
    return fail(pc, "depends on the number of micro-batches");
  slots[in.a] = *result;
  stale[in.a] = false;
  return true;
}

void SymbolicRun::addStep(const WordStep &step) {
  (timed ? slotted.back().steps : word.back().steps).push_back(step);
}

/// Adds the groups of a phase to the list in the order of their slots. Groups
/// of blocks have slots a + s t, with the same s for all, groups before the
/// blocks slots a, and groups after the blocks a + s n. Each window of s slots
/// from some slot on has one repetition of every group of a block, as long as
/// there are further repetitions; the groups around these windows have a fixed
/// order.
bool SymbolicRun::sortPhase() {
  int64_t stride = 0;
  for (const Slotted &group : slotted)
    if (group.repeats)
      stride = group.slot.c;
  if (stride <= 0)
    stride = 1;
  /// The rounds after which the number of pending Ws has settled.
  constexpr int64_t settle = 12;
  int64_t begin = 0;
  for (auto &[slot, repeats, steps] : slotted) {
    bool fits = repeats ? slot.b == 0 && slot.c == stride
                        : slot.c == 0 && (slot.b == 0 || slot.b == stride);
    if (!fits || std::abs(slot.a) > int64_t(1) << 40)
      return false;
    if (repeats || slot.b == 0)
      begin = std::max(begin, slot.a + 1);
  }
  begin += settle * stride;
  auto ceilDivide = [](int64_t x, int64_t y) {
    return x > 0 ? (x + y - 1) / y : -(-x / y);
  };
  int64_t fewer = 0;
  for (auto &[slot, repeats, steps] : slotted)
    if (repeats || slot.b != 0)
      fewer = std::max(fewer, ceilDivide(begin - slot.a, stride));
  fewer += settle;
  // Slots relative to the first one, the first one of the blocks, and the last.
  using Placed = std::pair<int64_t, const Slotted *>;
  std::vector<Placed> early, middle, late;
  bool anyBlock = false;
  for (const Slotted &group : slotted) {
    auto [a, b, c] = group.slot;
    if (!group.repeats) {
      (b == 0 ? early : late).push_back({a, &group});
      continue;
    }
    anyBlock = true;
    int64_t first = ceilDivide(begin - a, stride); // repetition in the window
    for (int64_t t = 0; t != first; ++t)
      early.push_back({a + stride * t, &group});
    middle.push_back({a + stride * first, &group});
    for (int64_t t = first - fewer; t != 0; ++t)
      late.push_back({a + stride * t, &group});
  }
  bool any = false;
  auto add = [&](std::vector<Placed> &groups, bool repeats) {
    llvm::stable_sort(groups, llvm::less_first());
    word.push_back({repeats, {}, uint64_t(repeats ? fewer : 0)});
    for (auto [slot, group] : groups) {
      if (std::exchange(any, true) && filled)
        word.back().steps.push_back({ast::Letter::W, false, true, *filled});
      llvm::append_range(word.back().steps, group->steps);
    }
  };
  add(early, false);
  if (anyBlock)
    add(middle, true);
  add(late, false);
  word.push_back({});
  timed = false;
  return true;
}

bool SymbolicRun::run(uint32_t entry) {
  uint32_t pc = entry;
  returns.assign(1, 0); // instruction 0 halts
  loops.clear();
  block = timed = false;
  for (uint64_t steps = 0;; ++steps) {
    if (steps == maxInstructions)
      return fail(pc, "has too many rounds");
    const Instruction &in = code.instructions[pc];
    std::optional<uint32_t> to = pc + 1;
    switch (in.op) {
    case Op::Jump:
      to = in.c;
      break;
    case Op::JumpIfZero:
    case Op::JumpIfNotZero: {
      std::optional<bool> value = truth(in.b);
      if (!value)
        return fail(pc, "depends on the number of micro-batches");
      if (*value == (in.op == Op::JumpIfNotZero))
        to = in.c;
      break;
    }
    case Op::ForEnter:
    case Op::ForEnterReverse:
    case Op::RepeatEnter:
      to = enter(pc);
      break;
    case Op::ForNext:
    case Op::ForNextReverse:
    case Op::RepeatNext:
      to = next(pc);
      break;
    case Op::Call:
      returns.push_back(pc + 1);
      to = in.c;
      break;
    case Op::Recall:
      break;
    case Op::Remember:
      slots[in.a] = slots[code.fnResults[in.c]];
      stale[in.a] = stale[code.fnResults[in.c]];
      break;
    case Op::Return:
      to = returns.back();
      returns.pop_back();
      break;
    case Op::Step:
      addStep({in.letter, in.joined, false, code.locs[pc]});
      break;
    case Op::DrainW:
      addStep({ast::Letter::W, false, true, code.locs[pc]});
      break;
    case Op::Idle: // takes no time
      break;
    case Op::Phase:
      timed = false;
      filled.reset();
      slotted.clear();
      break;
    case Op::At:
      if (stale[in.b])
        return fail(pc, "depends on a value that is not decided");
      timed = true;
      slotted.push_back({slots[in.b], block, {}});
      break;
    case Op::Fill:
      filled = code.locs[pc];
      break;
    case Op::EndPhase:
      if (timed && !sortPhase())
        return fail(pc, "has slots that advance by different numbers");
      break;
    case Op::Halt:
      return true;
    default:
      if (!compute(in, pc))
        return false;
    }
    if (!to)
      return fail(pc, "has a number of rounds that is not decided");
    pc = *to;
  }
}

} // namespace pipec
