//===- StepBuilder.h - The steps of one rank as they are made ---*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Holds what the language leaves implicit: how many forwards and backwards each
// chunk has had, which weight gradients are owed, and in a timed phase which
// step goes to which slot.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_IRGEN_STEPBUILDER_H
#define PIPEC_IRGEN_STEPBUILDER_H

#include "AST/Expr.h"
#include "IR/Schedule.h"
#include "IRGen/LetterKind.h"

#include <memory>
#include <optional>
#include <vector>

namespace pipec {

/// One step as a program writes it.
struct StepRequest {
  ast::Letter letter;
  bool joined;
  std::optional<int64_t> chunk;
  std::optional<int64_t> microbatch;
  /// The instruction it comes from, for errors, and its source.
  uint32_t instruction;
  SourceLoc source;
};

/// Why a step could not be made.
struct StepError {
  enum class Kind : uint8_t {
    AmbiguousChunk,
    ChunkOutOfRange,
    MicrobatchOutOfRange,
    TooMany,
    NothingOwed,
    SlotTaken,
  };
  Kind kind;
  uint32_t instruction = 0;
  ast::Letter letter = ast::Letter::F;
  /// The chunk, micro-batch or slot that is wrong, and what there is.
  int64_t value = 0;
  int64_t low = 0;
  int64_t high = 0;
  /// SlotTaken: the instruction of the first step.
  uint32_t other = 0;
};

/// Makes the list of one rank.
class StepBuilder {
public:
  /// `chunkStages` are the stages of the rank's chunks (directions) in the
  /// order of the way through the model.
  void start(const Schedule &schedule, std::vector<uint32_t> chunkStages);

  unsigned numChunks() const { return chunkStages.size(); }
  uint32_t stageOf(unsigned chunk) const { return chunkStages[chunk]; }

  void beginPhase(unsigned phase);
  /// In a timed phase: puts the collected steps in order and makes them.
  /// `steps` counts the Ws that `fill` makes.
  std::optional<StepError> endPhase(uint64_t &steps);

  std::optional<StepError> add(const StepRequest &request);
  /// The short way for the next F or B of a chunk outside timed phases. Does
  /// nothing and returns false when there is more to it; then `add` says what.
  bool addNext(ast::Letter letter, bool joined, int64_t chunk, bool noChunk,
               SourceLoc source) {
    bool forward = letter == ast::Letter::F;
    if (timed || (!forward && letter != ast::Letter::B) ||
        uint64_t(chunk) >= chunkStages.size() ||
        (noChunk && chunkStages.size() != 1))
      return false;
    uint32_t &written = (forward ? writtenForwards : writtenBackwards)[chunk];
    if (written == microbatchesOfChunk())
      return false;
    ++written;
    uint32_t &made = (forward ? forwards : backwards)[chunk];
    push(Step(kindOf(letter), chunkStages[chunk], firstMicrobatch(chunk) + made,
              phase, source, joined));
    ++made;
    return true;
  }
  /// `W*`: makes every owed W (of `chunk`), oldest first; adds their number to
  /// `steps`.
  std::optional<StepError> drain(std::optional<int64_t> chunk,
                                 uint32_t instruction, SourceLoc source,
                                 uint64_t &steps);
  void addBubbles(uint64_t count, SourceLoc source);

  /// The steps that follow, up to the end of their overlap, go to this slot.
  void at(int64_t slot);
  /// Free slots of this phase take owed Ws.
  void fill(SourceLoc source);

  /// The finished list; the builder is empty then.
  StepList take();

private:
  struct Owed {
    uint32_t chunk;
    uint32_t microbatch;
    bool taken;
  };
  /// A request whose chunk and micro-batch, where they are written, exist.
  struct Checked {
    ast::Letter letter;
    bool joined;
    int32_t chunk;      // -1: not written
    int32_t microbatch; // -1: not written
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
  uint32_t firstMicrobatch(unsigned chunk) const {
    return bidirectional && chunk == 1 ? directionSplit : 0;
  }
  uint32_t microbatchesOfChunk() const {
    return bidirectional ? directionSplit : microbatches;
  }
  std::optional<size_t> findOwed(unsigned chunk, uint32_t microbatch);
  void takeOwed(size_t index, bool joined, SourceLoc source);
  /// The oldest owed W of `chunk` (of the rank when there is none).
  std::optional<size_t> oldestOwed(std::optional<unsigned> chunk);
  void push(Step step) {
    if (next == blockEnd)
      addBlock();
    *next++ = step;
  }
  void addBlock();

  std::vector<uint32_t> chunkStages;
  bool bidirectional = false;
  uint32_t microbatches = 0;
  unsigned directionSplit = 0;
  unsigned phase = 0;

  /// Forwards and backwards (B and I) by chunk: written so far, and made so
  /// far. In a timed phase the two differ until the phase ends.
  std::vector<uint32_t> writtenForwards, writtenBackwards;
  std::vector<uint32_t> forwards, backwards;

  /// Every I in order; the Ws still owed are those not taken. `oldest` moves
  /// over the taken ones, of the rank and of each chunk.
  std::vector<Owed> owed;
  size_t oldest = 0;
  std::vector<std::vector<uint32_t>> owedOfChunk;
  std::vector<size_t> oldestOfChunk;
  /// Place in `owed` of each chunk's micro-batches, counted from 1; made when a
  /// `W` first names its micro-batch.
  std::vector<std::vector<uint32_t>> owedPlace;

  bool timed = false;
  bool filling = false;
  SourceLoc fillSource;
  std::vector<Checked> timedSteps;
  std::vector<TimedGroup> groups;

  /// The list grows in blocks, so that a program that makes too much is
  /// stopped before memory is copied for it. After some small ones, which stay
  /// with the program for the next list, come blocks that the system takes back
  /// at once.
  static constexpr size_t numSmallBlocks = 64;
  static size_t blockSize(size_t block) {
    return size_t(1) << (block < numSmallBlocks ? 16 : 20);
  }
  std::vector<std::unique_ptr<Step[]>> blocks;
  /// Where the next step goes, in the last block that is in use.
  Step *next = nullptr;
  Step *blockEnd = nullptr;
  size_t fullBlocks = 0;
};

} // namespace pipec

#endif // PIPEC_IRGEN_STEPBUILDER_H
