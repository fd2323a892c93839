//===- StepBuilder.h - Building the list of a rank --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tracks what the language leaves implicit: the number of forwards and
// backwards of each chunk, the pending weight gradients, and in a timed phase
// the slot of each step.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "AST/Expr.h"
#include "IR/Schedule.h"

#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace pipec {

/// The kind of the steps that `letter` denotes.
constexpr StepKind kindOf(ast::Letter letter) {
  // AST and IR do not include each other, so the correspondence is checked
  // here.
  static_assert(unsigned(ast::Letter::F) == unsigned(StepKind::F) &&
                    unsigned(ast::Letter::B) == unsigned(StepKind::B) &&
                    unsigned(ast::Letter::I) == unsigned(StepKind::I) &&
                    unsigned(ast::Letter::W) == unsigned(StepKind::W) &&
                    unsigned(ast::Letter::R) == unsigned(StepKind::R) &&
                    unsigned(ast::Letter::Update) == unsigned(StepKind::Update),
                "letters and compute steps have the same values");
  if (letter <= ast::Letter::Update)
    return StepKind(unsigned(letter));
  return StepKind(unsigned(letter) - unsigned(ast::Letter::Offload) +
                  unsigned(StepKind::Offload));
}

/// One step as written in a program.
struct StepRequest {
  ast::Letter letter;
  bool joined;
  std::optional<int64_t> chunk;
  std::optional<int64_t> microbatch;
  std::optional<int64_t> slice;
  /// The instruction that creates the step, for errors, and its source.
  uint32_t instruction;
  SourceLoc source;
};

/// The error of a step that could not be created.
struct StepError {
  enum class Kind : uint8_t {
    AmbiguousChunk,
    ChunkOutOfRange,
    MicrobatchOutOfRange,
    SliceMissing,
    SliceUnexpected,
    SliceOutOfRange,
    TooMany,
    NothingOwed,
    NoForward,
    NoBackward,
    NoOffload,
    SlotTaken,
  };
  Kind kind;
  uint32_t instruction = 0;
  ast::Letter letter = ast::Letter::F;
  /// The invalid chunk, micro-batch, slice or slot, and the number of valid
  /// ones. Without a slice, the micro-batch and the chunk.
  int64_t value = 0;
  int64_t low = 0;
  int64_t high = 0;
  /// For SlotTaken: the instruction of the first step.
  uint32_t other = 0;
};

/// Builds the list of one rank.
class StepBuilder {
public:
  /// Starts a list. `chunkStages` are the stages of the rank's chunks
  /// (directions) in the order of the stages of the model.
  /// With `namesSlices`, a step that names its micro-batch names its slice,
  /// too; otherwise it names its unit.
  void start(const Schedule &schedule, llvm::ArrayRef<uint32_t> chunkStages,
             bool namesSlices);

  unsigned numChunks() const { return chunks.size(); }
  uint32_t stageOf(unsigned chunk) const { return chunks[chunk].stage; }

  void beginPhase(unsigned phase);
  /// Ends a phase. In a timed phase, sorts the collected steps and adds them to
  /// the list; adds to `steps` the number of Ws created by `fill`.
  std::optional<StepError> endPhase(uint64_t &steps);

  std::optional<StepError> add(const StepRequest &request);
  /// Fast path for the next F or B of a chunk outside timed phases. If it does
  /// not apply, does nothing and returns false; `add` then handles the step or
  /// returns the error.
  bool addNext(ast::Letter letter, bool joined, int64_t chunk, bool noChunk,
               SourceLoc source) {
    bool backward = isBackward(letter);
    if (timed || (backward && letter != ast::Letter::B) ||
        uint64_t(chunk) >= chunks.size() || (noChunk && chunks.size() != 1))
      return false;
    Chunk &of = chunks[chunk];
    if (of.written[backward] == unitsPerChunk)
      return false;
    ++of.written[backward];
    push(Step(backward ? StepKind::B : StepKind::F, of.stage,
              nextUnit(of, backward), phase, source, joined));
    ++of.made[backward];
    return true;
  }
  /// `W*`: adds all pending Ws (of `chunk`), oldest first, and adds their
  /// number to `steps`.
  std::optional<StepError> drain(std::optional<int64_t> chunk,
                                 uint32_t instruction, SourceLoc source,
                                 uint64_t &steps);
  void addBubbles(uint64_t count, SourceLoc source);

  /// Puts the following steps, up to the end of their overlap, in this slot.
  void at(int64_t slot);
  /// Lets pending Ws fill the free slots of this phase.
  void fill(SourceLoc source);

  /// Returns the finished list and leaves the builder empty.
  StepList take();

private:
  /// What has been written for a chunk. Counts are of forwards and of backwards
  /// (B and I), by `isBackward`.
  struct Chunk {
    uint32_t stage;
    /// The first unit of its direction.
    uint32_t firstUnit;
    /// The steps as written, and as added to the list. In a timed phase the two
    /// differ until the phase ends.
    uint32_t written[2] = {};
    uint32_t made[2] = {};
    /// The last forward that names its unit, with the number of forwards up to
    /// it.
    uint32_t namedNumber = 0;
    uint32_t namedUnit = 0;
  };
  static bool isBackward(ast::Letter letter) {
    return letter != ast::Letter::F;
  }
  /// The unit of the next forward or backward of a chunk.
  uint32_t nextUnit(const Chunk &chunk, bool backward) const {
    uint32_t made = chunk.made[backward];
    return chunk.firstUnit + (backward ? backwardOrder(made, slices) : made);
  }

  struct Owed {
    uint32_t chunk;
    uint32_t unit;
    bool taken;
  };
  /// A request with a valid chunk and unit, if they are given.
  struct Checked {
    ast::Letter letter;
    bool joined;
    int32_t chunk; // -1: not given
    int32_t unit;  // -1: not given
    uint32_t instruction;
    SourceLoc source;
  };
  struct TimedGroup {
    int64_t slot;
    uint32_t first;
    uint32_t count;
  };

  std::optional<StepError> check(const StepRequest &request, Checked &checked);
  std::optional<StepError> make(const Checked &request);
  std::optional<StepError> makeW(const Checked &request);
  std::optional<StepError> makeExtra(const Checked &request);
  /// The unit of the last forward of a chunk that has one.
  static uint32_t lastForward(const Chunk &chunk) {
    return chunk.namedNumber == chunk.made[0]
               ? chunk.namedUnit
               : chunk.firstUnit + chunk.made[0] - 1;
  }
  std::optional<size_t> findOwed(unsigned chunk, uint32_t unit);
  void takeOwed(size_t index, bool joined, SourceLoc source);
  /// The oldest pending W of `chunk` (of the rank if none is given).
  std::optional<size_t> oldestOwed(std::optional<int64_t> chunk);
  void push(Step step) {
    if (next == blockEnd)
      addBlock();
    *next++ = step;
  }
  void addBlock();

  std::vector<Chunk> chunks;
  bool namesSlices = false;
  uint32_t unitsPerChunk = 0;
  uint32_t slices = 1;
  unsigned phase = 0;

  /// By chunk, the units of the OFFLOADs without a wait.
  std::vector<std::deque<uint32_t>> leaving;

  /// All Is in order; those that are not taken have a pending W. `oldest` skips
  /// the taken ones, for the rank and for each chunk.
  std::vector<Owed> owed;
  size_t oldest = 0;
  std::vector<std::vector<uint32_t>> owedOfChunk;
  std::vector<size_t> oldestOfChunk;
  /// The index in `owed` of the units of each chunk, counted from 1;
  /// computed when the first `W` names its unit.
  std::vector<std::vector<uint32_t>> owedPlace;

  bool timed = false;
  bool filling = false;
  SourceLoc fillSource;
  std::vector<Checked> timedSteps;
  std::vector<TimedGroup> groups;

  /// The list grows in blocks, so that a program with too many steps is stopped
  /// before memory is copied. The first blocks are small and are reused for the
  /// next list. Later blocks are large, and their memory is returned to the
  /// system immediately.
  static constexpr size_t numSmallBlocks = 64;
  static size_t blockSize(size_t block) {
    return size_t(1) << (block < numSmallBlocks ? 16 : 20);
  }
  std::vector<std::unique_ptr<Step[]>> blocks;
  /// The position of the next step in the last block.
  Step *next = nullptr;
  Step *blockEnd = nullptr;
  size_t fullBlocks = 0;
};

} // namespace pipec
