//===- StepBuilder.cpp - Building the list of a rank ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "IRGen/StepBuilder.h"

#include "llvm/ADT/STLExtras.h"

#include <limits>

using namespace llvm;
using pipec::ast::Letter;

namespace pipec {

void StepBuilder::start(const Schedule &schedule, ArrayRef<uint32_t> stages,
                        bool named) {
  namesSlices = named;
  bool bidirectional = schedule.placement.bidirectional();
  unitsPerChunk = bidirectional ? schedule.directionSplit() : schedule.numUnits;
  slices = schedule.numSlices;
  phase = 0;
  chunks.clear();
  for (uint32_t stage : stages)
    chunks.push_back({stage, bidirectional && chunks.size() == 1
                                 ? schedule.directionSplit()
                                 : 0});
  leaving.assign(chunks.size(), {});
  owed.clear();
  oldest = 0;
  owedOfChunk.resize(chunks.size());
  for (std::vector<uint32_t> &list : owedOfChunk)
    list.clear();
  oldestOfChunk.assign(chunks.size(), 0);
  owedPlace.clear();
  timed = filling = false;
  fullBlocks = 0;
  next = blockEnd = nullptr;
}

void StepBuilder::addBlock() {
  if (next)
    ++fullBlocks;
  if (fullBlocks == blocks.size())
    blocks.push_back(
        std::make_unique_for_overwrite<Step[]>(blockSize(fullBlocks)));
  next = blocks[fullBlocks].get();
  blockEnd = next + blockSize(fullBlocks);
}

StepList StepBuilder::take() {
  StepList list;
  if (!next)
    return list;
  size_t inLast = next - blocks[fullBlocks].get();
  size_t size = inLast;
  for (size_t i = 0; i != fullBlocks; ++i)
    size += blockSize(i);
  list.reserve(size);
  // The first block is reused for the next rank. The other blocks of a long
  // list are freed one by one, so that it is never in memory twice.
  for (size_t i = 0; i <= fullBlocks; ++i) {
    size_t count = i == fullBlocks ? inLast : blockSize(i);
    list.insert(list.end(), blocks[i].get(), blocks[i].get() + count);
    if (i != 0)
      blocks[i].reset();
  }
  blocks.resize(1);
  fullBlocks = 0;
  next = blockEnd = nullptr;
  return list;
}

void StepBuilder::addBubbles(uint64_t count, SourceLoc source) {
  Step bubble(StepKind::Bubble, 0, 0, phase, source);
  for (; count != 0; --count)
    push(bubble);
}

//===----------------------------------------------------------------------===//
// Steps in order
//===----------------------------------------------------------------------===//

std::optional<StepError> StepBuilder::add(const StepRequest &request) {
  Checked checked;
  if (auto error = check(request, checked))
    return error;
  if (!timed)
    return make(checked);
  timedSteps.push_back(checked);
  ++groups.back().count;
  return std::nullopt;
}

/// Checks everything that does not depend on the order of the steps.
std::optional<StepError> StepBuilder::check(const StepRequest &request,
                                            Checked &checked) {
  auto error = [&](StepError::Kind kind, int64_t value, int64_t low,
                   int64_t high) {
    return StepError{kind, request.instruction, request.letter, value, low,
                     high};
  };
  checked = {request.letter,      request.joined, -1, -1,
             request.instruction, request.source};

  if (request.chunk) {
    if (*request.chunk < 0 || *request.chunk >= int64_t(chunks.size()))
      return error(StepError::Kind::ChunkOutOfRange, *request.chunk, 0,
                   chunks.size());
    checked.chunk = *request.chunk;
  } else if (chunks.size() == 1) {
    checked.chunk = 0;
  } else if (request.letter != Letter::W) {
    return error(StepError::Kind::AmbiguousChunk, 0, 0, chunks.size());
  }

  int64_t first = checked.chunk < 0 ? 0 : chunks[checked.chunk].firstUnit;
  int64_t count = unitsPerChunk;
  if (request.microbatch) {
    int64_t of = namesSlices ? slices : 1; // units per number
    if (request.slice && !namesSlices)
      return error(StepError::Kind::SliceUnexpected, *request.slice, 0, 0);
    if (!request.slice && namesSlices)
      return error(StepError::Kind::SliceMissing, *request.microbatch,
                   *request.chunk, 0);
    if (*request.microbatch < first / of ||
        *request.microbatch >= (first + count) / of)
      return error(StepError::Kind::MicrobatchOutOfRange, *request.microbatch,
                   first / of, (first + count) / of);
    int64_t slice = request.slice.value_or(0);
    if (slice < 0 || slice >= of)
      return error(StepError::Kind::SliceOutOfRange, slice, 0, of);
    checked.unit = *request.microbatch * of + slice;
  }
  if (request.letter >= Letter::W)
    return std::nullopt;
  uint32_t &written = chunks[checked.chunk].written[isBackward(request.letter)];
  if (written == count)
    return error(StepError::Kind::TooMany, written + 1, slices > 1, count);
  ++written;
  return std::nullopt;
}

std::optional<StepError> StepBuilder::make(const Checked &request) {
  if (request.letter >= Letter::W)
    return request.letter == Letter::W ? makeW(request) : makeExtra(request);
  uint32_t chunk = request.chunk;
  Chunk &of = chunks[chunk];
  bool backward = isBackward(request.letter);
  uint32_t unit =
      request.unit >= 0 ? uint32_t(request.unit) : nextUnit(of, backward);
  ++of.made[backward];
  if (!backward && request.unit >= 0) {
    of.namedNumber = of.made[0];
    of.namedUnit = unit;
  }
  if (request.letter == Letter::I) {
    owedOfChunk[chunk].push_back(owed.size());
    owed.push_back({chunk, unit, false});
    if (!owedPlace.empty())
      owedPlace[chunk][unit - of.firstUnit] = owed.size();
  }
  push(Step(kindOf(request.letter), of.stage, unit, phase, request.source,
            request.joined));
  return std::nullopt;
}

/// Makes an R, a copy or an UPDATE. Without a number, an R and a RELOAD are of
/// the unit of the next backward of the chunk, an OFFLOAD of that of its last
/// forward, and a WAIT_OFFLOAD of that of its oldest OFFLOAD without a wait.
std::optional<StepError> StepBuilder::makeExtra(const Checked &request) {
  unsigned chunk = request.chunk;
  const Chunk &of = chunks[chunk];
  auto error = [&](StepError::Kind kind) {
    return StepError{kind, request.instruction, request.letter};
  };
  uint32_t unit = request.unit;
  if (request.letter == Letter::Update) {
    unit = 0;
  } else if (request.unit >= 0) {
    if (request.letter == Letter::WaitOffload)
      if (auto it = find(leaving[chunk], unit); it != leaving[chunk].end())
        leaving[chunk].erase(it);
  } else if (request.letter == Letter::Offload) {
    if (of.made[0] == 0)
      return error(StepError::Kind::NoForward);
    unit = lastForward(of);
  } else if (request.letter == Letter::WaitOffload) {
    if (leaving[chunk].empty())
      return error(StepError::Kind::NoOffload);
    unit = leaving[chunk].front();
    leaving[chunk].pop_front();
  } else {
    if (of.made[1] == unitsPerChunk)
      return error(StepError::Kind::NoBackward);
    unit = nextUnit(of, true);
  }
  if (request.letter == Letter::Offload)
    leaving[chunk].push_back(unit);
  push(Step(kindOf(request.letter), of.stage, unit, phase, request.source,
            request.joined));
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Owed weight gradients
//===----------------------------------------------------------------------===//

std::optional<size_t> StepBuilder::oldestOwed(std::optional<int64_t> chunk) {
  if (!chunk) {
    while (oldest != owed.size() && owed[oldest].taken)
      ++oldest;
    return oldest == owed.size() ? std::nullopt : std::optional(oldest);
  }
  const std::vector<uint32_t> &list = owedOfChunk[*chunk];
  size_t &next = oldestOfChunk[*chunk];
  while (next != list.size() && owed[list[next]].taken)
    ++next;
  return next == list.size() ? std::nullopt : std::optional<size_t>(list[next]);
}

void StepBuilder::takeOwed(size_t index, bool joined, SourceLoc source) {
  owed[index].taken = true;
  push(Step(StepKind::W, chunks[owed[index].chunk].stage, owed[index].unit,
            phase, source, joined));
}

std::optional<size_t> StepBuilder::findOwed(unsigned chunk, uint32_t unit) {
  if (owedPlace.empty()) {
    owedPlace.assign(chunks.size(), std::vector<uint32_t>(unitsPerChunk));
    for (size_t i = 0; i != owed.size(); ++i)
      owedPlace[owed[i].chunk][owed[i].unit - chunks[owed[i].chunk].firstUnit] =
          i + 1;
  }
  uint32_t place = owedPlace[chunk][unit - chunks[chunk].firstUnit];
  if (place == 0 || owed[place - 1].taken)
    return std::nullopt;
  return place - 1;
}

std::optional<StepError> StepBuilder::makeW(const Checked &request) {
  std::optional<int64_t> chunk;
  if (request.chunk >= 0)
    chunk = request.chunk;
  std::optional<size_t> found =
      request.unit >= 0 ? findOwed(*chunk, request.unit) : oldestOwed(chunk);
  if (!found)
    return StepError{StepError::Kind::NothingOwed, request.instruction};
  takeOwed(*found, request.joined, request.source);
  return std::nullopt;
}

std::optional<StepError> StepBuilder::drain(std::optional<int64_t> chunk,
                                            uint32_t instruction,
                                            SourceLoc source, uint64_t &steps) {
  int64_t count = chunks.size();
  if (chunk && (*chunk < 0 || *chunk >= count))
    return StepError{StepError::Kind::ChunkOutOfRange,
                     instruction,
                     Letter::W,
                     *chunk,
                     0,
                     count};
  while (std::optional<size_t> next = oldestOwed(chunk)) {
    takeOwed(*next, /*joined=*/false, source);
    ++steps;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Timed phases
//===----------------------------------------------------------------------===//

void StepBuilder::beginPhase(unsigned number) {
  phase = number;
  timed = filling = false;
  timedSteps.clear();
  groups.clear();
}

void StepBuilder::at(int64_t slot) {
  timed = true;
  groups.push_back({slot, uint32_t(timedSteps.size()), 0});
}

void StepBuilder::fill(SourceLoc source) {
  filling = true;
  fillSource = source;
}

std::optional<StepError> StepBuilder::endPhase(uint64_t &steps) {
  auto bySlot = [](const TimedGroup &a, const TimedGroup &b) {
    return a.slot < b.slot;
  };
  if (!llvm::is_sorted(groups, bySlot))
    std::stable_sort(groups.begin(), groups.end(), bySlot);
  for (size_t i = 0; i != groups.size(); ++i) {
    const TimedGroup &group = groups[i];
    if (i != 0 && groups[i - 1].slot == group.slot)
      return StepError{.kind = StepError::Kind::SlotTaken,
                       .instruction = timedSteps[group.first].instruction,
                       .value = group.slot,
                       .other = timedSteps[groups[i - 1].first].instruction};
    if (filling && i != 0) {
      uint64_t room = uint64_t(group.slot) - uint64_t(groups[i - 1].slot) - 1;
      for (; room != 0; --room) {
        std::optional<size_t> next = oldestOwed(std::nullopt);
        if (!next)
          break;
        takeOwed(*next, /*joined=*/false, fillSource);
        ++steps;
      }
    }
    for (uint32_t k = 0; k != group.count; ++k)
      if (auto error = make(timedSteps[group.first + k]))
        return error;
  }
  timed = filling = false;
  return std::nullopt;
}

} // namespace pipec
