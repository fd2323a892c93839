//===- SymbolicRun.h - A program for an unknown size ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the code of a program (IRGen/Code.h) with values a + b n + c t. A loop
// whose number of rounds is A + B n runs its first and its last A / 2 rounds
// one by one, and B rounds once for all others: a block, which is repeated n
// times.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "IRGen/Code.h"
#include "Prove/Affine.h"

#include "llvm/ADT/ArrayRef.h"

#include <string>
#include <vector>

namespace pipec {

/// The steps that one statement makes.
struct WordStep {
  ast::Letter letter;
  bool joined = false;
  /// `W*` or `fill`: Ws of a number that depends on how many are pending.
  bool drains = false;
  SourceLoc source;
};

/// A part of the list of a rank.
struct WordPart {
  /// Occurs n - `fewer` times, otherwise once.
  bool repeats = false;
  std::vector<WordStep> steps;
  uint64_t fewer = 0;
};
using Word = std::vector<WordPart>;

/// A run of the code of one schedule.
class SymbolicRun {
public:
  explicit SymbolicRun(const Code &code);

  void setValue(const ast::Variable *variable, Affine value) {
    slots[variable->id] = value;
    stale[variable->id] = false;
  }
  /// The same for a value that is not known, which must not be used.
  void forget(const ast::Variable *variable) { stale[variable->id] = true; }

  // Both return nothing if a value is not decided; see `reason`.

  std::optional<Affine> evaluate(Segment segment);
  /// The list of a rank whose chunks have these stages.
  std::optional<Word> runRank(uint32_t entry,
                              llvm::ArrayRef<uint32_t> chunkStages);

  /// The place of the first undecided value, and the reason.
  llvm::SMRange place() const { return undecidedAt; }
  const std::string &reason() const { return why; }

private:
  /// A loop with an unknown number of rounds.
  struct Loop {
    /// The instruction that ends a round, and that after it.
    uint32_t last;
    uint32_t end;
    /// The slot of the variable, if there is one, and its value in the first
    /// round and change per round.
    uint32_t variable;
    Affine first;
    int64_t change;
    /// The numbers of rounds before the block, in it, and after it.
    int64_t before, inBlock, after;
    enum class Stage { Before, Block, After } stage = Stage::Before;
    int64_t left = 0;
  };

  /// The steps in one slot of a phase.
  struct Slotted {
    Affine slot;
    bool repeats;
    std::vector<WordStep> steps;
  };

  bool run(uint32_t entry);
  void addStep(const WordStep &step);
  bool sortPhase();
  bool compute(const Instruction &in, uint32_t pc);
  /// Begins or continues a loop. Returns the next instruction if it is decided.
  std::optional<uint32_t> enter(uint32_t pc);
  std::optional<uint32_t> next(uint32_t pc);
  uint32_t beginRounds(Loop &loop);
  void endBlock();
  bool fail(uint32_t pc, const char *what);
  std::optional<bool> truth(uint32_t slot) const;
  AffineDomain domain() const { return {block ? 1 : 0, block, 0}; }

  const Code &code;
  std::vector<Affine> slots;
  /// True for slots with an unknown value, such as variables of a block after
  /// its end.
  std::vector<bool> stale;
  std::vector<uint32_t> returns;
  std::vector<Loop> loops;
  bool block = false;
  llvm::ArrayRef<uint32_t> stages;
  Word word;
  /// The groups of a phase with slots, and where they are filled with Ws.
  std::vector<Slotted> slotted;
  bool timed = false;
  std::optional<SourceLoc> filled;
  llvm::SMRange undecidedAt;
  std::string why;
};

} // namespace pipec
